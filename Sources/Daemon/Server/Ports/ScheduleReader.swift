import Basics
import Delivery
import Store

/// Reads pages of the messages that are sent later, for operators and app servers.
enum ScheduleReader {
    /// A message on the schedule.
    struct Row {
        let message: StoredMessage
        /// The registration that it is for; `nil` if that was removed meanwhile.
        let registration: Registration?
    }

    /// Returns a page of the schedule of all partitions: of up to `limit` messages, and after which entry the next page starts. What is read
    /// is limited, too: the page of one sender among many may be short.
    static func page(
        of sender: SenderID?, after: ScheduledMessage?, limit: Int, from store: any Store
    ) throws(StoreError) -> (rows: [Row], next: ScheduledMessage?) {
        var entries: [ScheduledMessage] = []
        var end: ScheduledMessage?
        for partition in 0..<store.partitions {
            let query = StoreQuery.schedule(
                after: after, limit: Limits.Schedule.countedAtOnce, partition: partition)
            guard case .schedule(let part, let isLast) = try store.load(query) else { continue }
            entries += part
            // Of this partition later entries are unknown.
            if !isLast, let last = part.last { end = min(end ?? last, last) }
        }
        let known = entries.filter { entry in end.map { entry <= $0 } ?? true }.sorted()
        let meant = known.filter { sender == nil || $0.sender == sender }
        var rows: [Row] = []
        for entry in meant.prefix(limit) {
            if let row = try row(of: entry, from: store) { rows.append(row) }
        }
        return (rows, meant.count > limit ? meant[limit - 1] : end)
    }

    private static func row(
        of entry: ScheduledMessage, from store: any Store
    ) throws(StoreError) -> Row? {
        guard entry.sequence.number > 0 else { return nil }
        let before = SequenceNumber(entry.sequence.number - 1)
        guard
            case .messages(_, let page, _) = try store.load(.messages(entry.device, after: before, limit: 1)),
            let message = page.first, message.sequence == entry.sequence,
            case .device(let state) = try store.load(.device(entry.device))
        else { return nil }
        return Row(
            message: message,
            registration: state.registrations.first { $0.name.number == message.registration })
    }
}
