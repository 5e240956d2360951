public import Basics

/// What waits for the answer to an event that was sent to another node. Answers name it again, so that each is matched once.
public enum PendingKey: Hashable, Sendable {
    /// A request of a session, or its submission: answered by `.submission` or `.reply`.
    case request(ConnectionID, requestID: UInt32)
    /// An upstream message of a device's session: answered by `.upstreamStored` or `.upstreamRefused`.
    case upstream(ConnectionID, requestID: UInt32)
    /// A login.
    case login(ConnectionID)
    /// A session that asked for the keys of its sender.
    case keys(ConnectionID)
    /// A session that asked for a stream.
    case stream(ConnectionID)
    /// The count of upstream messages at the partition of a device: answered by `.upstreamAnswered`.
    case waitingUpstream(ConnectionID, requestID: UInt32)
    /// A delivered message that owes a receipt.
    case receipt(DeviceID, SequenceNumber)
    /// An expired upstream message that is being returned.
    case upstreamReturn(SenderID, SequenceNumber)
    /// A member of a group that is being sent a message.
    case member(SenderID, GroupSendMember)
    /// Messages to topics that a partition has passed on to another one.
    case topicCopy(from: Int, to: Int)
    /// A change of an installation that waits for its device to verify a check-in pair.
    case proof([UInt8], ConnectionID, requestID: UInt32)

    /// The session that waits; `nil` if a partition does. The node of the session tracks it, wherever the event is handled.
    public var session: ConnectionID? {
        switch self {
        case .request(let connection, _), .upstream(let connection, _), .login(let connection),
            .keys(let connection), .stream(let connection):
            connection
        case .waitingUpstream, .receipt, .upstreamReturn, .member, .topicCopy, .proof: nil
        }
    }
}

extension PendingKey {
    init(_ requester: Requester) { self = .request(requester.connection, requestID: requester.requestID) }

    init(upstream requester: Requester) {
        self = .upstream(requester.connection, requestID: requester.requestID)
    }

    init(waitingUpstream requester: Requester) {
        self = .waitingUpstream(requester.connection, requestID: requester.requestID)
    }

    init(proof request: InstallationRequest) {
        let requester = request.requester
        self = .proof(request.installation, requester.connection, requestID: requester.requestID)
    }
}

extension SessionCommand {
    /// What the command answers, if it goes to this connection. `nil` if it is no answer.
    public func answeredKey(of connection: ConnectionID) -> PendingKey? {
        switch self {
        // A trace is answered by any number of steps, and its watcher is on the node of the device.
        case .reply(_, .traced): nil
        case .submission(let requestID, _), .reply(let requestID, _):
            .request(connection, requestID: requestID)
        case .device(.upstreamStored(let requestID)), .device(.upstreamRefused(let requestID, _)):
            .upstream(connection, requestID: requestID)
        case .device(.loginAccepted), .device(.loginRefused), .appServer(.loginAccepted),
            .appServer(.loginRefused):
            .login(connection)
        case .appServer(.loginKeys): .keys(connection)
        case .appServer(.streamResumed), .appServer(.streamNotResumed): .stream(connection)
        case .device(.deliver), .device(.reportWhenWritable), .appServer(.deliver), .appServer(.release),
            .appServer(.withdraw), .appServer(.changePendingWindow), .connection:
            nil
        }
    }
}

extension Event {
    /// What the event answers. `nil` if it is no answer.
    public var answeredKey: PendingKey? {
        switch self {
        case .device(_, .upstreamAnswered(_, let requester)): PendingKey(waitingUpstream: requester)
        case .device(let device, .receiptStored(let sequence)),
            .device(let device, .receiptRefused(let sequence)):
            .receipt(device, sequence)
        case .sender(let sender, .upstreamReturnFinished(let sequence, _)): .upstreamReturn(sender, sequence)
        case .group(let sender, .memberAnswered(let member, _)): .member(sender, member)
        case .topicLog(let source, .copied(let partition, _)): .topicCopy(from: source, to: partition)
        case .installation(_, .requested(let request)) where request.isVouched:
            PendingKey(proof: request)
        case .device, .sender, .group, .topic, .topicLog, .installation, .partition: nil
        }
    }

    /// Whether the event is handled also if what it answers has been given up.
    ///
    /// Only a stored receipt is: it is on disk, and its message would be delivered again, with a second receipt. To count any other
    /// answer twice would break what waits for it.
    public var countsWhenLate: Bool { if case .device(_, .receiptStored) = self { true } else { false } }
}

extension InstallationRequest {
    var isVouched: Bool { if case .vouched = action { true } else { false } }
}
