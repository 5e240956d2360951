import Basics
public import Delivery

extension Mutation {
    /// The key whose partition owns the rows that it changes. `nil` for marks and the progress in a log, which belong to none.
    public var owner: PartitionKey? {
        switch self {
        case .putDevice(let record): .device(record.device)
        case .putRegistration(let registration): .device(registration.name.device)
        case .removeRegistration(let name), .linkInstallation(_, let name), .unlinkInstallation(_, let name):
            .device(name.device)
        case .removeDevice(let device), .markForGateway(let device), .unmarkForGateway(let device),
            .removeMessage(let device, _, _, _), .putTopicPosition(let device, _),
            .removeSchedule(let device, _, _):
            .device(device)
        case .putSubscription(let subscription), .removeSubscription(let subscription),
            .listForGateway(let subscription), .unlistForGateway(let subscription):
            .device(subscription.name.device)
        case .putMessage(let message): .device(message.device)
        case .putSchedule(let entry): .device(entry.device)
        case .putFeedback(let entry), .removeFeedback(let entry): .device(entry.registration.device)
        case .putInstallation(let record): .installation(record.id)
        case .removeInstallation(let id): .installation(id)
        case .putTopicMessage(let message): .sender(message.name.sender)
        case .removeTopicMessage(let name): .sender(name.sender)
        case .putTopicEntry(_, let partition), .putTopicProgress(_, _, let partition),
            .removeTopicEntry(_, let partition), .putTopicMark(_, let partition),
            .putSharedBody(_, let partition, _), .removeSharedBody(_, let partition, _):
            .partition(partition)
        case .putGroup(let group): .sender(group.name.sender)
        case .removeGroup(let name, _): .sender(name.sender)
        case .putSender(let record): .sender(record.sender)
        case .removeSender(let sender), .removeUpstream(let sender, _, _, _): .sender(sender)
        case .putUpstream(let message, _): .sender(message.sender)
        case .putMark, .advanceLog: nil
        }
    }
}

extension BatchChecks {
    /// Throws if a mutation changes rows of another partition than the one that wrote the batch: on other nodes it would be applied in
    /// another order than the changes of their owner. Throws if the store does not have the partition.
    public func owns(_ mutation: borrowing Mutation) throws(StoreError) {
        switch mutation {
        // Messages are checked as they are put and removed.
        case .putMessage, .removeMessage, .putUpstream, .removeUpstream: return
        default: break
        }
        guard let owner = mutation.owner else { return }
        let found = owner.partition(of: partitions)
        try demand(
            found == partition ?? found && found >= 0 && found < partitions,
            "a batch changes a row that another partition owns", "\(owner)")
    }
}
