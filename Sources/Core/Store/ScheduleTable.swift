import Basics
public import Delivery

/// The scheduled messages of a store in memory that are not due.
struct ScheduleTable: Sendable {
    private var entries: Set<ScheduledMessage> = []

    /// All entries, in order.
    var sorted: [ScheduledMessage] { entries.sorted() }

    /// Puts an entry. Returns `false` if it is there.
    mutating func put(_ entry: ScheduledMessage) -> Bool { entries.insert(entry).inserted }

    /// Removes and returns an entry.
    mutating func remove(
        _ device: DeviceID, _ sequence: SequenceNumber, _ dueAt: UnixMilliseconds
    ) -> ScheduledMessage? {
        let found = entries.first { $0.device == device && $0.sequence == sequence && $0.dueAt == dueAt }
        if let found { entries.remove(found) }
        return found
    }

    /// Returns a page of the devices that a partition owns.
    func page(
        after: ScheduledMessage?, limit: Int, where isOwn: (DeviceID) -> Bool
    ) -> StoreResult {
        let found = entries.filter { entry in isOwn(entry.device) && after.map { entry > $0 } ?? true }
            .sorted()
        return .schedule(Array(found.prefix(limit)), isLast: found.count <= limit)
    }

    /// Returns the entry of a message in its mailbox, which has its time as long as it is here.
    func entry(of message: StoredMessage) -> MailboxEntry {
        var entry = MailboxEntry(message)
        if let scheduled = message.scheduled, !entries.contains(scheduled) { entry.dueAt = nil }
        return entry
    }
}

extension ScheduledMessage {
    /// The key in the expiry index by which it is found when it is due.
    var due: ExpiryKey { ExpiryKey(scheduled: device, sequence, dueAt: dueAt) }
}

extension MemoryState {
    /// The scheduled messages that are not due, in order.
    public var scheduled: [ScheduledMessage] { schedule.sorted }
}
