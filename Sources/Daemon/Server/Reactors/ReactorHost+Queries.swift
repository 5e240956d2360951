import Basics
import Delivery

/// Queries of operators about the partitions of this reactor. They run between turns, so they must be short.
extension ReactorHost {
    /// Returns the sessions of one sender or of all, added over the partitions.
    func senderSessions(of sender: SenderID?) -> [SenderID: SenderSessions] {
        var found: [SenderID: SenderSessions] = [:]
        turns.forEach { partition in
            for (sender, figures) in partition.senderSessions(of: sender) {
                found[sender, default: SenderSessions()].add(figures)
            }
        }
        return found
    }

    /// Returns which of some devices are connected to this reactor's partitions.
    func connected(among devices: [DeviceID]) -> Set<DeviceID> {
        let owned = Dictionary(grouping: devices) { PartitionKey.device($0).partition(of: map.partitions) }
        return owned.reduce(into: []) { found, part in
            found.formUnion(turns.query(part.key) { $0.connected(among: part.value) } ?? [])
        }
    }

    /// Returns the states of a device's messages. Returns `nil` if another reactor owns the device.
    func messageStates(of device: DeviceID) -> [SequenceNumber: PendingState]? {
        turns.query(PartitionKey.device(device).partition(of: map.partitions)) {
            $0.messageStates(of: device)
        }
    }

    /// Returns the topic messages that will enter the mailbox of a device. Returns `nil` if another reactor owns the device.
    func topicMessages(
        for state: DeviceState, only: RegistrationNumber?, after place: SequenceNumber, limit: Int
    ) -> [WaitingTopicMessage]? {
        turns.query(PartitionKey.device(state.device).partition(of: map.partitions)) {
            $0.topicMessages(for: state, only: only, after: place, limit: limit)
        }
    }

    /// Returns the upstream messages that a sender has not acknowledged. Returns `nil` if another reactor owns the sender.
    func unacknowledged(of sender: SenderID) -> Set<SequenceNumber>? {
        turns.query(PartitionKey.sender(sender).partition(of: map.partitions)) {
            $0.unacknowledged(of: sender)
        }
    }
}
