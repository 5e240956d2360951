import Basics
import Delivery
import Testing

@Suite struct FaultPlanTests {
    private let other = RegistrationName(device: device, number: RegistrationNumber(2))

    private func submitted(_ requestID: UInt32, to name: RegistrationName = Harness.target) -> Event {
        .submitted(Harness.submission(requestID, to: name))
    }

    /// The messages of events, such as `1` for a submission with this request ID.
    private func ids(_ events: [Event]) -> [UInt32] {
        events.compactMap { event in
            guard case .device(_, .submitted(let submission)) = event else { return nil }
            return submission.requester.requestID
        }
    }

    private func delivery(_ sequence: UInt64, to number: UInt64 = 1) -> (ConnectionID, SessionCommand) {
        let message = StoredMessage(
            device: device, sequence: SequenceNumber(sequence), salt: 0,
            registration: RegistrationNumber(number), sender: Harness.sender, messageID: bytes("m"),
            acceptedAt: 0, expiresAt: 1, body: bytes("body"))
        let app = RegisteredApp(.init(category: bytes("app")))
        return (
            phone, .device(.deliver(DeviceDelivery(message: message, app: app, from: [], isStored: true)))
        )
    }

    @Test("canary: the next messages to a token are taken out of the events, and only those")
    func takes() {
        var plan = FaultPlan()
        let fault = plan.add(.registration(TokenName(Harness.target)), .drop, count: 2)
        var events = [
            submitted(1), submitted(2, to: other), .tick, submitted(3), submitted(4),
        ]
        let taken = plan.take(from: &events)
        #expect(taken.map(\.requester.requestID) == [1, 3])
        #expect(ids(taken.map(\.event)) == [1, 3])
        #expect(taken.allSatisfy { $0.fault == fault?.number && $0.action == .drop })
        #expect(ids(events) == [2, 4] && events.count == 3)
        #expect(plan.faults.map(\.hits) == [2] && plan.faults.map(\.remaining) == [0])
        #expect(plan.take(from: &events).isEmpty && events.count == 3)
    }

    @Test("a fault of a sender acts on all its tokens; the oldest fault that fits comes first")
    func order() {
        var plan = FaultPlan()
        _ = plan.add(.sender(SenderID(7)), .drop, count: 9)
        _ = plan.add(.sender(Harness.sender), .refuse(.unavailable), count: 1)
        _ = plan.add(.registration(TokenName(other)), .delay(5), count: 1)
        _ = plan.add(.sender(Harness.sender), .refuse(.draining), count: 1)
        var events = [
            submitted(1, to: other), submitted(2, to: other), submitted(3, to: other), submitted(4),
        ]
        #expect(
            plan.take(from: &events).map(\.action) == [.refuse(.unavailable), .delay(5), .refuse(.draining)])
        #expect(ids(events) == [4])
    }

    @Test("messages to groups and topics meet a refusal or delay of their sender, and no drop")
    func several() {
        var plan = FaultPlan()
        _ = plan.add(.sender(Harness.sender), .drop, count: 9)
        let submission = Harness.submission(1)
        let group = GroupSubmission(
            group: GroupName(sender: Harness.sender, number: 7), submission: submission)
        let topic = TopicSubmission(
            target: TopicTarget(TopicSendTests.topics[0]), submission: submission)
        var events: [Event] = [
            .group(Harness.sender, .submitted(group)), .topic(Harness.sender, .submitted(topic)),
        ]
        #expect(plan.take(from: &events).isEmpty && events.count == 2)
        _ = plan.add(.sender(Harness.sender), .refuse(.internalError), count: 2)
        #expect(plan.take(from: &events).map(\.requester.requestID) == [1, 1])
        #expect(events.isEmpty)
    }

    @Test("what no session submitted meets no fault: a topic message, or one of a device")
    func exempt() {
        var plan = FaultPlan()
        _ = plan.add(.sender(Harness.sender), .refuse(.unavailable), count: 9)
        var run = Harness.submission(1)
        run.replyTo = .nobody
        var events: [Event] = [.submitted(run), .upstreamReceived(Harness.upstream(1))]
        #expect(plan.take(from: &events).isEmpty && events.count == 2)
    }

    @Test("deliveries are repeated in place, each once for each message of the fault")
    func duplicates() {
        var plan = FaultPlan()
        _ = plan.add(.registration(TokenName(Harness.target)), .duplicate, count: 2)
        var events = [submitted(1)]
        #expect(plan.take(from: &events).isEmpty && events.count == 1)
        var commands = [delivery(1, to: 2), delivery(2), delivery(3), delivery(4)]
        #expect(plan.duplicate(in: &commands) == [1, 1])
        let sequences = commands.compactMap(\.1.delivery?.message.sequence.number)
        #expect(sequences == [1, 2, 2, 3, 3, 4])
        #expect(plan.duplicate(in: &commands).isEmpty)
    }

    @Test("there is a limit on faults; used-up ones make room, and removed ones act no more")
    func limits() {
        var plan = FaultPlan()
        for _ in 0..<Limits.TestBench.faults {
            #expect(plan.add(.sender(Harness.sender), .drop, count: 1) != nil)
        }
        #expect(plan.add(.sender(Harness.sender), .drop, count: 1) == nil)
        var events = [submitted(1)]
        #expect(plan.take(from: &events).map(\.fault) == [1])
        #expect(plan.add(.sender(Harness.sender), .drop, count: 1)?.number == Limits.TestBench.faults + 1)
        #expect(plan.remove(1) == nil, "it made room")
        #expect(plan.remove(2)?.remaining == 1)
        #expect(plan.removeAll() == Limits.TestBench.faults - 1)
        events = [submitted(1)]
        #expect(plan.take(from: &events).isEmpty && events.count == 1)
    }
}
