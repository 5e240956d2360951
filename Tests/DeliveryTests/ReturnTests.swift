import Basics
import Testing

@testable import Delivery

/// Upstream messages that no app server acknowledges before they expire (ccs-xmpp 4.3).
@Suite struct ReturnTests {
    private func send(_ bench: Harness, _ requestIDs: ClosedRange<UInt32>, lifetime: Int = 10) {
        for requestID in requestIDs {
            bench.post(.upstreamReceived(Harness.upstream(requestID, lifetime: lifetime)))
            bench.settle()
        }
    }

    /// Advances the clock by eleven seconds and lets the expired messages be found.
    private func expire(_ bench: Harness) {
        for _ in 0..<2 {
            bench.advance(milliseconds: 5_500)
            bench.post(.tick)
            bench.settle()
        }
    }

    private func reports(_ commands: [SessionCommand]) -> [StoredMessage] {
        commands.compactMap(\.delivery?.message).filter { $0.kind == .sendError }
    }

    @Test("A connected device gets one report of an expired message at once", arguments: [1, 2])
    func connected(partitions: Int) {
        let bench = Harness.withDevice(partitions: partitions)
        bench.login()
        send(bench, 1...1)
        _ = bench.take(phone)
        expire(bench)
        let received = bench.take(phone)
        #expect(received.words == ["send error u1"])
        #expect(bench.store.up.expired == 1 && bench.up.expired == 1 && bench.store.holds)
        bench.post(.deviceAcknowledged(phone, device, reports(received).map(\.sequence)))
        expire(bench)
        bench.login(connection(30))
        bench.settle()
        #expect(bench.take(connection(30)).words == ["device login accepted"])
        #expect(bench.take(phone).words.allSatisfy { !$0.hasPrefix("send error") })
    }

    @Test("An absent device gets the report at its next logins until it acknowledges it, also after a crash")
    func away() {
        let bench = Harness.withDevice()
        send(bench, 1...2)
        _ = bench.take(phone)
        expire(bench)
        bench.crash(seed: 3)
        bench.settle()
        bench.login()
        bench.settle()
        let first = reports(bench.take(phone))
        #expect(first.map(\.messageID) == [bytes("u1"), bytes("u2")])
        bench.login(connection(31))
        bench.settle()
        let again = reports(bench.take(connection(31)))
        #expect(again.map(\.persistentID) == first.map(\.persistentID))
        bench.post(.deviceAcknowledged(connection(31), device, again.map(\.sequence)))
        bench.settle()
        bench.login(connection(32))
        bench.settle()
        #expect(bench.take(connection(32)).words == ["device login accepted"])
    }

    @Test("A sent message is returned when no app server answers it, and not when one does")
    func unanswered() {
        let bench = Harness.withDevice()
        bench.login()
        bench.bindAppServer()
        send(bench, 1...2)
        let sent = bench.take(appServer).compactMap(\.upstream)
        _ = bench.take(phone)
        bench.post(.upstreamFinished(appServer, Harness.sender, sent[0].sequence, .acknowledged))
        bench.settle()
        expire(bench)
        #expect(bench.take(phone).words == ["send error u2"])
        #expect(bench.store.up.delivered == 1 && bench.store.up.expired == 1)
    }

    @Test("A message that a session reports as expired is returned")
    func lateInSession() {
        let bench = Harness.withDevice()
        bench.login()
        bench.bindAppServer()
        send(bench, 1...1)
        let sent = bench.take(appServer).compactMap(\.upstream)
        _ = bench.take(phone)
        bench.advance(milliseconds: 10_001)
        bench.post(.upstreamFinished(appServer, Harness.sender, sent[0].sequence, .expired))
        bench.settle()
        expire(bench)
        #expect(bench.take(phone).words == ["send error u1"])
    }

    /// The event of a search that found the oldest message.
    private func found(_ bench: Harness) throws -> Event {
        let message = try #require(bench.store.upstream[Harness.sender]?.first)
        return .expired(
            .upstream(message.sender, message.sequence, expiresAt: message.expiresAt, author: message.author))
    }

