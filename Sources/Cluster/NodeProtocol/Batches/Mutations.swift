import Basics
import Delivery

/// The numbers of the mutations.
enum MutationCase: UInt8, CaseNumber {
    // Device.
    case putDevice = 1
    case putRegistration, removeRegistration, removeDevice, putSubscription, removeSubscription
    case linkInstallation, unlinkInstallation, putInstallation, removeInstallation, putMessage, removeMessage
    case markForGateway, unmarkForGateway, putFeedback, removeFeedback
    // Group. 17 to 20 are not used any more, nor is 27.
    case putGroup = 21
    case removeGroup
    // Sender.
    case putSender, removeSender, putUpstream, removeUpstream
    // Server.
    case putMark = 28
    // Topic.
    case putTopicMessage, removeTopicMessage, putTopicEntry, putTopicProgress, removeTopicEntry, putTopicMark
    case removeSharedBody, putTopicPosition, listForGateway, unlistForGateway, putSharedBody
    // Schedule.
    case putSchedule, removeSchedule

    static let kind: StaticString = "mutation"
}

extension NodeWriter {
    /// Inlined into the loop over a batch, since a call of its own would copy the mutation.
    @inline(__always)
    mutating func write(_ mutation: borrowing Mutation) throws(Fault) {
        switch mutation {
        case .putDevice(let device): try put(MutationCase.putDevice, device)
        case .putRegistration(let registration): try put(MutationCase.putRegistration, registration)
        case .removeRegistration(let name): try put(MutationCase.removeRegistration, name)
        case .removeDevice(let device): try put(MutationCase.removeDevice, device)
        case .putSubscription(let made): try put(MutationCase.putSubscription, made)
        case .removeSubscription(let ended): try put(MutationCase.removeSubscription, ended)
        case .linkInstallation(let id, let name): try put(MutationCase.linkInstallation, id, name)
        case .unlinkInstallation(let id, let name): try put(MutationCase.unlinkInstallation, id, name)
        case .putInstallation(let installation): try put(MutationCase.putInstallation, installation)
        case .removeInstallation(let id): try put(MutationCase.removeInstallation, id)
        case .putMessage(let message): try put(MutationCase.putMessage, message)
        case .removeMessage(let device, let sequence, let end, let reason):
            try put(MutationCase.removeMessage, device, sequence, end, reason)
        case .putSchedule(let entry): try put(MutationCase.putSchedule, entry)
        case .removeSchedule(let device, let sequence, let dueAt):
            try put(MutationCase.removeSchedule, device, sequence, dueAt)
        case .markForGateway(let device): try put(MutationCase.markForGateway, device)
        case .unmarkForGateway(let device): try put(MutationCase.unmarkForGateway, device)
        case .putFeedback(let entry): try put(MutationCase.putFeedback, entry)
        case .removeFeedback(let entry): try put(MutationCase.removeFeedback, entry)
        case .putTopicMessage(let message): try put(MutationCase.putTopicMessage, message)
        case .removeTopicMessage(let name): try put(MutationCase.removeTopicMessage, name)
        case .putTopicEntry(let entry, let partition):
            try put(MutationCase.putTopicEntry, PartitionNumber(partition), entry)
        case .putTopicProgress(let sequence, let progress, let partition):
            try put(MutationCase.putTopicProgress, PartitionNumber(partition), sequence, progress)
        case .removeTopicEntry(let sequence, let partition):
            try put(MutationCase.removeTopicEntry, PartitionNumber(partition), sequence)
        case .putTopicMark(let mark, let partition):
            try put(MutationCase.putTopicMark, PartitionNumber(partition), mark)
        case .putSharedBody(let shared, let partition, let end):
            try put(MutationCase.putSharedBody, PartitionNumber(partition), shared, end)
        case .removeSharedBody(let name, let partition, let end):
            try put(MutationCase.removeSharedBody, PartitionNumber(partition), name, end)
        case .putTopicPosition(let device, let sequence):
            try put(MutationCase.putTopicPosition, device, sequence)
        case .listForGateway(let made): try put(MutationCase.listForGateway, made)
        case .unlistForGateway(let ended): try put(MutationCase.unlistForGateway, ended)
        case .putGroup(let group): try put(MutationCase.putGroup, group)
        case .removeGroup(let group, let label): try put(MutationCase.removeGroup, group, label)
        case .putSender(let sender): try put(MutationCase.putSender, sender)
        case .removeSender(let sender): try put(MutationCase.removeSender, sender)
        case .putUpstream(let upstream, let now): try put(MutationCase.putUpstream, now, upstream)
        case .removeUpstream(let sender, let sequence, let end, let reason):
            try put(MutationCase.removeUpstream, sender, sequence, end, reason)
        case .putMark(let mark, let number): try put(MutationCase.putMark, mark, number)
        case .advanceLog: preconditionFailure("each store has its own progress in a log")
        }
    }
}

