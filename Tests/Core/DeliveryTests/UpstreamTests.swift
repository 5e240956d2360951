import Basics
import Delivery
import Testing

@Suite struct UpstreamTests {
    private func send(
        _ bench: Harness, _ requestID: UInt32, lifetime: Int = 3_600, id: String? = nil,
        content: UInt32? = nil, category: String = "app", sender: SenderID = Harness.sender
    ) {
        bench.post(
            .upstreamReceived(
                Harness.upstream(
                    requestID, lifetime: lifetime, id: id, content: content, category: category,
                    sender: sender)))
    }

    private func settle(
        _ bench: Harness, _ link: ConnectionID, _ messages: [StoredUpstream],
        _ outcome: UpstreamOutcome = .acknowledged
    ) {
        for message in messages {
            bench.post(.upstreamFinished(link, Harness.sender, message.sequence, outcome))
        }
        bench.settle()
    }

    @Test(
        "An upstream message is confirmed when it is on disk, then sent to an app server with the registration's name"
    )
    func storedThenRouted() {
        let bench = Harness.withDevice(partitions: 2)
        bench.bindAppServer()
        send(bench, 1)
        bench.settle()
        #expect(bench.take(phone).words == ["stored 1"])
        let got = bench.take(appServer)
        #expect(got.words == ["upstream u1"])
        #expect(got[0].upstream?.from == Harness.target)
        settle(bench, connection(50), got.compactMap(\.upstream))
        #expect(bench.store.upPending == 1, "an answer on another connection does not count")
        settle(bench, appServer, got.compactMap(\.upstream))
        #expect(bench.store.up.delivered == 1 && bench.store.upPending == 0 && bench.store.holds)
    }

    @Test("A message answered with nack counts as delivered and is not sent again")
    func declined() {
        let bench = Harness.withDevice()
        bench.bindAppServer()
        send(bench, 1)
        bench.settle()
        settle(bench, appServer, bench.take(appServer).compactMap(\.upstream), .refused)
        bench.post(.appServerClosed(appServer, Harness.sender))
        bench.bindAppServer(connection(51))
        #expect(bench.take(connection(51)).isEmpty)
        #expect(bench.store.up.delivered == 1)
    }

