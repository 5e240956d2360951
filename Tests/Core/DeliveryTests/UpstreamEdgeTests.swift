import Basics
import Delivery
import Testing

/// Edge cases of upstream messages in which planted faults went undetected (Scripts/mutate).
@Suite struct UpstreamEdgeTests {
    private func bench(_ set: (inout DeliverySettings) -> Void = { _ in }) -> Harness {
        var settings = DeliverySettings()
        settings.waitingUpstream = 100
        set(&settings)
        let bench = Harness.withDevice(settings: settings)
        bench.login()
        bench.settle()
        _ = bench.take(phone)
        return bench
    }

    private func answers(_ bench: Harness, _ messages: UpstreamSubmission...) -> [String] {
        for message in messages { bench.post(.upstreamReceived(message)) }
        bench.settle()
        return bench.take(phone).words
    }

    private func acknowledge(_ bench: Harness, _ link: ConnectionID = appServer) {
        for message in bench.take(link).compactMap(\.upstream) {
            bench.post(.upstreamFinished(link, Harness.sender, message.sequence, .acknowledged))
        }
    }

    @Test(
        "An upstream message waits until its app's registration is on disk, and is refused if that fails",
        arguments: [false, true])
    func registrationOnItsWay(failing: Bool) {
        let bench = bench()
        bench.post(
            .register(
                RegistrationRequest(
                    requester: Requester(connection: web, requestID: 9), device: device, token: token,
                    category: bytes("new"), subtype: [], senderText: bytes("100"))))
        bench.post(.upstreamReceived(Harness.upstream(1, category: "new")))
        bench.runTurns()
        #expect(bench.take(phone).isEmpty && bench.store.put.isEmpty)
        bench.apply(bench.partitions[0], failing: failing)
        bench.reportOutcome(bench.partitions[0])
        bench.settle()
        #expect(bench.take(phone).words == [failing ? "refused 1 unavailable" : "stored 1"])
        #expect(bench.store.put == (failing ? [] : [bytes("u1")]))
    }

