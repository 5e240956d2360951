import Basics
import Testing

@testable import Delivery

/// The cancellation of messages: each ends once, as cancelled or as it would have ended without it.
@Suite struct CancelTests {
    private static func bench() -> Harness {
        var settings = DeliverySettings()
        settings.keepsHistory = true
        return Harness.withDevice(settings: settings)
    }

    private static func names(_ bench: Harness) -> [PersistentID] {
        (bench.store.messages[device] ?? []).map(\.persistentID)
    }

    /// Cancels a message by its persistent ID, as an operator does.
    private static func cancel(_ bench: Harness, _ message: PersistentID) { bench.cancel(message.text) }

    /// The last steps of the messages in the history.
    private static func steps(_ bench: Harness) -> [TraceRecord.Step] {
        defer { bench.history.removeAll() }
        return bench.history.steps.map(\.step)
    }

    @Test("a waiting message is cancelled once that is on disk: it is not delivered, and has no receipt")
    func waiting() {
        let bench = Self.bench()
        for number in 1...3 as ClosedRange<UInt32> { bench.submit(number, receipt: true) }
        bench.settle()
        let names = Self.names(bench)
        _ = Self.steps(bench)
        Self.cancel(bench, names[0])
        Self.cancel(bench, names[2])
        bench.runTurns()
        #expect(bench.take(web).words.isEmpty, "not on disk")
        bench.settle()
        #expect(bench.take(web).words == ["cancelled 9 1 0", "cancelled 9 1 0"])
        #expect(Self.steps(bench) == [.cancelled, .cancelled])
        #expect(bench.store.down.removed == 2 && bench.store.holds)
        for name in names { Self.cancel(bench, name) }
        bench.settle()
        #expect(bench.take(web).words.sorted() == ["cancelled 9 0 0", "cancelled 9 0 0", "cancelled 9 1 0"])
        bench.login()
        bench.settle()
        #expect(bench.take(phone).compactMap(\.delivery).isEmpty)
        #expect(bench.store.upstream.values.allSatisfy { $0.isEmpty })
        bench.crash(seed: 3)
        for name in names { Self.cancel(bench, name) }
        bench.settle()
        #expect(bench.take(web).words == [String](repeating: "cancelled 9 0 0", count: 3))
    }

    @Test(
        "it is too late for a message that was sent, until its connection has ended without an acknowledgement"
    )
    func sent() {
        let bench = Self.bench()
        bench.login()
        bench.submit(1, receipt: true)
        bench.settle()
        let name = Self.names(bench)[0]
        Self.cancel(bench, name)
        bench.cancel("m1", sender: Harness.sender)
        bench.settle()
        #expect(bench.take(web).words == ["cancelled 9 0 1", "cancelled 9 0 1"])
        bench.post(.deviceClosed(phone, device))
        Self.cancel(bench, name)
        bench.settle()
        #expect(bench.take(web).words == ["cancelled 9 1 0"])
        bench.login(received: [name])
        bench.settle()
        #expect(!Self.steps(bench).contains(.delivered) && bench.store.down.delivered == 0)
        #expect(bench.store.upstream.values.allSatisfy { $0.isEmpty })
    }

    @Test("a message whose receipt is being stored was delivered")
    func owing() {
        let bench = Self.bench()
        bench.login()
        bench.submit(1, receipt: true)
        bench.settle()
        let sent = bench.take(phone).compactMap(\.delivery?.message)
        bench.post(.deviceAcknowledged(phone, device, sent.map(\.sequence)))
        Self.cancel(bench, sent[0].persistentID)
        bench.settle()
        #expect(bench.take(web).words == ["cancelled 9 0 1"])
        #expect(bench.store.down.delivered == 1 && bench.store.upstream[Harness.sender]?.count == 1)
    }

