import Basics
import Delivery
import Store

/// Answers loads from one snapshot of the engine and the recent messages.
struct SnapshotReader: ~Copyable {
    /// Cursors that are reused for all devices: creating one costs more than reading a device. They are freed before the snapshot.
    var registry: Cursor?
    private var mailboxes: Cursor?
    let snapshot: Engine.Snapshot
    /// Number of skipped messages that cannot be read.
    var unreadable = 0

    init(_ snapshot: consuming Engine.Snapshot) { self.snapshot = snapshot }

    /// Returns the state of a device, without bodies.
    mutating func device(_ device: DeviceID, _ recent: RecentPart) throws(StoreError) -> StoreResult {
        let rows = registry.take() ?? snapshot.owners(.registry)
        let messages = mailboxes.take() ?? snapshot.owners(.pending)
        // After a failure the cursors are not kept.
        var state = try self.device(device, rows, messages)
        var entries: [MailboxEntry] = []
        for row in recent.rows { add(row.record, row.sequence, of: device, to: &entries) }
        state.mailbox = merged(state.mailbox, entries) { $0.sequence < $1.sequence }
        try takeDue(from: &state.mailbox, of: device)
        registry = consume rows
        mailboxes = consume messages
        return .device(state)
    }

    private mutating func device(
        _ device: DeviceID, _ rows: borrowing Cursor, _ messages: borrowing Cursor
    ) throws(StoreError) -> DeviceState {
        var state = DeviceState(device: device, record: nil, registrations: [], mailbox: [])
        rows.seek(owner: device.number)
        while rows.isValid {
            do throws(RecordFault) {
                switch RegistryRow(rows.key) {
                case .device: state.record = try RegistryRecord.device(rows.value, device)
                case .registration(let name):
                    state.registrations.append(try RegistryRecord.registration(rows.value, name))
                case .subscription(let name, let sender, let topic):
                    state.subscriptions.append(
                        try SubscriptionRecord.subscription(rows.value, name, sender, topic))
                case .position:
                    guard rows.value.byteCount == 8 else { throw .length }
                    state.topicPosition = SequenceNumber(rows.value.bigEndian(at: 0))
                case nil: throw .value
                }
            } catch { throw RecordNames.corrupt(.registry, rows.key, error) }
            rows.next()
        }
        try rows.finish()
        messages.seek(owner: device.number)
        while messages.isValid {
            if messages.key.byteCount == 16 {
                add(messages.value, messages.key.bigEndian(at: 8), of: device, to: &state.mailbox)
            } else {
                unreadable += 1
            }
            messages.next()
        }
        try messages.finish()
        return state
    }

    /// Adds the entry of a message. A message that cannot be read is skipped.
    private mutating func add(
        _ record: borrowing RawSpan, _ sequence: UInt64, of device: DeviceID, to mailbox: inout [MailboxEntry]
    ) {
        let entry = try? MessageRecord.entry(record, device: device, sequence: SequenceNumber(sequence))
        if let entry { mailbox.append(entry) } else { unreadable += 1 }
    }

    /// Counts devices and registrations after a device. Ends at the first device after `examine` rows.
    func census(after: DeviceID?, examine: Int) throws(StoreError) -> RegistryCensus {
        var census = RegistryCensus()
        if after?.number == .max { return census }
        let rows = snapshot.cursor(.registry, from: after.map { Key($0.number + 1) })
        var (examined, last) = (0, after)
        while rows.isValid {
            // A key that cannot be read is damage, which the audit names.
            switch RegistryRow(rows.key) {
            case .device(let device):
                guard examined < examine else {
                    census.next = last
                    return census
                }
                last = device
                census.devices += 1
            case .registration: census.registrations += 1
            case .subscription, .position, nil: break
            }
            examined += 1
            rows.next()
        }
        try rows.finish()
        return census
    }

