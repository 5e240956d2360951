import Basics
import Delivery

/// The numbers of the mutations.
enum MutationCase: UInt8, CaseNumber {
    // Device.
    case putDevice = 1
    case putRegistration, removeRegistration, removeDevice, putSubscription, removeSubscription
    case linkInstallation, unlinkInstallation, putInstallation, removeInstallation, putMessage, removeMessage
    case markForGateway, unmarkForGateway, putFeedback, removeFeedback
    // Topic.
    case putTopicJob, advanceTopicJob, removeTopicJob, removeTopicBody
    // Group.
    case putGroup, removeGroup
    // Sender.
    case putSender, removeSender, putUpstream, removeUpstream
    // Server. 27 is not used any more.
    case putMark = 28

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
        case .markForGateway(let device): try put(MutationCase.markForGateway, device)
        case .unmarkForGateway(let device): try put(MutationCase.unmarkForGateway, device)
        case .putFeedback(let entry): try put(MutationCase.putFeedback, entry)
        case .removeFeedback(let entry): try put(MutationCase.removeFeedback, entry)
        case .putTopicJob(let job): try put(MutationCase.putTopicJob, job)
        case .advanceTopicJob(let job, let cursor, let marked):
            try put(MutationCase.advanceTopicJob, NamedCursor(job: job, cursor: cursor), marked)
        case .removeTopicJob(let job, let marked): try put(MutationCase.removeTopicJob, job, marked)
        case .removeTopicBody(let job, let end): try put(MutationCase.removeTopicBody, job, end)
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
        case .markForGateway: return .markForGateway(try get())
        case .unmarkForGateway: return .unmarkForGateway(try get())
        case .putFeedback: return .putFeedback(try get())
        case .removeFeedback: return .removeFeedback(try get())
        case .putTopicJob: return .putTopicJob(try get())
        case .advanceTopicJob:
            let place: NamedCursor = try get()
            return .advanceTopicJob(place.job, place.cursor, marked: try get("names"))
        case .removeTopicJob: return .removeTopicJob(try get(), marked: try get("names"))
        case .removeTopicBody: return .removeTopicBody(try get(), expiresAt: try get())
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
        }
    }
}