    @Test("a message that is not on disk yet is acknowledged and cancelled, by either ID")
    func early() throws {
        let bench = Self.bench()
        bench.collectTopics([Harness.target])
        bench.submit(1)
        bench.runTurns()
        let batch = try #require(bench.partitions[0].batches.first)
        let names = batch.mutations.compactMap { mutation in
            if case .putMessage(let message) = mutation { message.persistentID } else { nil }
        }
        Self.cancel(bench, names[0])
        bench.settle()
        #expect(bench.take(web).words == ["cancelled 9 1 0"] && bench.take(appServer).words == ["ack 1"])
        #expect(Self.names(bench).isEmpty && bench.store.down.removed == 1)
        // In one turn, and while the batch with the message is open.
        bench.submit(2)
        bench.cancel("m2", sender: Harness.sender)
        bench.runTurns()
        bench.submit(3)
        bench.runTurns()
        bench.cancel("m3", sender: Harness.sender)
        bench.settle()
        #expect(bench.take(web).words == ["cancelled 9 1 0", "cancelled 9 1 0"])
        #expect(bench.take(appServer).words == ["ack 2", "ack 3"] && bench.store.down.removed == 3)
    }

    @Test(
        "a cancellation that cannot be stored is not confirmed, and the message is delivered if it is there")
    func failed() {
        let bench = Self.bench()
        bench.submit(1)
        bench.settle()
        Self.cancel(bench, Self.names(bench)[0])
        bench.runTurns()
        bench.apply(bench.partitions[0], failing: true)
        bench.reportOutcome(bench.partitions[0])
        bench.settle()
        #expect(bench.take(web).words == ["SERVICE_NOT_AVAILABLE 9"])
        bench.login()
        bench.settle()
        #expect(bench.take(phone).compactMap(\.delivery?.message.messageID) == [bytes("m1")])
    }

    @Test("another persistent ID at the place of a message cancels nothing, and no marker is cancelled")
    func strange() {
        let bench = Self.bench()
        bench.submit(1)
        bench.settle()
        var name = Self.names(bench)[0]
        name.salt &+= 1
        Self.cancel(bench, name)
        Self.cancel(bench, PersistentID(sequence: SequenceNumber(1), salt: 1))
        bench.settle()
        #expect(bench.take(web).words == ["cancelled 9 0 0", "cancelled 9 0 0"])
        let other = Harness.withDevice(settings: Self.capped)
        for number in 1...2 as ClosedRange<UInt32> { other.submit(number) }
        other.settle()
        #expect(Self.names(other).count == 1, "canary: a marker")
        Self.cancel(other, Self.names(other)[0])
        other.cancel("", sender: nil)
        other.settle()
        #expect(other.take(web).words == ["cancelled 9 0 0", "cancelled 9 0 0"])
    }

    private static var capped: DeliverySettings {
        var settings = DeliverySettings()
        settings.storedMessages = 1
        return settings
    }

    @Test(
        "a message that waits for APNs is cancelled and answered as accepted; one that APNs may have is not")
    func apple() {
        let bench = Harness.withApple()
        for number in 1...3 as ClosedRange<UInt32> { bench.submitApple(number) }
        bench.settle()
        bench.cancel("m1", sender: Harness.sender)
        bench.cancel("m2", sender: Harness.sender)
        bench.settle()
        #expect(bench.take(web).words.sorted() == ["cancelled 9 0 1", "cancelled 9 1 0"])
        #expect(bench.take(appServer).words == ["ack 2"])
        var offered: [[UInt8]] = []
        while let delivery = bench.deliveries.first {
            offered.append(delivery.message.messageID)
            bench.answer(.accepted(.production))
        }
        #expect(offered == [bytes("m1"), bytes("m3")] && bench.store.holds)
        #expect(bench.take(appServer).words == ["ack 1", "ack 3"])
    }
}

extension Harness {
    /// Cancels the messages to a registration with an ID; without a sender as an operator does.
    func cancel(
        _ id: String, sender: SenderID? = nil, of name: RegistrationName = target, requestID: UInt32 = 9
    ) {
        post(
            .cancel(
                Cancellation(
                    requester: Requester(connection: web, requestID: requestID), device: name.device,
                    registration: sender == nil ? nil : name.number, sender: sender, messageID: bytes(id))))
    }
}
