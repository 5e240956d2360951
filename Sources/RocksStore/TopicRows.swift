import Basics
import Delivery
import Store

/// What stands in the family of messages to topics; the kind comes first, so that those under way lie together.
enum TopicRow: UInt8 {
    /// sender, sequence → job.
    case job = 0
    /// sender, sequence → how far it has come; none: it is at its begin.
    case cursor = 1
    /// sender, sequence, device, number → nothing: a message of the job has been stored for the registration.
    case mark = 2
    /// sender, sequence → what the messages of the job share.
    case body = 3
}

extension Key {
    /// A row of a job; with a registration a mark.
    static func topic(_ row: TopicRow, _ job: TopicJobName, _ name: RegistrationName? = nil) -> Key {
        var key = Key()
        key.append(row.rawValue)
        key.append(job.sender.number)
        key.append(job.sequence.number)
        if let name {
            key.append(name.device.number)
            key.append(name.number.number)
        }
        return key
    }

    /// The first key of a kind.
    static func topic(_ row: TopicRow) -> Key {
        var key = Key()
        key.append(row.rawValue)
        return key
    }
}

extension TopicJobName {
    /// Reads the key of a row that is no mark; nil for any other.
    init?(key: borrowing RawSpan, _ row: TopicRow) {
        guard key.byteCount == 17, key.byte(at: 0) == row.rawValue else { return nil }
        self.init(sender: SenderID(key.bigEndian(at: 1)), sequence: Sequence(key.bigEndian(at: 9)))
    }
}

extension RegistrationName {
    /// Reads the two numbers at a place of a key.
    init(key: borrowing RawSpan, at place: Int) {
        self.init(
            device: DeviceID(key.bigEndian(at: place)),
            number: RegistrationNumber(key.bigEndian(at: place + 8)))
    }
}

extension Commit {
    /// Puts a job and its body, with the end of the latter.
    mutating func put(_ job: TopicJob) {
        TopicRecord.write(job, to: &buffer)
        putRecord(.fanouts, Key.topic(.job, job.name).bytes)
        TopicRecord.writeBody(of: job, to: &buffer)
        putRecord(.fanouts, Key.topic(.body, job.name).bytes)
        putEnd(ExpiryKey(bodyOf: job.name, endsAt: job.bodyEndsAt))
    }

    /// Moves a job on.
    mutating func advance(_ job: TopicJobName, to cursor: TopicCursor, _ marked: [RegistrationName]) {
        TopicRecord.write(cursor, of: job, to: &buffer)
        putRecord(.fanouts, Key.topic(.cursor, job).bytes)
        for name in marked { delete(.fanouts, Key.topic(.mark, job, name).bytes) }
    }

    /// Removes all of a job but its body.
    mutating func remove(_ job: TopicJobName, _ marked: [RegistrationName]) {
        delete(.fanouts, Key.topic(.job, job).bytes)
        delete(.fanouts, Key.topic(.cursor, job).bytes)
        for name in marked { delete(.fanouts, Key.topic(.mark, job, name).bytes) }
    }

    /// Removes the body.
    mutating func removeBody(of job: TopicJobName, _ time: UnixMilliseconds) {
        delete(.fanouts, Key.topic(.body, job).bytes)
        delete(.expiry, Key.expiry(ExpiryKey(bodyOf: job, endsAt: time)).bytes)
    }

    /// Marks that a message of a job has been stored.
    mutating func mark(_ message: StoredMessage) {
        guard let job = message.topic?.job else { return }
        let name = RegistrationName(device: message.device, number: message.registration)
        put(.fanouts, Key.topic(.mark, job, name).bytes, Key().bytes)
    }
}

extension Loading {
    /// A page of those whom a job may go to, without those that have their message.
    mutating func topicPage(
        _ job: TopicJobName, _ topic: TopicName?, after: RegistrationName?, limit: Int
    ) throws(StoreError) -> Loaded {
        var page: TopicPage
        if let topic {
            page = try subscribers(job.sender, topic, after: after, limit: limit)
        } else {
            page = try registrations(of: job.sender, after: after, limit: limit)
        }
        let rows = snapshot.cursor(
            .fanouts, from: Key.topic(.mark, job, after), before: Key.topic(.body))
        while rows.isValid {
            guard rows.key.byteCount == 33 else {
                rows.next()
                continue
            }
            let sender = SenderID(rows.key.bigEndian(at: 1))
            let sequence = Sequence(rows.key.bigEndian(at: 9))
            let name = RegistrationName(key: rows.key, at: 17)
            guard TopicJobName(sender: sender, sequence: sequence) == job else { break }
            if let next = page.next, next < name { break }
            if name != after { page.marked.append(name) }
            rows.next()
        }
        try rows.finish()
        let marked = Set(page.marked)
        page.names.removeAll { marked.contains($0) }
        return .topicPage(job, page)
    }

