import Basics
import Delivery

extension NodeReader {
    @_lifetime(self: copy self)
    mutating func mutation() throws(NodeProtocolFault) -> Mutation {
        let number: MutationCase = try numbered()
        switch number {
        case .putMessage: return .putMessage(try message())
        case .removeMessage:
            let (device, sequence) = (try device(), try sequence())
            return .removeMessage(device, sequence, expiresAt: try signed(), reason: try numbered())
        case .putDevice: return .putDevice(try deviceRecord())
        case .putRegistration: return .putRegistration(try registrationRecord())
        case .removeRegistration: return .removeRegistration(try name())
        case .removeDevice: return .removeDevice(try device())
        case .putSubscription: return .putSubscription(try subscription())
        case .removeSubscription: return .removeSubscription(try subscription())
        case .linkInstallation: return .linkInstallation(try byteArray("installation"), try name())
        case .unlinkInstallation: return .unlinkInstallation(try byteArray("installation"), try name())
        case .putInstallation: return .putInstallation(try installationRecord())
        case .removeInstallation: return .removeInstallation(try byteArray("installation"))
        case .markForGateway: return .markForGateway(try device())
        case .unmarkForGateway: return .unmarkForGateway(try device())
        case .putFeedback: return .putFeedback(try feedback())
        case .removeFeedback: return .removeFeedback(try feedback())
        case .putTopicJob, .advanceTopicJob, .removeTopicJob, .removeTopicBody, .putGroup, .removeGroup:
            return try senderChange(number)
        case .putSender, .removeSender, .putUpstream, .removeUpstream, .putMark:
            return try senderChange(number)
        }
    }

    /// Reads a mutation of a sender, its topics or groups, or of the server.
    @_lifetime(self: copy self)
    private mutating func senderChange(_ number: MutationCase) throws(NodeProtocolFault) -> Mutation {
        switch number {
        case .putTopicJob: return .putTopicJob(try topicJob())
        case .advanceTopicJob:
            let job = try job()
            return .advanceTopicJob(job, try cursor(of: job), marked: try names())
        case .removeTopicJob: return .removeTopicJob(try job(), marked: try names())
        case .removeTopicBody: return .removeTopicBody(try job(), expiresAt: try signed())
        case .putGroup: return .putGroup(try groupRecord())
        case .removeGroup: return .removeGroup(try group(), label: try byteArray("label"))
        case .putSender: return .putSender(try senderRecord())
        case .removeSender: return .removeSender(try sender())
        case .putUpstream:
            let now = try signed()
            return .putUpstream(try upstream(), now: now)
        case .removeUpstream:
            let (sender, sequence) = (try sender(), try sequence())
            return .removeUpstream(sender, sequence, expiresAt: try signed(), reason: try numbered())
        case .putMark: return .putMark(try numbered(), try self.number())
        default: throw .unknownCase(of: "mutation", number: UInt64(number.rawValue))
        }
    }
}
