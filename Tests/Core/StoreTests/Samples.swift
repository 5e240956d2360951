import Basics
import Delivery
import Store

/// Sample values with the fields that a test sets.
enum Samples {
    static let day: UnixMilliseconds = 86_400_000
    static let now: UnixMilliseconds = 1_700_000_000_000

    static func message(
        _ device: UInt64, _ sequence: UInt64, ends: UnixMilliseconds = now + day,
        kind: StoredMessage.Kind = .message, key: String? = nil, body: [UInt8] = [1, 2, 3]
    ) -> StoredMessage {
        StoredMessage(
            device: DeviceID(device), sequence: SequenceNumber(sequence),
            salt: UInt32(truncatingIfNeeded: sequence),
            registration: RegistrationNumber(7),
            sender: kind == .message || kind.isReport ? SenderID(42) : nil, kind: kind,
            messageID: Array("m-\(sequence)".utf8), collapseKey: key.map { Array($0.utf8) },
            acceptedAt: now, expiresAt: ends, priority: sequence % 2 == 0 ? .high : .normal,
            wantsReceipt: sequence % 3 == 0, delaysWhileIdle: sequence % 5 == 0, body: body)
    }

    static func upstream(
        _ sender: UInt64, _ sequence: UInt64, device: UInt64 = 5, persistentID: String = "",
        messageID: String? = nil, body: [UInt8] = [9, 8, 7],
        category: String = "com.example", ends: UnixMilliseconds = now + day,
        kind: StoredUpstream.Kind = .message
    ) -> StoredUpstream {
        StoredUpstream(
            sender: SenderID(sender), sequence: SequenceNumber(sequence), kind: kind,
            from: RegistrationName(device: DeviceID(device), number: RegistrationNumber(1)),
            isFCMDomain: sequence % 2 == 0, category: Array(category.utf8),
            messageID: Array((messageID ?? "u-\(persistentID.isEmpty ? "\(sequence)" : persistentID)").utf8),
            persistentID: Array(persistentID.utf8), expiresAt: ends, lifetimeSeconds: 3_600, body: body)
    }

    static func device(_ number: UInt64, seenAt: UnixMilliseconds = now) -> DeviceRecord {
        DeviceRecord(
            device: DeviceID(number), token: digest(UInt8(truncatingIfNeeded: number)), createdAt: now,
            seenAt: seenAt, nextRegistration: 3)
    }

    static func registration(_ device: UInt64, _ number: UInt64) -> Registration {
        Registration(
            name: RegistrationName(device: DeviceID(device), number: RegistrationNumber(number)),
            category: Array("com.example.\(number)".utf8), subtype: [], senderText: Array("42".utf8),
            sender: SenderID(42), createdAt: now)
    }

    static func sender(_ number: UInt64, label: String = "Läden") -> SenderRecord {
        SenderRecord(
            sender: SenderID(number), label: label,
            keys: [
                ServerKey(digest: digest(1), createdAt: now, expiresAt: now + day),
                ServerKey(
                    digest: digest(2), createdAt: now,
                    scram: SCRAMVerifier(
                        storedKey: [UInt8](repeating: 3, count: 32),
                        serverKey: [UInt8](repeating: 4, count: 32), salt: [5, 6, 7], iterations: 4_096)),
            ], createdAt: now, isSuspended: number % 2 == 1)
    }

    /// Names of topics: one is a prefix of another, and they have the lowest and the highest allowed characters.
    static let topics: [TopicName] = ["news", "news%", "~"].compactMap { TopicName(Array($0.utf8)) }
    static let topicSenders = [SenderID(42), SenderID(43)]
    /// Returns the record of an installation.
    static func installation(
        _ id: [UInt8], usedAt: UnixMilliseconds = 5, isEnded: Bool = false
    ) -> InstallationRecord {
        InstallationRecord(
            id: id, sender: SenderID(42),
            refresh: isEnded ? nil : SecretDigest(bytes: [UInt8](repeating: 7, count: 32)), createdAt: -3,
            usedAt: usedAt)
    }

    static let installations = ["cGFzc3dvcmQ_aGVsbG8tdw", "cGFzc3dvcmQ_aGVsbG8tdx"].map { Array($0.utf8) }

