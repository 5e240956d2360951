import Basics
import Delivery
import Testing

/// Messages and streams that wait while their connection or device is lost or read again.
@Suite struct InterruptionTests {
    @Test("A throttled message that falls due while its device is read again is delivered afterwards")
    func throttledWhileStale() {
        var settings = DeliverySettings()
        settings.rates.collapsible = Rate(1, perSeconds: Limits.Message.collapsibleRefillSeconds)
        let bench = Harness.withDevice(settings: settings)
        bench.login()
        bench.settle()
        bench.submit(1, key: "a")
        bench.submit(2, key: "b")
        bench.settle()
        bench.post(.deviceWritable(phone, device))
        bench.settle()
        #expect(bench.take(phone).words.filter { $0.hasPrefix("deliver") } == ["deliver m1"])
        // A batch fails: the device's state is read again.
        bench.submit(3)
        bench.runTurns()
        bench.apply(bench.partitions[0], failing: true)
        bench.reportOutcome(bench.partitions[0])
        bench.runTurns()
        #expect(bench.partitions[0].loads.count == 1, "canary: the state is not read yet")
        bench.advance(milliseconds: Int64(Limits.Message.collapsibleRefillSeconds) * 1_000)
        bench.post(.tick)
        bench.settle()
        #expect(bench.take(phone).words.filter { $0.hasPrefix("deliver") }.isEmpty)
        bench.advance(milliseconds: Int64(Limits.Store.sweepMilliseconds))
        bench.post(.tick)
        bench.settle()
        #expect(bench.take(phone).words.filter { $0.hasPrefix("deliver") } == ["deliver m2"])
    }

    @Test(
        "A detached stream is resumed on an open connection, not on one that waited for it and has closed")
    func waiterGone() {
        let bench = Harness.withDevice()
        let remains = ResumableStream(
            id: "s", jid: "100@x/y", handled: 3, sent: 2, confirmed: 1, unconfirmed: [])
        func want(_ number: UInt32) -> [String] {
            bench.post(.appServerLogin(connection(number), Harness.sender, key: Harness.key))
            bench.post(.appServerStreamRequested(connection(number), Harness.sender, id: "s"))
            bench.settle()
            return bench.take(connection(number)).words.filter { $0 != "login accepted" }
        }
        bench.post(.appServerLogin(connection(1), Harness.sender, key: Harness.key))
        bench.post(.appServerBound(connection(1), Harness.sender))
        bench.post(.appServerStreamManaged(connection(1), Harness.sender, id: "s"))
        bench.settle()
        #expect(want(2).isEmpty, "it waits for the first connection to end")
        bench.post(.appServerClosed(connection(2), Harness.sender))
        bench.post(.appServerStreamDetached(connection(1), Harness.sender, remains))
        bench.post(.appServerClosed(connection(1), Harness.sender))
        bench.settle()
        #expect(bench.take(connection(2)).isEmpty)
        #expect(want(3) == ["stream resumed s"])
    }

    @Test(
        "A page of iOS apps that could not be read is requested again after a pause, not before")
    func refusedPage() throws {
        let bench = Harness.withDevice()
        bench.store.registrations[Harness.target]?.apnsToken = bytes("p_00")
        let topic = try #require(TopicName(bytes("news")))
        bench.store.subscriptions.append(
            Subscription(name: Harness.target, sender: Harness.sender, topic: topic, since: 0))
        var submission = Harness.submission(1)
        submission.content.isNotification = true
        bench.post(.topicSubmitted(TopicSubmission(target: TopicTarget(topic), submission: submission)))
        func pages() -> Int { bench.asked.count { $0.word == "topic devices" } }
        bench.runTurns()
        for _ in 0..<9 where pages() == 0 {
            bench.apply(bench.partitions[0])
            bench.reportOutcome(bench.partitions[0])
            bench.read(bench.partitions[0])
            bench.reportAnswer(bench.partitions[0])
            bench.runTurns()
        }
        #expect(pages() == 1)
        bench.read(bench.partitions[0], failing: true)
        bench.reportAnswer(bench.partitions[0])
        bench.settle()
        for _ in 0..<3 {
            bench.advance(milliseconds: Int64(Limits.Topic.retryMilliseconds) / 4)
            bench.post(.tick)
            bench.settle()
        }
        #expect(pages() == 1, "an overloaded store is not asked again at once")
        bench.advance(milliseconds: Int64(Limits.Topic.retryMilliseconds) / 4)
        bench.post(.tick)
        bench.settle()
        #expect(pages() == 2 && bench.store.messages[device]?.count == 1)
        try expectNothingUnderWay(in: bench)
    }

    @Test(
        "An upstream message releases its device when its session or the search reports it expired",
        arguments: [false, true])
    func stickyEnds(isSwept: Bool) throws {
        let bench = Harness.withDevice()
        bench.bindAppServer()
        bench.post(.upstreamReceived(Harness.upstream(1, lifetime: 60)))
        bench.settle()
        let message = try #require(bench.take(appServer).compactMap(\.upstream).first)
        #expect(bench.partitions[0].core.figures.stickyDevices == 1, "canary")
        bench.advance(milliseconds: 61_000)
        if isSwept {
            bench.post(
                .expired(
                    .upstream(
                        Harness.sender, message.sequence, expiresAt: message.expiresAt, author: message.author
                    )))
        } else {
            bench.post(.upstreamFinished(appServer, Harness.sender, message.sequence, .expired))
        }
        bench.settle()
        #expect(bench.store.up.expired == 1)
        try expectNothingUnderWay(in: bench)
    }
}

/// Expects that no partition has state left for a message: no batch, event, window entry, removal or device order.
func expectNothingUnderWay(in bench: Harness, sourceLocation: SourceLocation = #_sourceLocation) throws {
    #expect(bench.isQuiet, sourceLocation: sourceLocation)
    for partition in bench.partitions {
        let figures = partition.core.figures
        #expect(figures.batches == 0 && figures.waitingEvents == 0, sourceLocation: sourceLocation)
        #expect(figures.outstanding == 0 && figures.backlog == 0, sourceLocation: sourceLocation)
        #expect(figures.leaving == 0 && figures.stickyDevices == 0, sourceLocation: sourceLocation)
    }
    #expect(bench.topicJobsOpen == 0, sourceLocation: sourceLocation)
    #expect(bench.store.collisions == 0, sourceLocation: sourceLocation)
}
