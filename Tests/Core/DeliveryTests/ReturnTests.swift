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
        commands.compactMap(\.delivery?.message).filter(\.kind.isReport)
    }

    /// Returns a bench whose device is connected, and has sent a message that has expired since.
    private func expired() -> Harness {
        let bench = Harness.withDevice()
        bench.login()
        send(bench, 1...1)
        _ = bench.take(phone)
        bench.advance(milliseconds: 11_000)
        return bench
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
        let bench = expired()
        let found = try found(bench)
        bench.post(found)
        bench.post(found)
        bench.settle()
        #expect(bench.take(phone).words == ["send error u1"])
        #expect(bench.up.expired == 1 && bench.store.up.expired == 1 && bench.store.holds)
    }

    @Test("A device gets one report when a page and a search both show its message as expired")
    func readAndFound() throws {
        let bench = expired()
        let partition = bench.partitions[0]
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
        "Each partition writes its own rows: the report at the device, and after its commit the end at the sender"
    )
    func ownRows() throws {
        let (deviceKey, senderKey) = (PartitionKey.device(device), PartitionKey.sender(Harness.sender))
        let count = try #require(
            (2...16).first { deviceKey.partition(of: $0) != senderKey.partition(of: $0) })
        let bench = Harness.withDevice(partitions: count)
        let home = bench.partitions[deviceKey.partition(of: count)]
        let owner = bench.partitions[senderKey.partition(of: count)]
        send(bench, 1...1)
        let message = try #require(bench.store.upstream[Harness.sender]?.first)
        bench.advance(milliseconds: 11_000)
        bench.post(try found(bench))
        bench.runTurns()
        for load in [home, home] {
            bench.read(load)
            bench.reportAnswer(load)
            bench.runTurns()
        }
        let first = try #require(home.batches.first)
        guard case .putMessage(let report)? = first.mutations.first else {
            Issue.record("\(first.mutations)")
            return
        }
        #expect(first.mutations.count == 1 && first.isDurable && owner.batches.isEmpty)
        #expect(report.kind == .sendError(of: message.sequence) && report.sender == Harness.sender)
        bench.apply(home)
        #expect(bench.store.upPending == 1 && bench.up.expired == 0)
        bench.reportOutcome(home)
        bench.runTurns()
        #expect(
            owner.batches.first?.mutations == [
                .removeUpstream(
                    Harness.sender, message.sequence, expiresAt: message.expiresAt, reason: .expired)
            ])
        bench.settle()
        #expect(bench.store.up.expired == 1 && bench.up.expired == 1 && bench.store.holds)
        // An answer that nothing waits for counts no second time.
        bench.post(.upstreamReturnFinished(Harness.sender, message.sequence, hasFailed: false))
        bench.settle()
        #expect(bench.up.expired == 1)
    }

    @Test(
        "A report that is stored is recognized after a crash before the end of its message",
        arguments: [1, 4])
    func recognized(partitions: Int) throws {
        let bench = Harness.withDevice(partitions: partitions)
        send(bench, 1...1)
        expire(bench)
        let report = try #require(bench.store.messages[device]?.first)
        #expect(bench.store.upPending == 0)
        // The end of the message needs no sync, so that the crash undoes it.
        bench.crash(seed: 9)
        #expect(bench.store.upPending == 1 && bench.store.messages[device] == [report])
        bench.login()
        bench.settle()
        let received = reports(bench.take(phone))
        expire(bench)
        #expect(received == [report] && reports(bench.take(phone)).isEmpty)
        #expect(bench.store.messages[device] == [report])
        #expect(bench.store.upPending == 0 && bench.store.up.expired == 1 && bench.store.holds)
    }

    @Test("A report that its device has acknowledged before such a crash is repeated under the same ID")
    func repeated() throws {
        let bench = Harness.withDevice()
        bench.login()
        send(bench, 1...1)
        expire(bench)
        let first = reports(bench.take(phone))
        bench.post(.deviceAcknowledged(phone, device, first.map(\.sequence)))
        bench.settle()
        #expect(bench.store.messages[device] == [])
        bench.crash(seed: 11)
        bench.store.messages[device] = []
        #expect(bench.store.upPending == 1)
        bench.login()
        expire(bench)
        let second = reports(bench.take(phone))
        #expect(second.map(\.messageID) == first.map(\.messageID) && second.map(\.kind) == first.map(\.kind))
        #expect(bench.store.upPending == 0 && bench.store.up.expired == 1 && bench.store.holds)
    }

    @Test("A report whose batch failed and is on disk all the same is recognized")
    func failed() throws {
        let bench = expired()
        let partition = bench.partitions[0]
        bench.post(try found(bench))
        bench.runTurns()
        let batch = try #require(partition.batches.first)
        _ = bench.store.apply(batch)
        bench.apply(partition, failing: true)
        bench.settle()
        #expect(bench.store.upPending == 1 && bench.up.expired == 0)
        expire(bench)
        #expect(bench.take(phone).words.filter { $0.hasPrefix("send error") } == ["send error u1"])
        #expect(bench.store.messages[device]?.count == 1)
        #expect(bench.store.upPending == 0 && bench.up.expired == 1 && bench.store.holds)
    }

    @Test("A message of an app that unregisters ends only when that is on disk", arguments: [false, true])
    func unregisters(fails: Bool) throws {
        let bench = expired()
        let partition = bench.partitions[0]
        bench.post(.forgetDevice(device, Requester(connection: connection(60), requestID: 1)))
        bench.runTurns()
        bench.post(try found(bench))
        bench.runTurns()
        #expect(partition.batches.count == 1)
        bench.apply(partition, failing: fails)
        bench.reportOutcome(partition)
        bench.runTurns()
        #expect(partition.batches.isEmpty == fails)
        bench.settle()
        #expect(bench.store.upPending == (fails ? 1 : 0))
        expire(bench)
        #expect(bench.store.upPending == 0 && bench.up.expired == 1 && bench.store.holds)
        #expect((bench.store.messages[device] ?? []).contains { $0.kind.isReport } == fails)
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
