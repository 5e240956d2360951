public import Basics
public import Delivery

/// The part that the messages of a topic job share.
public struct SharedBody: Sendable, Equatable {
    /// The job, and the `from` of its messages.
    public var reference: TopicReference
    /// The key-value pairs.
    public var body: EncodedAppData
    /// See `MessageFields`.
    public var apns: [UInt8]?
}

/// Encodes and decodes topic jobs: the job, its cursor, and the body that its messages share.
///
/// They are three records because the job is removed early, the cursor changes often, and the body stays long.
public enum TopicRecord {
    private static let version: UInt8 = 1

    private struct Flags: OptionSet {
        let rawValue: UInt8
        static let collapses = Flags(rawValue: 1)
        static let high = Flags(rawValue: 2)
        static let wantsReceipt = Flags(rawValue: 4)
        static let delays = Flags(rawValue: 8)
        static let restricted = Flags(rawValue: 16)
        static let condition = Flags(rawValue: 32)
        static let all: Flags = [.collapses, .high, .wantsReceipt, .delays, .restricted, .condition]
    }

    /// Replaces the content of a buffer with the record of a job, without its body and its cursor.
    public static func write(_ job: TopicJob, to buffer: inout ByteBuffer) {
        var flags: Flags = []
        if job.collapseKey != nil { flags.insert(.collapses) }
        if job.priority == .high { flags.insert(.high) }
        if job.wantsReceipt { flags.insert(.wantsReceipt) }
        if job.delaysWhileIdle { flags.insert(.delays) }
        if job.restrictedPackage != nil { flags.insert(.restricted) }
        if job.target.isCondition { flags.insert(.condition) }
        var writer = RecordWriter(buffer, version: version, place: place(.topicJob, job.name))
        writer.byte(flags.rawValue)
        writer.number(UInt64(job.salt))
        writer.signed(job.acceptedAt)
        writer.signed(job.expiresAt)
        writer.bytes(job.messageID)
        if let key = job.collapseKey { writer.bytes(key) }
        if let package = job.restrictedPackage { writer.bytes(package) }
        if job.target.isCondition { writer.number(UInt64(job.target.truth)) }
        writer.number(UInt64(job.target.topics.count))
        for topic in job.target.topics { writer.bytes(topic.bytes) }
        buffer = writer.finish()
    }

    /// Returns the job in a record, without a body and with its cursor at the start. Throws `RecordFault` if it cannot be read.
    public static func job(
        _ bytes: borrowing RawSpan, _ name: TopicJobName
    ) throws(RecordFault) -> TopicJob {
        var reader = try RecordReader(copy bytes, version: version, place: place(.topicJob, name))
        let flags = Flags(rawValue: try reader.byte())
        guard Flags.all.isSuperset(of: flags) else { throw .value }
        guard let salt = UInt32(exactly: try reader.number()) else { throw .value }
        let acceptedAt = try reader.signed()
        let expiresAt = try reader.signed()
        let messageID = try reader.byteArray()
        let collapseKey = flags.contains(.collapses) ? try reader.byteArray() : nil
        let restricted = flags.contains(.restricted) ? try reader.byteArray() : nil
        let truth = flags.contains(.condition) ? UInt32(exactly: try reader.number()) : 0
        let count = try reader.count()
        guard let truth, (1...Limits.Topic.conditionTests).contains(count) else { throw .value }
        var topics: [TopicName] = []
        for _ in 0..<count {
            guard let topic = TopicName(try reader.byteArray()) else { throw .value }
            topics.append(topic)
        }
        try reader.finish()
        let target: TopicTarget?
        if flags.contains(.condition) {
            target = TopicTarget(topics: topics, truth: truth)
        } else {
            target = topics.count == 1 ? TopicTarget(topics[0]) : nil
        }
        guard let target else { throw .value }
        return TopicJob(
            name: name, salt: salt, target: target, messageID: messageID, collapseKey: collapseKey,
            priority: flags.contains(.high) ? .high : .normal,
            wantsReceipt: flags.contains(.wantsReceipt), delaysWhileIdle: flags.contains(.delays),
            restrictedPackage: restricted, acceptedAt: acceptedAt, expiresAt: expiresAt, body: [])
    }

    /// Replaces the content of a buffer with the record of a cursor.
    public static func write(_ cursor: TopicCursor, of name: TopicJobName, to buffer: inout ByteBuffer) {
        var writer = RecordWriter(buffer, version: version, place: place(.topicCursor, name))
        writer.number(UInt64(cursor.pass))
        writer.number(cursor.reached)
        writer.byte(cursor.after == nil ? 0 : 1)
        if let after = cursor.after {
            writer.number(after.device.number)
            writer.number(after.number.number)
        }
        buffer = writer.finish()
    }

    /// Returns the cursor in a record. Throws `RecordFault` if it cannot be read.
    public static func cursor(
        _ bytes: borrowing RawSpan, _ name: TopicJobName
    ) throws(RecordFault) -> TopicCursor {
        var reader = try RecordReader(copy bytes, version: version, place: place(.topicCursor, name))
        let pass = try reader.count()
        let reached = try reader.number()
        var after: RegistrationName?
        switch try reader.byte() {
        case 0: break
        case 1:
            let device = DeviceID(try reader.number())
            after = RegistrationName(device: device, number: RegistrationNumber(try reader.number()))
        default: throw .value
        }
        try reader.finish()
        return TopicCursor(pass: pass, after: after, reached: reached)
    }

    /// Replaces the content of a buffer with the record of a shared body.
    public static func writeBody(of job: TopicJob, to buffer: inout ByteBuffer) {
        var writer = RecordWriter(buffer, version: version, place: place(.topicBody, job.name))
        writer.bytes(job.target.path)
        writer.bytes(job.body)
        writer.byte(job.apns == nil ? 0 : 1)
        if let apns = job.apns { writer.bytes(apns) }
        buffer = writer.finish()
    }

    /// Returns the shared body in a record. Throws `RecordFault` if it cannot be read.
    public static func body(
        _ bytes: borrowing RawSpan, _ name: TopicJobName
    ) throws(RecordFault) -> SharedBody {
        var reader = try RecordReader(copy bytes, version: version, place: place(.topicBody, name))
        let path = try reader.byteArray()
        let body = try reader.byteArray()
        var apns: [UInt8]?
        switch try reader.byte() {
        case 0: break
        case 1: apns = try reader.byteArray()
        default: throw .value
        }
        try reader.finish()
        return SharedBody(reference: TopicReference(job: name, path: path), body: body, apns: apns)
    }

    private static func place(_ kind: RecordIdentity.Kind, _ name: TopicJobName) -> RecordIdentity {
        RecordIdentity(kind, name.sender.number, name.sequence.number)
    }
}
