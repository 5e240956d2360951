import Basics
import Delivery

@testable import NodeProtocol

extension RandomValues {
    /// A mutation of each case: a case without a generator does not compile.
    mutating func mutation(_ number: MutationCase, partitions: Int = 1) -> Mutation {
        switch number {
        case .putDevice: .putDevice(deviceRecord())
        case .putRegistration: .putRegistration(registration())
        case .removeRegistration: .removeRegistration(name())
        case .removeDevice: .removeDevice(device())
        case .putSubscription: .putSubscription(subscription())
        case .removeSubscription: .removeSubscription(subscription())
        case .linkInstallation: .linkInstallation(installationID(), name())
        case .unlinkInstallation: .unlinkInstallation(bytes(), name())
        case .putInstallation: .putInstallation(installation())
        case .removeInstallation: .removeInstallation(bytes())
        case .putMessage:
            .putMessage(message(shared: optional { SharedReference(withoutBodyOf: $0.bodyName()) }))
        case .removeMessage: .removeMessage(device(), sequence(), expiresAt: signed(), reason: ending())
        case .putSchedule:
            .putSchedule(
                ScheduledMessage(dueAt: signed(), device: device(), sequence: sequence(), sender: sender()))
        case .removeSchedule: .removeSchedule(device(), sequence(), dueAt: signed())
        case .markForGateway: .markForGateway(device())
        case .unmarkForGateway: .unmarkForGateway(device())
        case .putFeedback: .putFeedback(feedback())
        case .removeFeedback: .removeFeedback(feedback())
        case .putGroup: .putGroup(groupRecord())
        case .removeGroup: .removeGroup(group(), label: bytes())
        case .putSender: .putSender(senderRecord())
        case .removeSender: .removeSender(sender())
        case .putUpstream: .putUpstream(upstream(), now: signed())
        case .removeUpstream: .removeUpstream(sender(), sequence(), expiresAt: signed(), reason: ending())
        case .putMark: .putMark(one(), self.number())
        case .putTopicMessage: .putTopicMessage(topicMessage())
        case .removeTopicMessage: .removeTopicMessage(messageName())
        case .putTopicEntry: .putTopicEntry(topicEntry(), partition: below(partitions))
        case .putTopicProgress:
            .putTopicProgress(sequence(), topicProgress(), partition: below(partitions))
        case .removeTopicEntry: .removeTopicEntry(sequence(), partition: below(partitions))
        case .putTopicMark:
            .putTopicMark(
                TopicMark(source: below(partitions), through: sequence()), partition: below(partitions))
        case .putSharedBody:
            .putSharedBody(sharedBody(), partition: below(partitions), expiresAt: signed())
        case .removeSharedBody:
            .removeSharedBody(bodyName(), partition: below(partitions), expiresAt: signed())
        case .putTopicPosition: .putTopicPosition(device(), sequence())
        case .listForGateway: .listForGateway(subscription())
        case .unlistForGateway: .unlistForGateway(subscription())
        }
    }

    private mutating func ending() -> Milestone {
        while true {
            let reason: Milestone = one()
            if reason.isTerminal, reason != .refused { return reason }
        }
    }

    /// A batch of the only partition of a store, or of the control plane, whose messages need no order.
    mutating func batch(_ mutations: [Mutation]) -> WriteBatch {
        let puts = mutations.count { $0.isPut }
        var batch = WriteBatch(
            batchNumber: number(), mutations: mutations, isDurable: flag(),
            partition: puts <= 1 && flag() ? 0 : nil)
        batch.newestSequence = optional { $0.sequence() }
        return batch
    }

    mutating func batch() -> WriteBatch {
        let mutations = list(upTo: 6) { $0.mutation($0.one()) }
        return batch(mutations)
    }
}

extension Mutation {
    fileprivate var isPut: Bool {
        switch self {
        case .putMessage, .putUpstream: true
        default: false
        }
    }
}
