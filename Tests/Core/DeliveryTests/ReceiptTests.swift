import Basics
import Delivery
import Testing

/// The routing of receipts, and their end when app servers do not read or acknowledge them (ccs-xmpp 3.6, 4.3).
@Suite struct ReceiptTests {
    private let second = connection(51)

    /// A device and two app servers of its sender.
    private func bench(window: Int = 100, _ set: (inout DeliverySettings) -> Void = { _ in }) -> Harness {
        var settings = DeliverySettings()
        settings.pendingWindow = window
        settings.waitingUpstream = 100
        set(&settings)
        let bench = Harness.withDevice(partitions: 2, settings: settings)
        bench.bindAppServer()
        bench.bindAppServer(second)
        return bench
    }

    private func submit(_ bench: Harness, _ requestID: UInt32, from requester: ConnectionID) {
        bench.post(.submitted(Harness.submission(requestID, receipt: true, from: requester)))
    }

    /// Acknowledges all that the device was sent.
    private func deviceAcknowledges(_ bench: Harness, on link: ConnectionID = phone) {
        bench.settle()
        let sequences = bench.take(link).compactMap(\.delivery?.message.sequence)
        bench.post(.deviceAcknowledged(link, device, sequences))
        bench.settle()
    }

    /// Receipts that a connection was sent, by the IDs of their messages.
    private func receipts(_ bench: Harness, _ link: ConnectionID) -> [String] {
        bench.take(link).compactMap(\.upstream).filter { $0.kind != .message }
            .map { String(decoding: $0.messageID, as: UTF8.self) }
    }

    private func settle(_ bench: Harness, _ link: ConnectionID, _ messages: [StoredUpstream]) {
        for message in messages {
            bench.post(.upstreamFinished(link, Harness.sender, message.sequence, .acknowledged))
        }
        bench.settle()
    }

    private func stored(_ bench: Harness) -> [StoredUpstream] { bench.store.upstream[Harness.sender] ?? [] }

    @Test(
        "A receipt goes to the connection that submitted the message, even when that has more outstanding receipts"
    )
    func requester() {
        let bench = bench()
        bench.login()
        for requestID in 1...6 as ClosedRange<UInt32> {
            submit(bench, requestID, from: requestID % 3 == 0 ? appServer : second)
        }
        deviceAcknowledges(bench)
        #expect(receipts(bench, appServer) == ["m3", "m6"])
        #expect(receipts(bench, second) == ["m1", "m2", "m4", "m5"])
        #expect(stored(bench).count == 6 && stored(bench).allSatisfy { $0.requester == nil })
    }

    @Test("A receipt of a group member goes to the connection that submitted the group message")
    func group() throws {
        let bench = bench()
        bench.login()
        bench.post(
            .groupRequested(
                GroupRequest(
                    requester: Requester(connection: web, requestID: 1), sender: Harness.sender,
                    operation: .create(label: bytes("group"), members: tokens([Harness.target])))))
        bench.settle()
        let group = try #require(bench.store.groups.first).name
        let submission = Harness.submission(1, receipt: true, from: second)
        bench.post(.groupSubmitted(GroupSubmission(group: group, submission: submission)))
        deviceAcknowledges(bench)
        #expect(receipts(bench, second) == ["m1"] && receipts(bench, appServer).isEmpty)
    }

    @Test(
        "A receipt goes to another ready connection when the submitting one is closed, draining or congested",
        arguments: 0..<3)
    func otherwise(how: Int) {
        let bench = bench()
        bench.login()
        submit(bench, 1, from: second)
        bench.settle()
        switch how {
        case 0: bench.post(.appServerClosed(second, Harness.sender))
        case 1: bench.post(.appServerDraining(second, Harness.sender))
        default: bench.post(.appServerCongested(second, Harness.sender))
        }
        deviceAcknowledges(bench)
        #expect(receipts(bench, appServer) == ["m1"] && receipts(bench, second).isEmpty)
    }

    @Test(
        "A receipt goes to the connection with the fewest outstanding when the mailbox was read from the store"
    )
    func reloaded() {
        let bench = bench { $0.idleDevicesInMemory = 0 }
        submit(bench, 1, from: second)
        bench.settle()
        bench.login()
        deviceAcknowledges(bench)
        #expect(receipts(bench, appServer) == ["m1"])
        // Canary: the submitting connection is known while the device stays in memory.
        bench.post(.deviceWritable(phone, device))
        submit(bench, 2, from: second)
        deviceAcknowledges(bench)
        #expect(receipts(bench, second) == ["m2"])
    }