    @Test("An upstream message is refused for an unknown sender, an unregistered app or a removed sender")
    func refusals() {
        let bench = Harness.withDevice()
        send(bench, 1, sender: SenderID(7))
        send(bench, 2, category: "other")
        send(bench, 3, sender: Harness.otherSender)
        bench.settle()
        #expect(
            bench.take(phone).words == [
                "refused 1 invalid_parameters", "refused 2 invalid_parameters",
                "refused 3 invalid_parameters",
            ])
        bench.post(.senders(SenderDirectory()))
        send(bench, 4)
        bench.settle()
        #expect(bench.take(phone).words == ["refused 4 invalid_parameters"])
    }

    @Test("A message with lifetime 0 is sent to a connected app server or refused")
    func nowOrNever() {
        let bench = Harness.withDevice()
        send(bench, 1, lifetime: 0, id: "")
        bench.settle()
        #expect(bench.take(phone).words == ["refused 1 service_not_available"])
        bench.bindAppServer()
        send(bench, 2, lifetime: 0, id: "")
        bench.settle()
        #expect(bench.take(phone).words == ["stored 2"])
        #expect(bench.take(appServer).words == ["upstream u2"])
        #expect(bench.store.up == MilestoneCounts())
        bench.post(.appServerClosed(appServer, Harness.sender))
        bench.bindAppServer(connection(51))
        #expect(bench.take(connection(51)).isEmpty)
    }

    @Test("A duplicate is confirmed and not sent again")
    func duplicate() {
        let bench = Harness.withDevice()
        bench.bindAppServer()
        send(bench, 1, id: "same")
        send(bench, 2, id: "same", content: 1)
        bench.settle()
        #expect(bench.take(phone).words == ["stored 1", "stored 2"])
        #expect(bench.take(appServer).words == ["upstream u1"])
        #expect(bench.up.accepted == 1)
    }

    @Test("A message with a used ID but other content or another sender is new, and both are acknowledged")
    func sameID() {
        let bench = Harness.withDevice()
        bench.store.registrations[Harness.target]?.otherSenders = [Harness.otherSender]
        bench.bindAppServer()
        send(bench, 1, id: "1", content: 1)
        var other = Harness.upstream(2, id: "1", content: 1)
        other.body = bytes("other")
        bench.post(.upstreamReceived(other))
        var elsewhere = Harness.upstream(3, id: "1", content: 1)
        elsewhere.sender = Harness.otherSender
        bench.post(.upstreamReceived(elsewhere))
        bench.settle()
        #expect(bench.take(phone).words.sorted() == ["stored 1", "stored 2", "stored 3"])
        #expect(bench.take(appServer).words == ["upstream u1", "upstream u1"])
        #expect(bench.up.accepted == 3)
        #expect(bench.store.upstream[Harness.otherSender]?.count == 1)
    }

    @Test("Up to twenty messages of an app can wait to be stored; stored ones make room")
    func cap() {
        let bench = Harness.withDevice(partitions: 2)
        for requestID in 1...21 as ClosedRange<UInt32> { send(bench, requestID) }
        bench.runTurns()
        for partition in bench.partitions {
            bench.read(partition)
            bench.reportAnswer(partition)
        }
        bench.runTurns()
        #expect(bench.take(phone).words == ["refused 21 toomanymessages"])
        bench.settle()
        #expect(bench.take(phone).words.count == 20)
        for requestID in 31...50 as ClosedRange<UInt32> { send(bench, requestID) }
        bench.settle()
        #expect(bench.take(phone).words.allSatisfy { $0.hasPrefix("stored") })
    }

    @Test("A device can send a message again after its batch failed")
    func failedBatch() {
        let bench = Harness.withDevice()
        bench.login()
        bench.settle()
        send(bench, 1)
        bench.runTurns()
        bench.apply(bench.partitions[0], failing: true)
        bench.reportOutcome(bench.partitions[0])
        bench.settle()
        #expect(bench.take(phone).words == ["device login accepted", "refused 1 unavailable"])
        send(bench, 2, id: "p1", content: 1)
        bench.settle()
        #expect(bench.take(phone).words == ["stored 2"])
    }

    @Test("A session gets one window of messages; the rest waits on disk and follows")
    func window() {
        var settings = DeliverySettings()
        settings.pendingWindow = 3
        settings.mailboxPage = 2
        settings.waitingUpstream = 100
        let bench = Harness.withDevice(settings: settings)
        bench.bindAppServer()
        for requestID in 1...10 as ClosedRange<UInt32> { send(bench, requestID) }
        bench.settle()
        var seen: [String] = []
        for _ in 0..<8 {
            let got = bench.take(appServer)
            #expect(got.count <= 3)
            seen += got.words
            settle(bench, appServer, got.compactMap(\.upstream))
        }
        #expect(seen == (1...10).map { "upstream u\($0)" })
        #expect(bench.store.upPending == 0)
    }

    @Test("Messages for an absent app server are read in pages, oldest first")
    func offline() {
        var settings = DeliverySettings()
        settings.mailboxPage = 3
        settings.waitingUpstream = 100
        let bench = Harness.withDevice(settings: settings)
        for requestID in 1...10 as ClosedRange<UInt32> { send(bench, requestID) }
        bench.settle()
        bench.bindAppServer()
        bench.settle()
        #expect(bench.take(appServer).words == (1...10).map { "upstream u\($0)" })
    }

    @Test("Messages of a closed connection are sent to another one with the same IDs, oldest first")
    func redelivery() {
        let bench = Harness.withDevice()
        let second = connection(51)
        bench.bindAppServer()
        for requestID in 1...3 as ClosedRange<UInt32> { send(bench, requestID) }
        bench.settle()
        let first = bench.take(appServer).compactMap(\.upstream)
        settle(bench, appServer, [first[1]])
        bench.bindAppServer(second)
        #expect(bench.take(second).isEmpty)
        bench.post(.appServerClosed(appServer, Harness.sender))
        bench.settle()
        let again = bench.take(second).compactMap(\.upstream)
        #expect(again == [first[0], first[2]])
        settle(bench, appServer, again)
        #expect(bench.store.upPending == 2, "an answer on the old connection does not count")
        settle(bench, second, again)
        #expect(bench.store.upPending == 0 && bench.store.up.delivered == 3)
    }

    @Test("An acknowledged message is not read again while its removal is in progress")
    func noRedeliveryWhileLeaving() {
        let bench = Harness.withDevice()
        let second = connection(51)
        bench.bindAppServer()
        bench.bindAppServer(second)
        send(bench, 1)
        send(bench, 2)
        bench.settle()
        let got = bench.take(appServer).compactMap(\.upstream)
        #expect(got.count == 2)
        bench.post(.upstreamFinished(appServer, Harness.sender, got[1].sequence, .acknowledged))
        bench.post(.appServerClosed(appServer, Harness.sender))
        bench.runTurns()
        bench.read(bench.partitions[0])
        bench.reportAnswer(bench.partitions[0])
        bench.runTurns()
        #expect(bench.take(second).words == ["upstream u1"])
    }

    @Test("A message goes to the session with the fewest outstanding, or to that with its device's messages")
    func choice() {
        let bench = Harness.withDevice()
        let other = bench.addDevice()
        let second = connection(51)
        bench.bindAppServer()
        bench.bindAppServer(second)
        for requestID in 1...3 as ClosedRange<UInt32> { send(bench, requestID) }
        bench.settle()
        bench.post(.upstreamReceived(Harness.upstream(4, device: other)))
        bench.settle()
        let got = bench.take(appServer)
        #expect(got.words == ["upstream u1", "upstream u2", "upstream u3"])
        #expect(bench.take(second).words == ["upstream u4"])
        settle(bench, appServer, got.compactMap(\.upstream))
        send(bench, 5)
        bench.settle()
        #expect(bench.take(appServer).words == ["upstream u5"])
    }

    @Test(
        "A device can use any session once none of its messages is outstanding, also after a lost connection"
    )
    func choiceAfterLoss() {
        let bench = Harness.withDevice()
        let other = bench.addDevice()
        let second = connection(51)
        let third = connection(52)
        bench.bindAppServer()
        send(bench, 1)
        bench.settle()
        bench.post(.appServerClosed(appServer, Harness.sender))
        bench.bindAppServer(second)
        bench.bindAppServer(third)
        settle(bench, second, bench.take(second).compactMap(\.upstream))
        bench.post(.upstreamReceived(Harness.upstream(2, device: other)))
        bench.settle()
        send(bench, 3)
        bench.settle()
        #expect(bench.take(second).words == ["upstream u2"])
        #expect(bench.take(third).words == ["upstream u3"])
    }

    @Test("A message that is removed before it is read is not searched for repeatedly")
    func nothingToRead() {
        let bench = Harness.withDevice()
        send(bench, 1, lifetime: 1)
        bench.submit(2, lifetime: 1)
        bench.settle()
        bench.store.upstream = [:]
        bench.store.messages = [:]
        bench.bindAppServer()
        bench.login()
        bench.settle()
        #expect(bench.isQuiet)
        #expect(bench.take(phone).words == ["stored 1", "device login accepted"])
        send(bench, 3)
        bench.submit(4)
        bench.settle()
        #expect(bench.take(appServer).words == ["ack 2", "ack 4", "upstream u3"])
        #expect(bench.take(phone).words == ["deliver m4", "stored 3"])
    }

    @Test("A draining session gets no new messages, and its answers count")
    func draining() {
        let bench = Harness.withDevice()
        bench.bindAppServer()
        send(bench, 1)
        bench.settle()
        let got = bench.take(appServer).compactMap(\.upstream)
        bench.post(.appServerDraining(appServer, Harness.sender))
        send(bench, 2)
        send(bench, 3, lifetime: 0, id: "")
        bench.settle()
        #expect(bench.take(appServer).isEmpty)
        settle(bench, appServer, got)
        #expect(bench.store.up.delivered == 1)
        bench.bindAppServer(connection(51))
        #expect(bench.take(connection(51)).words == ["upstream u2"])
    }

    @Test("an expired message leaves the window and the disk, and its session forgets it")
    func expiry() {
        var settings = DeliverySettings()
        settings.pendingWindow = 1
        let bench = Harness.withDevice(settings: settings)
        bench.bindAppServer()
        send(bench, 1, lifetime: 10)
        send(bench, 2, lifetime: 10)
        send(bench, 3, lifetime: 100)
        bench.settle()
        let first = bench.take(appServer).compactMap(\.upstream)
        bench.advance(milliseconds: 10_500)
        bench.post(.tick)
        bench.settle()
        let late = bench.take(appServer).words
        #expect(late == ["withdraw \(first[0].sequence.number)", "upstream u3"])
        #expect(bench.store.up.expired == 2 && bench.store.holds)
        settle(bench, appServer, first)
        #expect(bench.store.up.delivered == 0)
    }

    @Test("Canary: with a window of one these tests would get one message")
    func canary() {
        var settings = DeliverySettings()
        settings.pendingWindow = 1
        let bench = Harness.withDevice(settings: settings)
        bench.bindAppServer()
        send(bench, 1)
        send(bench, 2)
        bench.settle()
        #expect(bench.take(appServer).words == ["upstream u1"])
    }
}