    /// Returns the name of a topic message.
    static func topicName(_ sender: UInt64 = 42, _ sequence: UInt64 = 1) -> TopicMessageName {
        TopicMessageName(sender: SenderID(sender), sequence: SequenceNumber(sequence))
    }

    /// Returns a topic message, with a part for APNs if its sequence is odd.
    static func topicMessage(
        _ sender: UInt64 = 42, _ sequence: UInt64 = 1, target: TopicTarget = TopicTarget(topics[0]),
        lifetime: Int64 = 60_000
    ) -> TopicMessage {
        TopicMessage(
            name: topicName(sender, sequence), salt: 9, target: target, messageID: Array("m-1".utf8),
            acceptedAt: now, expiresAt: now + lifetime, body: Array("pairs of \(sequence)".utf8),
            apns: sequence % 2 == 0 ? nil : Array("{}".utf8))
    }

    /// Returns the pairs of a request to many, with a part for APNs if its sequence is odd.
    static func requestBody(_ sequence: UInt64 = 1) -> SharedBody {
        SharedBody(
            reference: SharedReference(.request(SenderID(42), SequenceNumber(sequence))),
            body: Array("pairs of request \(sequence)".utf8),
            apns: sequence % 2 == 0 ? nil : Array("{}".utf8))
    }

    /// Returns a mailbox entry that shares such pairs, with them.
    static func copy(of shared: SharedBody, _ device: UInt64, _ sequence: UInt64) -> StoredMessage {
        var message = message(device, sequence, ends: now + 60_000, body: shared.body)
        message.sender = shared.reference.name.sender
        message.shared = shared.reference
        message.apns = shared.apns
        return message
    }

    /// Returns the mailbox entry of a topic message, with its pairs.
    static func copy(of shared: TopicMessage, _ device: UInt64, _ sequence: UInt64) -> StoredMessage {
        var message = message(device, sequence, ends: shared.expiresAt, body: shared.body)
        message.sender = shared.name.sender
        message.shared = SharedReference(.topic(shared.name), path: shared.target.path)
        message.apns = shared.apns
        return message
    }

    static func subscription(
        _ device: UInt64, _ number: UInt64, topic: Int = 0, sender: UInt64? = nil,
        since: UnixMilliseconds = now
    ) -> Subscription {
        Subscription(
            name: RegistrationName(device: DeviceID(device), number: RegistrationNumber(number)),
            sender: SenderID(sender ?? 42 + device % 2), topic: topics[topic], since: since)
    }

    static func group(_ sender: UInt64, _ number: UInt64, members: UInt64 = 1) -> GroupRecord {
        GroupRecord(
            name: GroupName(sender: SenderID(sender), number: number), label: Array("group \(number)".utf8),
            members: (1...members).map {
                TokenName(RegistrationName(device: DeviceID($0), number: RegistrationNumber($0)))
            }, createdAt: now)
    }

    static func keys(_ byte: UInt8) -> WebKeys? {
        WebKeys(
            publicKey: [4] + [UInt8](repeating: byte, count: 64), auth: [UInt8](repeating: byte, count: 16))
    }

    static func digest(_ byte: UInt8) -> SecretDigest {
        SecretDigest(bytes: [UInt8](repeating: byte, count: 32))
    }

    static func batch(_ mutations: Mutation..., batchNumber: UInt64 = 1, durable: Bool = true) -> WriteBatch {
        WriteBatch(batchNumber: batchNumber, mutations: mutations, isDurable: durable)
    }
}

extension Store {
    /// Returns topic messages of a partition's senders that not all partitions have.
    func topicMessages(
        of partition: Int, after: TopicMessageName? = nil, limit: Int = 1_000
    ) throws -> [TopicMessage] {
        guard
            case .topicMessages(let page, let isLast) = try load(
                .topicMessages(after: after, limit: limit, partition: partition)),
            isLast || page.count == limit
        else { throw StoreError(.corrupt, "another answer") }
        return page
    }

    /// Returns entries of the log of a partition, and its marks.
    func topicLog(
        of partition: Int, after: UInt64 = 0, limit: Int = 1_000
    ) throws -> (entries: [TopicEntry], marks: [TopicMark]) {
        guard
            case .topicEntries(let page, let marks, let isLast) = try load(
                .topicEntries(after: SequenceNumber(after), limit: limit, partition: partition)),
            isLast || page.count == limit
        else { throw StoreError(.corrupt, "another answer") }
        return (page, marks)
    }

