import Basics
import Delivery
import Store

/// Loads of topic messages and of who they are for.
extension SnapshotReader {
    /// Returns topics with their numbers of subscribers, from a position on.
    func topics(from position: SubscriberPosition?, examine: Int) throws(StoreError) -> TopicCounts {
        let rows = snapshot.cursor(.topics, from: position.map(TopicKey.start) ?? [], before: TopicKey.end)
        var page = TopicCounts(counts: [], next: nil)
        // The key prefix of the current topic: a further row with it is counted without being decoded.
        var head: [UInt8] = []
        var examined = 0
        var last: SubscriberPosition?
        while rows.isValid, examined < examine {
            examined += 1
            let end = rows.key.byteCount - 16
            if !head.isEmpty, head.count == end, rows.key.extracting(0..<end).equals(head.raw) {
                page.counts[page.counts.count - 1].subscribers += 1
            } else if let (sender, topic) = TopicKey.topic(of: rows.key) {
                head = [UInt8](copying: rows.key.extracting(0..<end))
                page.counts.append(TopicCount(sender: sender, topic: topic, subscribers: 1))
                last = SubscriberPosition(sender: sender, topic: topic)
            }
            if examined == examine, end > 0 {
                last?.after = RegistrationName(key: rows.key, at: end)
            }
            rows.next()
        }
        if rows.isValid { page.next = last }
        try rows.finish()
        return page
    }

    /// Returns the tokens of subscribers of a topic, from a position on.
    func subscribers(from position: SubscriberPosition, limit: Int) throws(StoreError) -> [TokenName] {
        guard let topic = position.topic else { return [] }
        let head = TopicKey.topic(position.sender, topic)
        // The end of the range has 1 in place of the NUL.
        let rows = snapshot.cursor(.topics, from: TopicKey.start(position), before: head.dropLast() + [1])
        let registry = snapshot.cursor(.registry)
        var found: [TokenName] = []
        while rows.isValid, found.count < limit {
            if rows.key.byteCount == head.count + 16 {
                let name = RegistrationName(key: rows.key, at: head.count)
                let key = Key.registration(name)
                registry.seek(key)
                if registry.isValid, registry.key.equals(key.bytes),
                    let registration = try? RegistryRecord.registration(registry.value, name)
                {
                    found.append(registration.tokenName)
                }
            }
            rows.next()
        }
        try rows.finish()
        try registry.finish()
        return found
    }

    /// Returns topic messages of a partition that not all partitions have.
    mutating func topicMessages(
        after: TopicMessageName?, limit: Int, of partition: Int
    ) throws(StoreError) -> StoreResult {
        let rows = snapshot.cursor(
            .fanouts,
            from: after.map { Key.topic(.message, $0, of: partition) } ?? Key.topics(.message, of: partition),
            before: Key.topicsEnd(.message, of: partition))
        let bodies = snapshot.cursor(.fanouts)
        var page: [TopicMessage] = []
        while rows.isValid, page.count < limit {
            let name = TopicMessageName(key: rows.key)
            if name == nil || name != after {
                if let name, var message = try? TopicRecord.message(rows.value, name),
                    case .success(let shared)? = shared(by: .topic(name), in: partition, bodies)
                {
                    message.body = shared.body
                    message.apns = shared.apns
                    page.append(message)
                } else {
                    unreadable += 1
                }
            }
            rows.next()
        }
        let isLast = !rows.isValid
        try rows.finish()
        try bodies.finish()
        return .topicMessages(page, isLast: isLast)
    }

    /// Returns entries of the log of a partition, with all of its marks.
    mutating func topicEntries(
        after: SequenceNumber, limit: Int, of partition: Int
    ) throws(StoreError) -> StoreResult {
        var page: [TopicEntry] = []
        let end = Key.topicsEnd(.entry, of: partition)
        let rows = snapshot.cursor(.fanouts, from: Key.topic(.entry, after, of: partition), before: end)
        let states = snapshot.cursor(.fanouts)
        while rows.isValid, page.count < limit {
            let sequence = SequenceNumber(key: rows.key)
            if sequence != after {
                if let sequence, var entry = try? TopicRecord.entry(rows.value, sequence, of: partition),
                    let progress = progress(at: sequence, in: partition, states)
                {
                    entry.progress = progress
                    page.append(entry)
                } else {
                    unreadable += 1
                }
            }
            rows.next()
        }
        let isLast = !rows.isValid
        try rows.finish()
        try states.finish()
        return .topicEntries(page, marks: try topicMarks(of: partition), isLast: isLast)
    }

    /// Returns what has become of an entry. Returns `nil` if it cannot be read.
    private func progress(
        at sequence: SequenceNumber, in partition: Int, _ rows: borrowing Cursor
    ) -> TopicProgress? {
        let key = Key.topic(.progress, sequence, of: partition)
        rows.seek(key)
        guard rows.isValid, rows.key.equals(key.bytes) else { return TopicProgress() }
        return try? TopicRecord.progress(rows.value, sequence, of: partition)
    }