extension NodeReader {
    mutating func mutation() throws(Fault) -> Mutation {
        let number: MutationCase = try get()
        switch number {
        case .putMessage: return .putMessage(try get())
        case .removeMessage:
            return .removeMessage(try get(), try get(), expiresAt: try get(), reason: try get())
        case .putDevice: return .putDevice(try get())
        case .putRegistration: return .putRegistration(try get())
        case .removeRegistration: return .removeRegistration(try get())
        case .removeDevice: return .removeDevice(try get())
        case .putSubscription: return .putSubscription(try get())
        case .removeSubscription: return .removeSubscription(try get())
        case .linkInstallation: return .linkInstallation(try get("installation"), try get())
        case .unlinkInstallation: return .unlinkInstallation(try get("installation"), try get())
        case .putInstallation: return .putInstallation(try get())
        case .removeInstallation: return .removeInstallation(try get("installation"))
        case .putSchedule: return .putSchedule(try get())
        case .removeSchedule: return .removeSchedule(try get(), try get(), dueAt: try get())
        case .markForGateway: return .markForGateway(try get())
        case .unmarkForGateway: return .unmarkForGateway(try get())
        case .putFeedback: return .putFeedback(try get())
        case .removeFeedback: return .removeFeedback(try get())
        case .putGroup: return .putGroup(try get())
        case .removeGroup: return .removeGroup(try get(), label: try get("label"))
        case .putSender: return .putSender(try get())
        case .removeSender: return .removeSender(try get())
        case .putUpstream:
            let now: UnixMilliseconds = try get()
            return .putUpstream(try get(), now: now)
        case .removeUpstream:
            return .removeUpstream(try get(), try get(), expiresAt: try get(), reason: try get())
        case .putMark: return .putMark(try get(), try get())
        case .putTopicMessage: return .putTopicMessage(try get())
        case .removeTopicMessage: return .removeTopicMessage(try get())
        case .putTopicEntry, .putTopicProgress, .removeTopicEntry, .putTopicMark, .putSharedBody,
            .removeSharedBody:
            return try topicMutation(number, of: partition())
        case .putTopicPosition: return .putTopicPosition(try get(), try get())
        case .listForGateway: return .listForGateway(try get())
        case .unlistForGateway: return .unlistForGateway(try get())
        }
    }

    /// A mutation of what a partition has of topic messages, and of shared pairs.
    private mutating func topicMutation(
        _ number: MutationCase, of partition: Int
    ) throws(Fault) -> Mutation {
        switch number {
        case .putTopicEntry: return .putTopicEntry(try get(), partition: partition)
        case .putTopicProgress: return .putTopicProgress(try get(), try get(), partition: partition)
        case .removeTopicEntry: return .removeTopicEntry(try get(), partition: partition)
        case .putTopicMark: return .putTopicMark(try get(), partition: partition)
        case .putSharedBody: return .putSharedBody(try get(), partition: partition, expiresAt: try get())
        default: return .removeSharedBody(try get(), partition: partition, expiresAt: try get())
        }
    }
}
