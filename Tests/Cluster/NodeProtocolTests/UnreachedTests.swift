import Basics
import Delivery
import Testing

@testable import NodeProtocol

extension UnreachedAnswer {
    /// The answers one by one.
    var parts: [UnreachedAnswer] {
        switch self {
        case .none: []
        case .several(let answers): answers.flatMap(\.parts)
        case .command, .event: [self]
        }
    }

    /// What the answer answers.
    var answeredKey: PendingKey? {
        switch self {
        case .command(let connection, let command): command.answeredKey(of: connection)
        case .event(let event): event.answeredKey
        case .none, .several: nil
        }
    }
}

@Suite struct UnreachedTests {
    /// What the core itself does with an event that it cannot handle.
    private func refusal(by partition: inout Partition, _ event: Event) -> [UnreachedAnswer] {
        partition.effects.removeAll()
        partition.handle(event, now: Now(monotonic: noon, wall: 1_700_000_000_000))
        _ = partition.endTurn()
        return partition.effects.commands.map { .command($0.0, $0.1) }
            + partition.effects.forwards.map { .event($0) }
    }

    private func partition(_ number: Int) -> Partition {
        var settings = DeliverySettings()
        settings.trapsAtFailedInvariants = false
        return Partition(partition: number, of: 2, seed: 1, hashKey: (1, 2), settings: settings)
    }

    @Test("an event is answered as by a partition that cannot handle it", arguments: 0..<40 as Range<UInt64>)
    func asTheCore(seed: UInt64) throws {
        var values = RandomValues(seed: seed)
        var first = partition(0)
        var second = partition(1)
        for event in values.events() {
            let owner = try #require(event.key?.partition(of: 2))
            let expected = owner == 0 ? refusal(by: &second, event) : refusal(by: &first, event)
            var answers = event.answerWhenUnreached().parts
            switch event {
            // A partition drops them, since no session of it is concerned.
            case .device(_, .acknowledged), .device(_, .writable), .device(_, .congested),
                .device(_, .idleChanged), .sender(_, .bound), .sender(_, .draining), .sender(_, .congested),
                .sender(_, .writable), .sender(_, .streamManaged), .sender(_, .upstreamFinished):
                #expect(expected.isEmpty && answers.count == 1)
                guard case .command(_, .connection(.close(.storeFailed)))? = answers.first else {
                    Issue.record("the session is not closed: \(event.label)")
                    continue
                }
                continue
            case .sender(let sender, .login(let connection, _)):
                guard case .event(.sender(sender, .closed(connection)))? = answers.popLast() else {
                    Issue.record("the end of a login is not reported")
                    continue
                }
            case .installation(_, .requested(let request)), .device(_, .installationFound(let request, _)):
                // An answer itself, and requests that no device gets.
                switch request.action {
                case .create, .subscribe, .unsubscribe, .address, .send, .remove, .apple: break
                default: continue
                }
            default: break
            }
            let (found, wanted) = (everything(in: answers), everything(in: expected))
            if found != wanted { Issue.record("\(event.label): \(found)\nexpected \(wanted)") }
        }
    }

    @Test(
        "the answer of an unreached event answers exactly what waits for the event",
        arguments: 0..<40 as Range<UInt64>)
    func keys(seed: UInt64) {
        var values = RandomValues(seed: seed)
        for event in values.events() {
            let waiting = event.openRequests
            let answered = event.answerWhenUnreached().parts.compactMap(\.answeredKey)
            #expect(answered == waiting.map(\.key), "\(event.label)")
            for request in waiting {
                #expect(request.answer.parts.compactMap(\.answeredKey) == [request.key], "\(event.label)")
            }
        }
    }

    @Test("canary: the answers of two events differ")
    func canary() {
        var values = RandomValues(seed: 3)
        let (first, second) = (values.event(DeviceEventCase.register), values.event(DeviceEventCase.register))
        #expect(
            everything(in: first.answerWhenUnreached()) != everything(in: second.answerWhenUnreached()))
        #expect(first.openRequests.map(\.key) != second.openRequests.map(\.key))
    }

    @Test("these events and no others have no answer")
    func unanswered() {
        var values = RandomValues(seed: 4)
        let silent = Set(values.events().filter { $0.answerWhenUnreached().parts.isEmpty }.map(\.label))
        #expect(
            silent == [
                "device.closed", "device.upstreamAnswered", "device.receiptStored", "device.receiptRefused",
                "device.gatewayAnswered", "device.gatewayDue", "device.markedForGateway", "device.topicsDue",
                "device.due",
                "device.unseen",
                "sender.closed", "sender.streamDetached", "sender.upstreamReturnFinished",
                "group.memberAnswered", "topicLog.nowOrNever", "topicLog.copied", "installation.unused",
                "installation.requested",
                "group.requested",
            ])
        // Of these two kinds only what is an answer itself, and what the core has asked itself.
        let vouched = values.installationRequest(.vouched)
        #expect(Event.installation(vouched).answerWhenUnreached().parts.isEmpty)
        let own = GroupRequest(requester: nil, sender: SenderID(1), operation: .show(number: 1))
        #expect(Event.groupRequested(own).answerWhenUnreached().parts.isEmpty)
        for number in InstallationActionCase.allCases where number != .vouched {
            let event = Event.installation(values.installationRequest(number))
            #expect(event.answerWhenUnreached().parts.count == 1)
        }
    }

    @Test("a command answers what its connection waits for, and only answers do")
    func commands() {
        var values = RandomValues(seed: 5)
        let connection = values.connection()
        var silent: [String] = []
        for command in values.commands() {
            guard let key = command.answeredKey(of: connection) else {
                silent.append("\(command)".prefix { $0 != "(" } + "")
                continue
            }
            #expect(key.session == connection)
        }
        #expect(Set(silent) == ["appServer", "device", "connection", "reply"])
        #expect(silent.count == 5 + 2 + 5 + 1 - 1, "\(silent)")
    }
}
