import Basics
import Delivery
import Store

/// The rows of the column family `contacts` for scheduled messages: one for each that is not due. The expiry index has another.
extension Key {
    /// Returns the key of a scheduled message in a partition.
    static func scheduled(
        _ dueAt: UnixMilliseconds, _ device: DeviceID, _ sequence: SequenceNumber, of partition: Int
    ) -> Key {
        var key = Key.contacts(.schedule, of: partition)
        // No message is due before 1970: a negative time would be after all others.
        key.append(UInt64(max(0, dueAt)))
        key.append(device.number)
        key.append(sequence.number)
        return key
    }
}

extension ScheduledMessage {
    /// Reads a row. Returns `nil` if it is of another kind or cannot be read.
    init?(_ key: borrowing RawSpan, _ value: borrowing RawSpan) {
        guard key.byteCount == 27, key.byte(at: 2) == ContactRow.schedule.rawValue, value.byteCount == 8
        else { return nil }
        self.init(
            dueAt: Int64(bitPattern: key.bigEndian(at: 3)), device: DeviceID(key.bigEndian(at: 11)),
            sequence: SequenceNumber(key.bigEndian(at: 19)), sender: SenderID(value.bigEndian(at: 0)))
    }
}

extension Commit {
    /// Puts a message on the schedule.
    mutating func put(_ entry: ScheduledMessage) {
        let partition = partition(of: .device(entry.device))
        put(
            .contacts, Key.scheduled(entry.dueAt, entry.device, entry.sequence, of: partition).bytes,
            Key(entry.sender.number).bytes)
        putExpiry(ExpiryKey(scheduled: entry.device, entry.sequence, dueAt: entry.dueAt), of: partition)
    }

    /// Takes a message off the schedule.
    mutating func unschedule(_ device: DeviceID, _ sequence: SequenceNumber, _ dueAt: UnixMilliseconds) {
        let partition = partition(of: .device(device))
        delete(.contacts, Key.scheduled(dueAt, device, sequence, of: partition).bytes)
        deleteExpiry(ExpiryKey(scheduled: device, sequence, dueAt: dueAt), of: partition)
    }
}

extension SnapshotReader {
    /// Removes the times of messages that are not on the schedule any more from a mailbox.
    func takeDue(from mailbox: inout [MailboxEntry], of device: DeviceID) throws(StoreError) {
        for at in mailbox.indices {
            guard let dueAt = mailbox[at].dueAt else { continue }
            let partition = PartitionKey.device(device).partition(of: snapshot.partitions)
            let key = Key.scheduled(dueAt, device, mailbox[at].sequence, of: partition)
            let rows = snapshot.cursor(
                .contacts, from: key, before: Key.contactsEnd(.schedule, of: partition))
            let isThere = rows.isValid && rows.key.equals(key.bytes)
            try rows.finish()
            if !isThere { mailbox[at].dueAt = nil }
        }
    }

    /// Returns the schedule of a partition after an entry.
    mutating func schedule(
        after: ScheduledMessage?, limit: Int, of partition: Int
    ) throws(StoreError) -> StoreResult {
        let start = after.map { Key.scheduled($0.dueAt, $0.device, $0.sequence, of: partition) }
        let rows = snapshot.cursor(
            .contacts, from: start ?? Key.contacts(.schedule, of: partition),
            before: Key.contactsEnd(.schedule, of: partition))
        var found: [ScheduledMessage] = []
        while rows.isValid, found.count < limit {
            if let entry = ScheduledMessage(rows.key, rows.value),
                PartitionKey.device(entry.device).partition(of: snapshot.partitions) == partition
            {
                if after.map({ entry > $0 }) ?? true { found.append(entry) }
            } else {
                unreadable += 1
            }
            rows.next()
        }
        try rows.finish()
        return .schedule(found, isLast: !rows.isValid)
    }
}