    /// A page of the subscribers of a topic.
    private func subscribers(
        _ sender: SenderID, _ topic: TopicName, after: RegistrationName?, limit: Int
    ) throws(StoreError) -> TopicPage {
        let head = TopicKey.topic(sender, topic)
        // What follows the NUL is a name: the key behind all of them has a one in its place.
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

    /// The topics from a place on, with how many subscribe to each.
    func topics(from place: TopicPlace?, examine: Int) throws(StoreError) -> TopicCounts {
        let rows = snapshot.cursor(.topics, from: place.map(TopicKey.start) ?? [], before: TopicKey.end)
        var page = TopicCounts(counts: [], next: nil)
        // That of the topic which is being counted; nothing is made of a row that begins with it.
        var head: [UInt8] = []
        var examined = 0
        var last: TopicPlace?
        while rows.isValid, examined < examine {
            examined += 1
            let end = rows.key.byteCount - 16
            if !head.isEmpty, head.count == end, rows.key.extracting(0..<end).equals(head.raw) {
                page.counts[page.counts.count - 1].subscribers += 1
            } else if let (sender, topic) = TopicKey.topic(of: rows.key) {
                head = [UInt8](copying: rows.key.extracting(0..<end))
                page.counts.append(TopicCount(sender: sender, topic: topic, subscribers: 1))
                last = TopicPlace(sender: sender, topic: topic)
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

    /// A page of all registrations that a sender may address; it may be short, since so many rows are looked at only.
    private mutating func registrations(
        of sender: SenderID, after: RegistrationName?, limit: Int
    ) throws(StoreError) -> TopicPage {
        let rows = snapshot.cursor(.registry, from: after.map { Key.registration($0) } ?? Key())
        if let after, rows.isValid, rows.key.equals(Key.registration(after).bytes) { rows.next() }
        var page = TopicPage(names: [], next: nil)
        var met: RegistrationName?
        var examined = 0
        while rows.isValid, examined < Limits.topicScanRows, page.names.count < limit {
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
                // Goes on at the device, should the page end before its first registration.
                if examined == Limits.topicScanRows {
                    met = RegistrationName(device: device, number: RegistrationNumber(0))
                }
            case .subscription(let name, _, _):
                // All registrations of the device have been passed.
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

    /// Jobs that are not done.
    mutating func topicJobs(after: TopicJobName?, limit: Int) throws(StoreError) -> Loaded {
        let rows = snapshot.cursor(
            .fanouts, from: after.map { Key.topic(.job, $0) } ?? Key.topic(.job), before: Key.topic(.cursor))
        var jobs: [TopicJob] = []
        while rows.isValid, jobs.count < limit {
            if let name = TopicJobName(key: rows.key, .job), name != after {
                if var job = try? TopicRecord.job(rows.value, name),
                    let shared = try shared(by: name), let cursor = try cursor(of: name)
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

    /// What the messages of a job share; nil: it is gone, or cannot be read.
    func shared(by job: TopicJobName) throws(StoreError) -> SharedBody? {
        let key = Key.topic(.body, job)
        let rows = snapshot.cursor(.fanouts, from: key)
        var found: SharedBody?
        if rows.isValid, rows.key.equals(key.bytes) { found = try? TopicRecord.body(rows.value, job) }
        try rows.finish()
        return found
    }

    /// How far a job has come; nil: it cannot be read.
    private func cursor(of job: TopicJobName) throws(StoreError) -> TopicCursor? {
        let key = Key.topic(.cursor, job)
        let rows = snapshot.cursor(.fanouts, from: key)
        var found: TopicCursor? = TopicCursor()
        if rows.isValid, rows.key.equals(key.bytes) { found = try? TopicRecord.cursor(rows.value, job) }
        try rows.finish()
        return found
    }

    /// Gives the messages of a page what they share with others; those whose share is gone are left out.
    mutating func join(_ page: [StoredMessage]) throws(StoreError) -> [StoredMessage] {
        guard page.contains(where: { $0.topic != nil }) else { return page }
        var joined: [StoredMessage] = []
        for var message in page {
            if let job = message.topic?.job {
                guard let shared = try shared(by: job) else {
                    unreadable += 1
                    continue
                }
                message.topic = shared.origin
                message.text = MessageText(
                    messageID: message.messageID, collapseKey: message.collapseKey, body: shared.body,
                    apns: shared.apns)
            }
            joined.append(message)
        }
        return joined
    }
}