    /// Returns a page of a device's mailbox.
    mutating func messages(
        _ device: DeviceID, after: SequenceNumber, limit: Int, _ recent: RecentPart
    ) throws(StoreError) -> StoreResult {
        var page: [StoredMessage] = []
        let isLast = try self.page(.pending, device.number, after, limit, recent) { value, sequence in
            guard let message = try? MessageRecord.message(value, device: device, sequence: sequence)
            else { return false }
            page.append(message)
            return true
        }
        return .messages(device, try join(page, of: device), isLast: isLast)
    }

    /// Returns the messages of a device with an ID.
    mutating func named(
        _ id: [UInt8], of device: DeviceID, _ recent: RecentPart
    ) throws(StoreError) -> [PersistentID] {
        var found: [PersistentID] = []
        _ = try page(.pending, device.number, SequenceNumber(0), .max, recent) { value, sequence in
            guard let message = try? MessageRecord.message(value, device: device, sequence: sequence)
            else { return false }
            if message.isNamed(id) { found.append(message.persistentID) }
            return true
        }
        return found
    }

    /// Returns a page of a sender's mailbox.
    mutating func upstream(
        _ sender: SenderID, after: SequenceNumber, limit: Int, _ recent: RecentPart
    ) throws(StoreError) -> StoreResult {
        var page: [StoredUpstream] = []
        let isLast = try self.page(.upstream, sender.number, after, limit, recent) { value, sequence in
            guard let message = try? UpstreamRecord.upstream(value, sender: sender, sequence: sequence)
            else { return false }
            page.append(message)
            return true
        }
        return .upstream(sender, page, isLast: isLast)
    }

    /// Merges records of the engine and of recent messages after a sequence, until `limit` of them are readable. Returns whether no
    /// others follow.
    private mutating func page(
        _ family: Family, _ owner: UInt64, _ after: SequenceNumber, _ limit: Int, _ recent: RecentPart,
        _ take: (borrowing RawSpan, SequenceNumber) -> Bool
    ) throws(StoreError) -> Bool {
        guard after.number < .max else { return true }
        let rows = snapshot.cursor(
            family, from: Key(owner, after.number + 1), before: Key.after(owner))
        var next = 0
        var taken = 0
        while taken < limit, rows.isValid || next < recent.rows.count {
            // A key of another length is damage, and has no sequence.
            let stored = rows.isValid && rows.key.byteCount == 16 ? rows.key.bigEndian(at: 8) : nil
            let isTaken: Bool
            if next < recent.rows.count, !rows.isValid || recent.rows[next].sequence < stored ?? 0 {
                let row = recent.rows[next]
                isTaken = take(row.record, SequenceNumber(row.sequence))
                next += 1
            } else {
                isTaken = stored.map { take(rows.value, SequenceNumber($0)) } ?? false
                rows.next()
            }
            if isTaken { taken += 1 } else { unreadable += 1 }
        }
        try rows.finish()
        return !rows.isValid && next == recent.rows.count && recent.isLast
    }

    /// Returns the expired entries of a partition between two times, earliest first, and the first expiry time from `start` on.
    mutating func expired(
        from start: UnixMilliseconds, by time: UnixMilliseconds, limit: Int, of partition: Int
    ) throws(StoreError) -> ([ExpiryKey], first: UnixMilliseconds) {
        let rows = snapshot.cursor(
            .expiry, from: Key.expiries(of: partition, from: start), before: Key.partition(partition + 1))
        var entries: [ExpiryKey] = []
        var first: UnixMilliseconds?
        while rows.isValid, entries.count < limit {
            if let end = ExpiryKey(key: rows.key) {
                first = first ?? end.time
                if end.time > time { break }
                // A damaged row: its owner is in another partition, which could never remove it from here.
                if end.owner(in: partition).partition(of: snapshot.partitions) == partition {
                    entries.append(end)
                } else {
                    unreadable += 1
                }
            }
            rows.next()
        }
        try rows.finish()
        return (entries, first ?? (rows.isValid ? start : .max))
    }

