import Basics
import Delivery
import Store

/// The rows of the column family `fanouts`. The key starts with partition and kind, so that the unfinished jobs of a partition are
/// adjacent.
enum TopicRow: UInt8 {
    /// sender, sequence → job.
    case job = 0
    /// sender, sequence → cursor. Without this row the job is at its start.
    case cursor = 1
    /// sender, sequence, device, number → empty: a message of the job was stored for the registration.
    case mark = 2
    /// sender, sequence → shared body.
    case body = 3

    /// Length of the key of a mark.
    static let markBytes = 35
}

extension Key {
    /// Returns the key of a row of a job. With a registration it is the key of a mark.
    static func topic(
        _ row: TopicRow, _ job: TopicJobName, _ name: RegistrationName? = nil, among partitions: Int
    ) -> Key {
        var key = Key.topics(row, of: PartitionKey.sender(job.sender).partition(of: partitions))
        key.append(job.sender.number)
        key.append(job.sequence.number)
        if let name {
            key.append(name.device.number)
            key.append(name.number.number)
        }
        return key
    }

    /// Returns the start of the rows of one kind in a partition.
    static func topics(_ row: TopicRow, of partition: Int) -> Key {
        var key = Key.partition(partition)
        key.append(row.rawValue)
        return key
    }
}

extension TopicJobName {
    /// Reads the key of a row other than a mark. Returns `nil` for any other key.
    init?(key: borrowing RawSpan, _ row: TopicRow) {
        guard key.byteCount == 19, key.byte(at: 2) == row.rawValue else { return nil }
        self.init(key: key)
    }

    /// Reads the key of any row.
    fileprivate init(key: borrowing RawSpan) {
        self.init(sender: SenderID(key.bigEndian(at: 3)), sequence: SequenceNumber(key.bigEndian(at: 11)))
    }
}

extension RegistrationName {
    /// Reads the two numbers at an offset of a key.
    init(key: borrowing RawSpan, at offset: Int) {
        self.init(
            device: DeviceID(key.bigEndian(at: offset)),
            number: RegistrationNumber(key.bigEndian(at: offset + 8)))
    }
}

extension Commit {
    private func key(_ row: TopicRow, _ job: TopicJobName, _ name: RegistrationName? = nil) -> Key {
        Key.topic(row, job, name, among: partitions)
    }

    /// Puts a job, its body, and the expiry entry of the body.
    mutating func put(_ job: TopicJob) throws(StoreError) {
        try job.demandStorable()
        TopicRecord.write(job, to: &buffer)
        putRecord(.fanouts, key(.job, job.name).bytes)
        TopicRecord.writeBody(of: job, to: &buffer)
        putRecord(.fanouts, key(.body, job.name).bytes)
        putExpiry(ExpiryKey(bodyOf: job.name, endsAt: job.bodyEndsAt))
    }

    /// Moves the cursor of a job, and removes marks before it.
    mutating func advance(
        _ job: TopicJobName, to cursor: TopicCursor, _ marked: [RegistrationName]
    ) throws(StoreError) {
        try cursor.demandStorable()
        TopicRecord.write(cursor, of: job, to: &buffer)
        putRecord(.fanouts, key(.cursor, job).bytes)
        for name in marked { delete(.fanouts, key(.mark, job, name).bytes) }
    }

    /// Removes a job with its cursor and marks. Its body stays.
    mutating func remove(_ job: TopicJobName, _ marked: [RegistrationName]) {
        delete(.fanouts, key(.job, job).bytes)
        delete(.fanouts, key(.cursor, job).bytes)
        for name in marked { delete(.fanouts, key(.mark, job, name).bytes) }
    }

    /// Removes the body of a job and its expiry entry.
    mutating func removeBody(of job: TopicJobName, _ time: UnixMilliseconds) {
        delete(.fanouts, key(.body, job).bytes)
        deleteExpiry(ExpiryKey(bodyOf: job, endsAt: time))
    }

    /// Marks the registration of a message, if the message belongs to a job.
    mutating func mark(_ message: StoredMessage) {
        guard let job = message.topic?.job else { return }
        let name = RegistrationName(device: message.device, number: message.registration)
        put(.fanouts, key(.mark, job, name).bytes, Key().bytes)
    }
}

extension SnapshotReader {
    private func key(_ row: TopicRow, _ job: TopicJobName, _ name: RegistrationName? = nil) -> Key {
        Key.topic(row, job, name, among: snapshot.partitions)
    }

    /// Returns a page of the recipients of a job, without those for which a message was stored.
    mutating func topicPage(
        _ job: TopicJobName, _ topic: TopicName?, after: RegistrationName?, limit: Int
    ) throws(StoreError) -> StoreResult {
        var page: TopicPage
        if let topic {
            page = try subscribers(job.sender, topic, after: after, limit: limit)
        } else {
            page = try registrations(of: job.sender, after: after, limit: limit)
        }
        let partition = PartitionKey.sender(job.sender).partition(of: snapshot.partitions)
        let rows = snapshot.cursor(
            .fanouts, from: key(.mark, job, after), before: Key.topics(.body, of: partition))
        while rows.isValid {
            guard rows.key.byteCount == TopicRow.markBytes else {
                rows.next()
                continue
            }
            let name = RegistrationName(key: rows.key, at: 19)
            guard TopicJobName(key: rows.key) == job else { break }
            if let next = page.next, next < name { break }
            if name != after { page.marked.append(name) }
            rows.next()
        }
        try rows.finish()
        let marked = Set(page.marked)
        page.names.removeAll { marked.contains($0) }
        return .topicPage(job, page)
    }