    @Test(
        "A device has a bounded share of its sender's mailbox until messages end; canary: another device is accepted"
    )
    func share() {
        let bench = bench { $0.storedUpstreamPerDevice = 2 }
        let other = bench.addDevice()
        #expect(
            answers(bench, Harness.upstream(1, lifetime: 10), Harness.upstream(2)) == [
                "stored 1", "stored 2",
            ])
        #expect(answers(bench, Harness.upstream(3)) == ["refused 3 toomanymessages"])
        #expect(answers(bench, Harness.upstream(4, device: other)) == ["stored 4"])
        bench.advance(milliseconds: 10_000)
        #expect(answers(bench, Harness.upstream(5)) == ["stored 5"], "the first one has expired")
        #expect(answers(bench, Harness.upstream(6)) == ["refused 6 toomanymessages"])
        bench.bindAppServer()
        acknowledge(bench)
        bench.settle()
        #expect(bench.take(phone).words == ["send error u1"])
        #expect(answers(bench, Harness.upstream(7), Harness.upstream(8)) == ["stored 7", "stored 8"])
    }

    @Test("A sender's mailbox is bounded; duplicates, failed batches and acknowledged messages do not count")
    func quota() {
        let bench = bench { $0.storedUpstreamPerSender = 2 }
        #expect(answers(bench, Harness.upstream(1)) == ["stored 1"])
        let again = Harness.upstream(2, id: "p1", content: 1)
        #expect(answers(bench, again) == ["stored 2"], "confirmed again, stored once")
        bench.post(.upstreamReceived(Harness.upstream(3)))
        bench.runTurns()
        bench.apply(bench.partitions[0], failing: true)
        bench.reportOutcome(bench.partitions[0])
        bench.settle()
        #expect(bench.take(phone).words == ["refused 3 \(UpstreamRefusal.unavailable.rawValue)"])
        let tooMany = UpstreamRefusal.tooMany.rawValue
        #expect(answers(bench, Harness.upstream(4)) == ["stored 4"])
        #expect(answers(bench, Harness.upstream(5)) == ["refused 5 \(tooMany)"])
        bench.bindAppServer()
        acknowledge(bench)
        bench.settle()
        #expect(answers(bench, Harness.upstream(6), Harness.upstream(7)) == ["stored 6", "stored 7"])
        #expect(answers(bench, Harness.upstream(8)) == ["refused 8 \(tooMany)"])
    }

    @Test("The lifetime of an upstream message is at most a day")
    func lifetime() {
        let bench = bench()
        _ = answers(bench, Harness.upstream(1, lifetime: 1_000_000))
        #expect(
            bench.store.upstream[Harness.sender]?.first?.expiresAt
                == bench.now.wall + Int64(Limits.Message.upstreamLifetimeSeconds) * 1_000)
    }

    @Test("No receipt is stored for a removed sender")
    func receiptForNobody() {
        let bench = bench()
        bench.submit(1, receipt: true)
        bench.settle()
        let sequences = bench.take(phone).compactMap(\.delivery?.message.sequence)
        bench.post(.senders(SenderDirectory([])))
        bench.post(.deviceAcknowledged(phone, device, sequences))
        bench.settle()
        #expect(bench.store.receipts.isEmpty && bench.store.downPending == 0)
    }

    @Test("A message of a failed batch that is on disk nevertheless is found and sent")
    func failedButStored() {
        let bench = bench()
        bench.bindAppServer()
        bench.post(.upstreamReceived(Harness.upstream(1)))
        bench.runTurns()
        let partition = bench.partitions[0]
        let batch = partition.batches.removeFirst()
        _ = bench.store.apply(batch)
        partition.outcomes.append(CommitOutcome(batchNumber: batch.batchNumber, hasFailed: true))
        bench.reportOutcome(partition)
        bench.settle()
        bench.post(.tick)
        bench.settle()
        #expect(bench.take(appServer).words == ["upstream u1"])
    }

    @Test("An acknowledged message does not expire while its removal is in progress")
    func expiredWhileLeaving() {
        let bench = bench()
        bench.bindAppServer()
        _ = answers(bench, Harness.upstream(1))
        guard let message = bench.store.upstream[Harness.sender]?.first else {
            Issue.record("nothing stored")
            return
        }
        acknowledge(bench)
        bench.runTurns()
        bench.post(
            .expired(
                .upstream(
                    message.sender, message.sequence, expiresAt: message.expiresAt, author: message.author)))
        bench.settle()
        #expect(bench.up.delivered == 1 && bench.up.expired == 0)
    }

    @Test("The backlog of a full session is bounded")
    func backlog() {
        let bench = bench {
            $0.pendingWindow = 1
            $0.mailboxPage = 4
        }
        bench.bindAppServer()
        for requestID in 1...20 as ClosedRange<UInt32> { _ = answers(bench, Harness.upstream(requestID)) }
        #expect(bench.partitions[0].core.figures.backlog <= 4)
        #expect(bench.partitions[0].core.figures.outstanding == 1)
    }

    @Test("A now-or-never message counts as expired when its session ends before its answer")
    func volatileAtTheEnd() {
        let bench = bench()
        bench.bindAppServer()
        #expect(answers(bench, Harness.upstream(1, lifetime: 0, id: "")) == ["stored 1"])
        bench.post(.appServerClosed(appServer, Harness.sender))
        bench.settle()
        #expect(bench.up.accepted == 1 && bench.up.expired == 1 && bench.up.delivered == 0)
    }

    @Test("A now-or-never message counts as expired when its session reports it as expired")
    func passingTooLate() {
        let bench = bench()
        bench.bindAppServer()
        #expect(answers(bench, Harness.upstream(1, lifetime: 0, id: "")) == ["stored 1"])
        for message in bench.take(appServer).compactMap(\.upstream) {
            bench.post(.upstreamFinished(appServer, Harness.sender, message.sequence, .expired))
        }
        bench.settle()
        #expect(bench.up.accepted == 1 && bench.up.expired == 1 && bench.up.delivered == 0)
    }

    @Test("A device uses another session at once when the session with its messages is draining")
    func drainingSession() {
        let bench = bench()
        let second = connection(51)
        bench.bindAppServer()
        bench.bindAppServer(second)
        _ = answers(bench, Harness.upstream(1))
        #expect(bench.take(appServer).words == ["upstream u1"])
        bench.post(.appServerDraining(appServer, Harness.sender))
        _ = answers(bench, Harness.upstream(2))
        #expect(bench.take(second).words == ["upstream u2"])
    }

    @Test("A message that waits for its session is sent to another one at once when that session drains")
    func drainedWhileWaiting() {
        let bench = bench { $0.pendingWindow = 1 }
        let second = connection(51)
        bench.bindAppServer()
        bench.bindAppServer(second)
        _ = answers(bench, Harness.upstream(1), Harness.upstream(2))
        #expect(bench.take(second).isEmpty)
        bench.post(.appServerDraining(appServer, Harness.sender))
        bench.settle()
        #expect(bench.take(second).words == ["upstream u2"])
    }

    @Test(
        "A message stays behind an older waiting message of its device when a session has room")
    func order() {
        let bench = bench { $0.pendingWindow = 1 }
        let second = connection(51)
        bench.bindAppServer()
        bench.bindAppServer(second)
        _ = answers(bench, Harness.upstream(1), Harness.upstream(2))
        #expect(bench.take(appServer).words == ["upstream u1"])
        #expect(bench.take(second).isEmpty, "the second one waits for the session of the first one")
        bench.post(.appServerDraining(appServer, Harness.sender))
        _ = answers(bench, Harness.upstream(3))
        var seen: [String] = []
        for _ in 0..<3 {
            bench.post(.tick)
            bench.settle()
            seen += bench.commands.filter { $0.0 == second }.map(\.1.word)
            acknowledge(bench, second)
        }
        #expect(seen == ["upstream u2", "upstream u3"])
    }

    @Test("A message is sent when it is stored between the last page read and its answer")
    func storedWhileReading() {
        let bench = bench()
        let partition = bench.partitions[0]
        bench.post(.appServerLogin(appServer, Harness.sender, key: Harness.key))
        bench.post(.appServerBound(appServer, Harness.sender))
        bench.runTurns()
        #expect(partition.loads.map(\.word) == ["upstream"])
        bench.read(partition)
        bench.post(.upstreamReceived(Harness.upstream(1)))
        bench.runTurns()
        bench.apply(partition)
        bench.reportOutcome(partition)
        bench.runTurns()
        #expect(bench.take(phone).words == ["stored 1"])
        #expect(bench.take(appServer).words == ["login accepted"], "the page comes first")
        bench.reportAnswer(partition)
        bench.settle()
        #expect(bench.take(appServer).words == ["upstream u1"])
    }

    @Test("A free session gets stored messages from behind a few that wait for a full session")
    func readsPastWaiting() {
        let bench = bench {
            $0.pendingWindow = 3
            $0.mailboxPage = 4
        }
        let other = bench.addDevice()
        let second = connection(51)
        for requestID in 1...4 as ClosedRange<UInt32> { _ = answers(bench, Harness.upstream(requestID)) }
        #expect(answers(bench, Harness.upstream(5, device: other)) == ["stored 5"])
        bench.bindAppServer()
        #expect(bench.commands.filter { $0.0 == appServer }.count == 3)
        bench.bindAppServer(second)
        #expect(bench.take(second).words == ["upstream u5"])
        acknowledge(bench)
        bench.settle()
        #expect(bench.take(appServer).words == ["upstream u4"], "the device stays with its session")
    }

    @Test("Canary: nothing is refused when there is room for all messages")
    func canary() {
        let bench = bench()
        #expect(answers(bench, Harness.upstream(1), Harness.upstream(2)) == ["stored 1", "stored 2"])
    }
}