    /// Returns all devices of a partition with iOS apps that a topic message may be for, read in pages.
    func topicDevices(
        _ sender: UInt64, _ topic: TopicName?, of partition: Int, limit: Int = 2
    ) throws -> [DeviceID] {
        var found: [DeviceID] = []
        var after: DeviceID?
        repeat {
            guard
                case .topicDevices(let page, let next) = try load(
                    .topicDevices(
                        SenderID(sender), of: topic, after: after, limit: limit, partition: partition)),
                next != after || next == nil
            else { throw StoreError(.corrupt, "another answer") }
            found += page
            after = next
        } while after != nil
        return found
    }

    func registrations(of installation: [UInt8]) throws -> [RegistrationName]? {
        guard
            case .installation(installation, _, let names, _) = try load(
                .installation(installation, limit: 1_000, isForChange: false))
        else { return nil }
        return names
    }

    func record(of installation: [UInt8]) throws -> InstallationRecord? {
        guard
            case .installation(_, let record, _, _) = try load(
                .installation(installation, limit: 1, isForChange: true))
        else { return nil }
        return record
    }

    /// Commits one batch and returns its outcome.
    @discardableResult
    func apply(_ mutations: Mutation..., batchNumber: UInt64 = 1, durable: Bool = true) throws
        -> CommitOutcome
    {
        let outcomes = try commit([
            WriteBatch(batchNumber: batchNumber, mutations: mutations, isDurable: durable)
        ])
        return outcomes[0]
    }

    func mailbox(_ device: UInt64, after: UInt64 = 0, limit: Int = 1_000) throws -> [StoredMessage] {
        guard
            case .messages(_, let page, _) = try load(
                .messages(DeviceID(device), after: SequenceNumber(after), limit: limit))
        else { return [] }
        return page
    }

    func outbox(_ sender: UInt64, after: UInt64 = 0, limit: Int = 1_000) throws -> [StoredUpstream] {
        guard
            case .upstream(_, let page, _) = try load(
                .upstream(SenderID(sender), after: SequenceNumber(after), limit: limit))
        else { return [] }
        return page
    }

    func state(_ device: UInt64) throws -> DeviceState? {
        guard case .device(let state) = try load(.device(DeviceID(device))) else { return nil }
        return state
    }

    /// Returns the entries of all partitions that expire by a time, in order.
    func expired(by time: UnixMilliseconds, limit: Int = 100_000) throws -> [ExpiredEntry] {
        var all: [ExpiredEntry] = []
        for partition in 0..<partitions {
            let load = StoreQuery.expired(by: time, limit: limit, partition: partition)
            guard case .expired(let entries) = try self.load(load) else { return [] }
            let isOrdered = zip(entries, entries.dropFirst()).allSatisfy { $0.end < $1.end }
            let isOwn = entries.allSatisfy { $0.key.partition(of: partitions) == partition }
            guard isOrdered, isOwn, entries.count <= limit else {
                throw StoreError(
                    .corrupt, "unordered, foreign or surplus entries of partition \(partition): \(entries)")
            }
            all += entries
        }
        return Array(all.sorted { ($0.end, $0.partition) < ($1.end, $1.partition) }.prefix(limit))
    }
}

extension ExpiredEntry {
    /// The partition of the pairs of a topic message; 0 for messages.
    var partition: Int {
        guard case .sharedBody(_, let partition, _) = self else { return 0 }
        return partition
    }

    /// The key of the entry in the expiry index.
    var end: ExpiryKey {
        switch self {
        case .message(let device, let sequence, let time):
            ExpiryKey(time: time, kind: .message, owner: device.number, sequence: sequence.number)
        case .upstream(let sender, let sequence, let time, _):
            ExpiryKey(time: time, kind: .upstream, owner: sender.number, sequence: sequence.number)
        case .sharedBody(let name, _, let time): ExpiryKey(bodyOf: name, endsAt: time)
        case .scheduled(let device, let sequence, let time):
            ExpiryKey(scheduled: device, sequence, dueAt: time)
        }
    }
}