    @Test("A receipt waits while the only app server is congested and is sent when it reads again")
    func congested() {
        let bench = bench()
        bench.login()
        for link in [appServer, second] { bench.post(.appServerCongested(link, Harness.sender)) }
        submit(bench, 1, from: second)
        deviceAcknowledges(bench)
        bench.post(.upstreamReceived(Harness.upstream(2)))
        bench.post(.upstreamReceived(Harness.upstream(3, lifetime: 0, id: "")))
        bench.post(.tick)
        bench.settle()
        #expect(bench.take(phone).words.sorted() == ["refused 3 service_not_available", "stored 2"])
        #expect(bench.commands.allSatisfy { $0.1.upstream == nil })
        bench.post(.appServerWritable(appServer, Harness.sender))
        bench.post(.appServerWritable(second, Harness.sender))
        bench.settle()
        let all = [appServer, second].flatMap { bench.take($0).compactMap(\.upstream) }
        #expect(all.count == 2 && bench.store.upPending == 1)
    }

    @Test("A waiting receipt goes to the connection that submitted the message first")
    func waitedForOrigin() {
        let bench = bench()
        bench.login()
        bench.post(.appServerCongested(appServer, Harness.sender))
        bench.post(.appServerCongested(second, Harness.sender))
        submit(bench, 1, from: second)
        deviceAcknowledges(bench)
        // The sender's partition handles both events in one turn.
        let partition = bench.partitions[PartitionKey.sender(Harness.sender).partition(of: 2)]
        bench.post(.appServerWritable(second, Harness.sender))
        bench.post(.appServerWritable(appServer, Harness.sender))
        bench.turn(partition)
        #expect(receipts(bench, second) == ["m1"])
    }

    @Test(
        "Messages of a device stay with a congested session while that has outstanding messages of the device"
    )
    func order() {
        let bench = bench()
        bench.post(.upstreamReceived(Harness.upstream(1)))
        bench.settle()
        let first = bench.take(appServer).compactMap(\.upstream)
        bench.post(.appServerCongested(appServer, Harness.sender))
        bench.post(.upstreamReceived(Harness.upstream(2)))
        bench.settle()
        #expect(first.count == 1 && bench.take(appServer).isEmpty && bench.take(second).isEmpty)
        settle(bench, appServer, first)
        #expect(bench.take(second).words == ["upstream u2"], "then any session is eligible")
    }

    @Test("A session that never acknowledges receipts gets at most two windows of them")
    func neverAcks() {
        let bench = bench(window: 3)
        bench.login()
        for requestID in 1...20 as ClosedRange<UInt32> {
            submit(bench, requestID, from: requestID % 2 == 0 ? appServer : second)
            deviceAcknowledges(bench)
            settle(bench, second, bench.take(second).compactMap(\.upstream))
        }
        #expect(receipts(bench, appServer).count == 6)
        #expect(stored(bench).count == 6, "the rest went to the other session")
        // The unacknowledged receipts are sent again when the connection closes.
        bench.post(.appServerClosed(appServer, Harness.sender))
        bench.settle()
        #expect(receipts(bench, second).count == 6)
    }

    @Test("An unacknowledged receipt is removed after its time only if its session was not congested")
    func age() {
        let bench = bench()
        bench.login()
        submit(bench, 1, from: second)
        deviceAcknowledges(bench)
        bench.post(.appServerCongested(second, Harness.sender))
        bench.advance(milliseconds: Int64(Limits.Message.receiptAckSeconds) * 1_000)
        bench.post(.tick)
        bench.settle()
        #expect(stored(bench).count == 1)
        bench.post(.appServerWritable(second, Harness.sender))
        bench.post(.tick)
        bench.settle()
        #expect(stored(bench).isEmpty)
    }

    @Test("A message that a session reports as expired is counted as expired and frees its window slot")
    func expiredInSession() {
        let bench = bench(window: 1)
        bench.post(.appServerClosed(second, Harness.sender))
        bench.post(.upstreamReceived(Harness.upstream(1, lifetime: 5)))
        bench.post(.upstreamReceived(Harness.upstream(2)))
        bench.settle()
        let first = bench.take(appServer).compactMap(\.upstream)
        #expect(first.count == 1)
        bench.advance(milliseconds: 5_000)
        for message in first {
            bench.post(.upstreamFinished(appServer, Harness.sender, message.sequence, .expired))
        }
        bench.settle()
        #expect(bench.take(appServer).words == ["upstream u2"])
        #expect(bench.store.up.expired == 1 && bench.store.up.delivered == 0 && bench.store.holds)
    }

    @Test("Canary: a receipt is sent at once when all sessions read")
    func canary() {
        let bench = bench()
        bench.login()
        submit(bench, 1, from: second)
        deviceAcknowledges(bench)
        #expect(receipts(bench, second) == ["m1"])
    }
}
