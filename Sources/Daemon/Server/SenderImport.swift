import Delivery
import Synchronization

/// Import of senders with the digests of their keys.
extension Senders {
    /// Imports a sender of another server.
    func importSender(_ record: SenderRecord, replaces: Bool) throws(Problem) -> ImportOutcome {
        try changes.withLock { _ throws(Problem) in
            let known = directory[record.sender]
            guard known != record else { return .unchanged }
            guard known == nil || replaces else { return .differs }
            if let other = directory.sender(ofProject: record.projectID), other != record.sender {
                return .differs
            }
            try put(record)
            return known == nil ? .added : .replaced
        }
    }
}
