import Basics
import Delivery
import Store

/// Reads and counts all records in one snapshot.
struct Auditor: ~Copyable {
    private let snapshot: Engine.Snapshot
    private let partitions: Int
    private var audit: StoreAudit
    private var omitted = 0
    /// The errors of tables that cannot be read. Their rows are missing in the counts.
    private(set) var failures: [StoreError] = []

    /// Starts from the counts of what is not in the engine yet.
    init(_ snapshot: consuming Engine.Snapshot, _ audit: StoreAudit) {
        partitions = snapshot.partitions
        self.snapshot = snapshot
        self.audit = audit
    }

    /// Returns the counts. Records that cannot be read are named and skipped.
    mutating func run() -> StoreAudit {
        walkMeta()
        walkRegistry()
        walkTopics()
        walkMessages()
        if omitted > 0 { audit.unreadable.append("and \(omitted) more") }
        return audit
    }

    private mutating func walkMeta() {
        walk(.meta) { (key, value, audit) throws(RecordFault) in
            guard let partition = MetaKey.partition(ofTally: [UInt8](copying: key)) else { return }
            // The counts in memory are newer: the audit has them already.
            _ = try Tally(reading: value, of: partition)
        }
    }

    private mutating func walkRegistry() {
        // Each device and each installation has a contact row. Without one no search of a partition would find it.
        var rows = (devices: 0, installations: 0)
        walk(.registry) { (key, value, audit) throws(RecordFault) in
            switch RegistryRow(key) {
            case .device(let device):
                rows.devices += 1
                _ = try RegistryRecord.device(value, device)
                audit.devices += 1
            case .registration(let name):
                _ = try RegistryRecord.registration(value, name)
                audit.registrations += 1
            case .subscription(let name, let sender, let topic):
                _ = try SubscriptionRecord.subscription(value, name, sender, topic)
                audit.subscriptions += 1
            case .position: guard value.byteCount == 8 else { throw .length }
            case nil: throw .value
            }
        }
        walk(.senders) { (key, value, audit) throws(RecordFault) in
            guard key.byteCount == 8 else { throw .value }
            _ = try RegistryRecord.sender(value, SenderID(key.bigEndian(at: 0)))
            audit.senders += 1
        }
        walk(.installations) { (key, value, audit) throws(RecordFault) in
            guard key.byteCount == InstallationToken.idLength else {
                guard key.byteCount == InstallationToken.idLength + 16 else { throw .value }
                return
            }
            rows.installations += 1
            _ = try InstallationCodec.installation(value, [UInt8](copying: key))
            audit.installations += 1
        }
        walk(.groups) { (key, value, audit) throws(RecordFault) in
            guard let name = GroupName(key: key) else {
                guard GroupName.isLabel(key), value.byteCount == 8 else { throw .value }
                return
            }
            _ = try GroupCodec.group(value, name)
            audit.groups += 1
        }
        walkContacts(devices: rows.devices, installations: rows.installations)
    }

    private mutating func walkContacts(devices: Int, installations: Int) {
        let partitions = partitions
        var contacts = (devices: 0, installations: 0)
        walk(.contacts) { (key, value, audit) throws(RecordFault) in
            if let contact = DeviceContact(key, value) {
                contacts.devices += 1
                try Self.checkOwner(.device(contact.device), key, partitions)
            } else if let contact = InstallationContact(key, value) {
                contacts.installations += 1
                try Self.checkOwner(.installation(contact.id), key, partitions)
            } else if let entry = ScheduledMessage(key, value) {
                try Self.checkOwner(.device(entry.device), key, partitions)
            } else if let row = try GatewayRow(key, value) {
                try Self.checkOwner(.device(row.device), key, partitions)
            } else {
                throw .value
            }
        }
        if contacts.devices != devices { name("contacts: \(contacts.devices) of \(devices) devices") }
        if contacts.installations != installations {
            name("contacts: \(contacts.installations) of \(installations) installations")
        }
    }

    private mutating func walkTopics() {
        let partitions = partitions
        walk(.fanouts) { (key, value, audit) throws(RecordFault) in
            guard let partition = key.partition, partition < partitions, key.byteCount > 2,
                let row = TopicRow(rawValue: key.byte(at: 2))
            else { throw .value }
            switch (row, TopicMessageName(key: key), SequenceNumber(key: key)) {
            case (.message, let name?, _):
                _ = try TopicRecord.message(value, name)
                try Self.checkOwner(.sender(name.sender), key, partitions)
                audit.topicJobs += 1
            case (.body, let name?, _): _ = try SharedBodyRecord.body(value, .topic(name))
            case (.requestBody, let name?, _):
                _ = try SharedBodyRecord.body(value, .request(name.sender, name.sequence))
            case (.entry, _, let sequence?): _ = try TopicRecord.entry(value, sequence, of: partition)
            case (.progress, _, let sequence?): _ = try TopicRecord.progress(value, sequence, of: partition)
            case (.mark, _, _): guard TopicMark(key, value) != nil else { throw .value }
            case (.gateway, _, _):
                guard TopicKey.topic(of: key.extracting(3..<key.byteCount)) != nil else { throw .value }
                try Self.checkOwner(
                    .device(DeviceID(key.bigEndian(at: key.byteCount - 16))), key, partitions)
            default: throw .value
            }
        }
    }

    private mutating func walkMessages() {
        let partitions = partitions
        walk(.pending) { (key, value, audit) throws(RecordFault) in
            guard key.byteCount == 16 else { throw .value }
            let message = try MessageRecord.message(
                value, device: DeviceID(key.bigEndian(at: 0)), sequence: SequenceNumber(key.bigEndian(at: 8)))
            if message.kind == .message { audit.downstreamPending += 1 }
        }
        walk(.upstream) { (key, value, audit) throws(RecordFault) in
            guard key.byteCount == 16 else { throw .value }
            let message = try UpstreamRecord.upstream(
                value, sender: SenderID(key.bigEndian(at: 0)), sequence: SequenceNumber(key.bigEndian(at: 8)))
            if message.kind == .message { audit.upstreamPending += 1 }
        }
        walk(.expiry) { (key, value, audit) throws(RecordFault) in
            guard let end = ExpiryKey(key: key) else { throw .value }
            try Self.checkOwner(end.owner(in: key.partition ?? 0), key, partitions)
        }
    }

    /// Throws unless a row starts with the number of the partition that owns it. Otherwise that partition never finds the row.
    private static func checkOwner(
        _ owner: PartitionKey, _ key: borrowing RawSpan, _ partitions: Int
    ) throws(RecordFault) {
        guard key.partition == owner.partition(of: partitions) else { throw .value }
    }

    private mutating func walk(
        _ family: Family,
        _ visit: (borrowing RawSpan, borrowing RawSpan, inout StoreAudit) throws(RecordFault) -> Void
    ) {
        let rows = snapshot.cursor(family)
        while rows.isValid {
            do throws(RecordFault) {
                try visit(rows.key, rows.value, &audit)
            } catch { name(RecordNames.name(family, rows.key, error.rawValue)) }
            rows.next()
        }
        do throws(StoreError) {
            try rows.finish()
        } catch {
            name("\(family.word): \(error.description)")
            failures.append(error)
        }
    }

    private mutating func name(_ record: String) {
        if audit.unreadable.count < Limits.Store.unreadableNames {
            audit.unreadable.append(record)
        } else {
            omitted += 1
        }
    }
}
