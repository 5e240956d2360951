import Basics
import ClusterLog
import Wire

/// Answers of the server.
extension JetStreamMachine {
    /// Handles a message for any subscription.
    mutating func received(_ message: NATSMessage, now: Instant) {
        guard message.subscription == Self.inboxSubscription else { return events.append(.message(message)) }
        // Answers to requests that were given up are not of interest any more.
        guard let inbox = connection?.inbox, message.subject.starts(with: inbox),
            let number = UInt64(String(decoding: message.subject.dropFirst(inbox.count), as: UTF8.self)),
            let request = requests[number]
        else { return }
        if case .batch(let partition) = request { return received(message, for: partition, number, now) }
        requests.remove(number)
        switch request {
        case .append(let partition, let name): appended(JetStreamPublishAnswer(message), partition, name)
        case .read(let partition, let position):
            read(JetStreamMessageAnswer(message), partition, position, now)
        case .readDirectly(let partition, let position): readDirectly(message, partition, position)
        case .first(let partition): first(JetStreamMessageAnswer(message), partition, now)
        case .purge: purged(JetStreamReply(message), request)
        case .create(let partition), .examine(let partition):
            described(JetStreamReply(message), request, partition, now)
        case .batch: break
        }
    }

    private mutating func appended(
        _ answer: JetStreamPublishAnswer, _ partition: Int, _ name: FrameName
    ) {
        let request = OpenRequest.append(partition, name)
        switch answer {
        case .stored(let sequence): events.append(.stored(partition, name, at: LogPosition(sequence)))
        case .refused(let error): fail(request, .refused(error))
        case .noResponder: fail(request, .noResponder)
        case .unreadable: fail(request, .unreadable)
        }
    }

    private mutating func read(
        _ answer: JetStreamMessageAnswer, _ partition: Int, _ position: LogPosition, _ now: Instant
    ) {
        let request = OpenRequest.read(partition, position)
        switch answer {
        case .message(position.number, let payload): events.append(.record(partition, position, payload))
        case .message(let sequence, _) where sequence > position.number:
            fail(request, .removed(first: LogPosition(sequence)))
        case .none: events.append(.end(partition, LogPosition(position.number - 1)))
        case .refused(let error) where error.code == Self.withoutLeader:
            readDirectly(position, of: partition, now: now)
        case .refused(let error): fail(request, .refused(error))
        case .noResponder: fail(request, .noResponder)
        case .message, .unreadable: fail(request, .unreadable)
        }
    }

    /// Code of JetStream while the group of its servers has no leader. Streams need none to append, to elect their own, and for direct
    /// reads.
    private static let withoutLeader = 10_008

    /// What any replica has: the record, or an end that may be out of date.
    private mutating func readDirectly(
        _ message: NATSMessage, _ partition: Int, _ position: LogPosition
    ) {
        let request = OpenRequest.readDirectly(partition, position)
        switch message.status {
        case nil where message.number("nats-sequence") == position.number:
            events.append(.record(partition, position, message.payload))
        case 404: events.append(.end(partition, LogPosition(position.number - 1)))
        case 503: fail(request, .noResponder)
        default: fail(request, .unreadable)
        }
    }

    private mutating func purged(_ answer: JetStreamReply, _ request: OpenRequest) {
        guard case .purge(let partition, let position) = request else { return }
        switch answer {
        case .object(let object) where object["success"]?.boolean == true:
            events.append(.purged(partition, upTo: position))
        case .object, .unreadable: fail(request, .unreadable)
        case .refused(let error): fail(request, .refused(error))
        case .noResponder: fail(request, .noResponder)
        }
    }

    /// Code of JetStream for a stream that exists with another configuration.
    private static let existsOtherwise = 10_058

    private mutating func described(
        _ answer: JetStreamReply, _ request: OpenRequest, _ partition: Int, _ now: Instant
    ) {
        guard let expected = settings[partition] else { return }
        switch answer {
        case .refused(let error) where error.code == Self.existsOtherwise:
            examine(partition, expected, now: now)
        case .object(let object):
            guard let info = StreamInfo(object) else { return fail(request, .unreadable) }
            let problems = info.problems(expected, subject: names.subject(partition))
            events.append(.stream(partition, info, problems))
        case .unreadable: fail(request, .unreadable)
        case .refused(let error): fail(request, .refused(error))
        case .noResponder: fail(request, .noResponder)
        }
    }
}