    /// Returns the author of an expired upstream message, to whom the expiry is reported. `recent` is the row of a recent message.
    ///
    /// Returns `nil` for receipts and other entries, and for a record that is gone or cannot be read.
    mutating func author(of end: ExpiryKey, _ recent: RecentRow?) throws(StoreError) -> UpstreamAuthor? {
        guard end.kind == .upstream, end.sequence > 0 else { return nil }
        let part = RecentPart(rows: recent.map { [$0] } ?? [])
        let before = SequenceNumber(end.sequence - 1)
        guard
            case .upstream(_, let page, _) = try upstream(
                SenderID(end.owner), after: before, limit: 1, part),
            let message = page.first, message.sequence.number == end.sequence
        else { return nil }
        return message.author
    }

    /// Returns all senders. Throws `corrupt` if one cannot be read: leaving it out would lock out its app servers.
    func senders() throws(StoreError) -> [SenderRecord] {
        let rows = snapshot.cursor(.senders)
        var records: [SenderRecord] = []
        while rows.isValid {
            do throws(RecordFault) {
                guard rows.key.byteCount == 8 else { throw .value }
                records.append(try RegistryRecord.sender(rows.value, SenderID(rows.key.bigEndian(at: 0))))
            } catch { throw RecordNames.corrupt(.senders, rows.key, error) }
            rows.next()
        }
        try rows.finish()
        return records
    }

    /// Returns up to `limit` devices after one.
    mutating func devices(after: DeviceID?, limit: Int) throws(StoreError) -> [DeviceRecord] {
        var records: [DeviceRecord] = []
        guard limit > 0, after?.number != .max else { return [] }
        try forEachDevice(from: DeviceID(after.map { $0.number + 1 } ?? 0)) { _, record in
            if let record { records.append(record) }
            return records.count < limit
        }
        return records
    }

    /// Visits devices in order of their IDs until `visit` returns `false`. The record is `nil` if it cannot be read.
    private mutating func forEachDevice(
        from start: DeviceID, _ visit: (DeviceID, DeviceRecord?) -> Bool
    ) throws(StoreError) {
        let rows = snapshot.cursor(.registry, from: Key(start.number))
        while rows.isValid {
            guard rows.key.byteCount >= 8 else {
                rows.next()
                continue
            }
            let device = DeviceID(rows.key.bigEndian(at: 0))
            if case .device = RegistryRow(rows.key) {
                let record = try? RegistryRecord.device(rows.value, device)
                if record == nil { unreadable += 1 }
                guard visit(device, record) else { break }
            }
            guard let next = Key.after(device.number) else { break }
            rows.seek(next)
        }
        try rows.finish()
    }
}

extension Key {
    /// Returns the first key after the rows of an owner. Returns `nil` for the last possible owner.
    static func after(_ owner: UInt64) -> Key? { owner == .max ? nil : Key(owner + 1) }
}

/// The row that a key of the registry names.
enum RegistryRow {
    case device(DeviceID)
    case registration(RegistrationName)
    case subscription(RegistrationName, SenderID, TopicName)
    case position(DeviceID)

    /// Reads a key. Returns `nil` if it is invalid.
    init?(_ key: borrowing RawSpan) {
        guard key.byteCount >= 9, let kind = RegistryKind(rawValue: key.byte(at: 8)) else { return nil }
        let device = DeviceID(key.bigEndian(at: 0))
        switch kind {
        case .device, .position:
            guard key.byteCount == 9 else { return nil }
            self = kind == .device ? .device(device) : .position(device)
        case .registration:
            guard key.byteCount == 17 else { return nil }
            let number = RegistrationNumber(key.bigEndian(at: 9))
            self = .registration(RegistrationName(device: device, number: number))
        case .subscription:
            guard key.byteCount > 25,
                let topic = TopicName([UInt8](copying: key.extracting(25..<key.byteCount)))
            else { return nil }
            let number = RegistrationNumber(key.bigEndian(at: 9))
            self = .subscription(
                RegistrationName(device: device, number: number), SenderID(key.bigEndian(at: 17)), topic)
        }
    }
}