    /// Returns a page of the subscribers of a topic.
    private func subscribers(
        _ sender: SenderID, _ topic: TopicName, after: RegistrationName?, limit: Int
    ) throws(StoreError) -> TopicPage {
        let head = TopicKey.topic(sender, topic)
        // The end of the range has 1 in place of the NUL.
        let end = head.dropLast() + [1]
        let start = after.map { TopicKey.subscriber(sender, topic, $0) + [0] } ?? head
        let rows = snapshot.cursor(.topics, from: start, before: Array(end))
        var page = TopicPage(names: [], next: nil)
        while rows.isValid, page.names.count < limit {
            if rows.key.byteCount == head.count + 16 {
                page.names.append(RegistrationName(key: rows.key, at: head.count))
            }
            rows.next()
        }
        if rows.isValid { page.next = page.names.last }
        try rows.finish()
        return page
    }

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

    /// Returns a page of all registrations that a sender may address. It may be short: it reads up to `Limits.Topic.scanRows` rows.
    private mutating func registrations(
        of sender: SenderID, after: RegistrationName?, limit: Int
    ) throws(StoreError) -> TopicPage {
        let rows = snapshot.cursor(.registry, from: after.map { Key.registration($0) } ?? Key())
        if let after, rows.isValid, rows.key.equals(Key.registration(after).bytes) { rows.next() }
        var page = TopicPage(names: [], next: nil)
        var met: RegistrationName?
        var examined = 0
        while rows.isValid, examined < Limits.Topic.scanRows, page.names.count < limit {
            examined += 1
            switch RegistryRow(rows.key) {
            case .registration(let name):
                met = name
                if let registration = try? RegistryRecord.registration(rows.value, name) {
                    if registration.allows(sender) { page.names.append(name) }
                } else {
                    unreadable += 1
                }
            case .device(let device):
                // The next page starts at this device if this page ends before its first registration.
                if examined == Limits.Topic.scanRows {
                    met = RegistrationName(device: device, number: RegistrationNumber(0))
                }
            case .subscription(let name, _, _):
                // Subscriptions follow all registrations of a device.
                guard let next = Key.after(name.device.number) else { break }
                rows.seek(next)
                continue
            case nil: break
            }
            rows.next()
        }
        if rows.isValid, limit > 0 { page.next = met ?? after }
        try rows.finish()
        return page
    }

    /// Returns unfinished jobs of a partition.
    mutating func topicJobs(
        after: TopicJobName?, limit: Int, of partition: Int
    ) throws(StoreError) -> StoreResult {
        let rows = snapshot.cursor(
            .fanouts, from: after.map { key(.job, $0) } ?? Key.topics(.job, of: partition),
            before: Key.topics(.cursor, of: partition))
        var jobs: [TopicJob] = []
        while rows.isValid, jobs.count < limit {
            if let name = TopicJobName(key: rows.key, .job), name != after {
                if var job = try? TopicRecord.job(rows.value, name),
                    case .success(let shared)? = try shared(by: name), let cursor = try cursor(of: name)
                {
                    job.body = shared.body
                    job.apns = shared.apns
                    job.cursor = cursor
                    jobs.append(job)
                } else {
                    unreadable += 1
                }
            }
            rows.next()
        }
        let isLast = !rows.isValid
        try rows.finish()
        return .topicJobs(jobs, isLast: isLast)
    }

    /// Returns the shared body of a job. Returns `nil` if there is none.
    func shared(by job: TopicJobName) throws(StoreError) -> Result<SharedBody, RecordFault>? {
        let key = key(.body, job)
        let rows = snapshot.cursor(.fanouts, from: key)
        var found: Result<SharedBody, RecordFault>?
        if rows.isValid, rows.key.equals(key.bytes) {
            do throws(RecordFault) { found = .success(try TopicRecord.body(rows.value, job)) } catch {
                found = .failure(error)
            }
        }
        try rows.finish()
        return found
    }

    /// Returns the cursor of a job. Returns `nil` if it cannot be read.
    private func cursor(of job: TopicJobName) throws(StoreError) -> TopicCursor? {
        let key = key(.cursor, job)
        let rows = snapshot.cursor(.fanouts, from: key)
        var found: TopicCursor? = TopicCursor()
        if rows.isValid, rows.key.equals(key.bytes) { found = try? TopicRecord.cursor(rows.value, job) }
        try rows.finish()
        return found
    }

    /// Adds the shared bodies to the messages of a page.
    ///
    /// A message whose body is not there stays without it (`StoredMessage.hasBody`): the bodies are in the log of another partition,
    /// of which a node of a cluster may have applied less. One that cannot be read is the same to the device, and is counted.
    mutating func join(_ page: [StoredMessage]) throws(StoreError) -> [StoredMessage] {
        guard page.contains(where: { $0.topic != nil }) else { return page }
        var joined = page
        for at in joined.indices {
            guard let job = joined[at].topic?.job else { continue }
            switch try shared(by: job) {
            case .success(let shared)?:
                joined[at].topic = shared.reference
                joined[at].fields = MessageFields(
                    messageID: joined[at].messageID, collapseKey: joined[at].collapseKey, body: shared.body,
                    apns: joined[at].apns == nil ? nil : shared.apns ?? [])
            case .failure?: unreadable += 1
            case nil: break
            }
        }
        return joined
    }
}