    @Test("A device gets one report when two searches find its message before it is removed")
    func foundTwice() throws {
        let bench = Harness.withDevice()
        bench.login()
        send(bench, 1...1)
        _ = bench.take(phone)
        bench.advance(milliseconds: 11_000)
        let found = try found(bench)
        bench.post(found)
        bench.post(found)
        bench.settle()
        #expect(bench.take(phone).words == ["send error u1"])
        #expect(bench.up.expired == 1 && bench.store.up.expired == 1 && bench.store.holds)
    }

    @Test("A device gets one report when a page and a search both show its message as expired")
    func readAndFound() throws {
        let bench = Harness.withDevice()
        let partition = bench.partitions[0]
        bench.login()
        send(bench, 1...1)
        _ = bench.take(phone)
        bench.advance(milliseconds: 11_000)
        bench.post(.appServerLogin(appServer, Harness.sender, key: Harness.key))
        bench.post(.appServerBound(appServer, Harness.sender))
        bench.runTurns()
        #expect(partition.loads.map(\.word) == ["upstream"])
        bench.read(partition)
        bench.reportAnswer(partition)
        bench.post(try found(bench))
        bench.settle()
        #expect(bench.take(appServer).words == ["login accepted"])
        #expect(bench.take(phone).words == ["send error u1"])
        #expect(bench.up.expired == 1 && bench.store.up.expired == 1 && bench.store.holds)
    }

    @Test("A message of an unregistered app expires without a report")
    func gone() {
        let bench = Harness.withDevice()
        send(bench, 1...1)
        bench.store.registrations = [:]
        bench.crash(seed: 5)
        bench.store.registrations = [:]
        expire(bench)
        #expect(bench.store.upPending == 0)
        #expect(bench.store.messages.values.joined().isEmpty)
    }

    @Test(
        "Reports per device are bounded: the oldest ones are discarded, and no message is discarded for them"
    )
    func bound() {
        var settings = DeliverySettings()
        settings.storedMessages = 3
        let bench = Harness.withDevice(settings: settings)
        for requestID in 1...3 as ClosedRange<UInt32> { bench.submit(requestID) }
        send(bench, 1...UInt32(Limits.Message.sendErrorsPerDevice + 3))
        _ = bench.take(phone)
        expire(bench)
        bench.login()
        bench.settle()
        for _ in 0..<20 {
            bench.post(.deviceWritable(phone, device))
            bench.settle()
        }
        let received = bench.take(phone)
        #expect(reports(received).count == Limits.Message.sendErrorsPerDevice)
        #expect(received.words.count { $0.hasPrefix("deliver") } == 3)
        #expect(received.words.allSatisfy { !$0.hasPrefix("marker") })
    }

    @Test("A message is returned later when its device cannot be read")
    func unreadable() {
        let bench = Harness.withDevice()
        send(bench, 1...1)
        bench.crash(seed: 7)
        bench.advance(milliseconds: 11_000)
        bench.post(.tick)
        bench.runTurns()
        // The test answers instead of the store.
        bench.partitions[0].loads = []
        bench.post(.loaded(.expired([])))
        for entry in [
            ExpiredEntry.upstream(
                Harness.sender, bench.store.upstream[Harness.sender]?.first?.sequence ?? SequenceNumber(0),
                expiresAt: 0, author: UpstreamAuthor(from: Harness.target, messageID: bytes("u1")))
        ] {
            bench.post(.expired(entry))
        }
        bench.runTurns()
        bench.partitions[0].loads = []
        bench.post(.loaded(.failed(.device(device))))
        bench.runTurns()
        #expect(bench.store.upPending == 1)
        expire(bench)
        #expect(bench.store.upPending == 0)
        bench.login()
        bench.settle()
        #expect(reports(bench.take(phone)).map(\.messageID) == [bytes("u1")])
    }
}