    private mutating func topicMarks(of partition: Int) throws(StoreError) -> [TopicMark] {
        let rows = snapshot.cursor(
            .fanouts, from: Key.topics(.mark, of: partition), before: Key.topicsEnd(.mark, of: partition))
        var marks: [TopicMark] = []
        while rows.isValid {
            if let mark = TopicMark(rows.key, rows.value), mark.source < snapshot.partitions {
                marks.append(mark)
            } else {
                unreadable += 1
            }
            rows.next()
        }
        try rows.finish()
        return marks
    }

    /// Returns devices of a partition with iOS apps that subscribe to a topic, or with `nil` that a sender may address.
    mutating func topicDevices(
        _ sender: SenderID, _ topic: TopicName?, after: DeviceID?, limit: Int, of partition: Int
    ) throws(StoreError) -> StoreResult {
        guard let topic else { return try devicesWithApps(for: sender, after, limit, of: partition) }
        let head = TopicKey.gateway(sender, topic, of: partition)
        let last = RegistrationNumber(.max)
        let start = after.map { device in
            let name = RegistrationName(device: device, number: last)
            let subscription = Subscription(name: name, sender: sender, topic: topic, since: 0)
            return TopicKey.gateway(subscription, of: partition) + [0]
        }
        // The end of the range has 1 in place of the NUL.
        let rows = snapshot.cursor(.fanouts, from: start ?? head, before: head.dropLast() + [1])
        var found: [DeviceID] = []
        while rows.isValid {
            let device =
                rows.key.byteCount == head.count + 16 ? DeviceID(rows.key.bigEndian(at: head.count)) : nil
            if let device, PartitionKey.device(device).partition(of: snapshot.partitions) == partition {
                if device != found.last {
                    guard found.count < limit else { break }
                    found.append(device)
                }
            } else {
                unreadable += 1
            }
            rows.next()
        }
        let next = rows.isValid ? found.last : nil
        try rows.finish()
        return .topicDevices(found, next: next)
    }

    /// Reads some `Limits.Topic.scanRows` rows.
    private mutating func devicesWithApps(
        for sender: SenderID, _ after: DeviceID?, _ limit: Int, of partition: Int
    ) throws(StoreError) -> StoreResult {
        let contacts = snapshot.cursor(
            .contacts, from: Key.contact(after ?? .lowest, of: partition),
            before: Key.contactsEnd(.device, of: partition))
        let rows = registry.take() ?? snapshot.owners(.registry)
        var found: [DeviceID] = []
        var (examined, last) = (0, after)
        while contacts.isValid, examined < Limits.Topic.scanRows, found.count < limit {
            examined += 1
            if let device = DeviceContact(contacts.key, contacts.value)?.device,
                PartitionKey.device(device).partition(of: snapshot.partitions) == partition
            {
                if device != after {
                    if try hasApp(device, for: sender, rows, &examined) { found.append(device) }
                    last = device
                }
            } else {
                unreadable += 1
            }
            contacts.next()
        }
        let next = contacts.isValid ? last : nil
        try contacts.finish()
        registry = consume rows
        return .topicDevices(found, next: next)
    }

    /// Returns whether a device has an iOS app that a sender may address. Adds the rows that it reads.
    private mutating func hasApp(
        _ device: DeviceID, for sender: SenderID, _ rows: borrowing Cursor, _ examined: inout Int
    ) throws(StoreError) -> Bool {
        rows.seek(owner: device.number)
        while rows.isValid {
            examined += 1
            switch RegistryRow(rows.key) {
            case .registration(let name):
                if let registration = try? RegistryRecord.registration(rows.value, name) {
                    if registration.usesAPNs, registration.allows(sender) { return true }
                } else {
                    unreadable += 1
                }
            // They follow all registrations.
            case .subscription, .position: return false
            case .device, nil: break
            }
            rows.next()
        }
        try rows.finish()
        return false
    }

    /// Returns shared pairs of a partition. Returns `nil` if it does not have them.
    private func shared(
        by name: SharedBodyName, in partition: Int, _ rows: borrowing Cursor
    ) -> Result<SharedBody, RecordFault>? {
        let key = Key.sharedBody(name, of: partition)
        rows.seek(key)
        guard rows.isValid, rows.key.equals(key.bytes) else { return nil }
        do throws(RecordFault) { return .success(try SharedBodyRecord.body(rows.value, name)) } catch {
            return .failure(error)
        }
    }

    /// Adds the pairs that the messages of a page of a device share. A message whose pairs are not there, or cannot be read, stays
    /// without them (`StoredMessage.hasBody`).
    mutating func join(_ page: [StoredMessage], of device: DeviceID) throws(StoreError) -> [StoredMessage] {
        guard page.contains(where: { $0.shared != nil }) else { return page }
        let partition = PartitionKey.device(device).partition(of: snapshot.partitions)
        let bodies = snapshot.cursor(.fanouts)
        var joined = page
        for at in joined.indices {
            guard let name = joined[at].shared?.name else { continue }
            switch shared(by: name, in: partition, bodies) {
            case .success(let shared)?:
                joined[at].shared = shared.reference
                joined[at].fields = shared.joined(to: joined[at].fields)
            case .failure?: unreadable += 1
            case nil: break
            }
        }
        try bodies.finish()
        return joined
    }
}
