public import Basics
public import Delivery

/// Encodes and decodes downstream messages, markers and reports. Device and sequence are the key.
public enum MessageRecord {
    private static let version: UInt8 = 1
    /// The version of a message that is sent later: it has its time.
    private static let scheduledVersion: UInt8 = 2

    private struct Flags: OptionSet {
        let rawValue: UInt8
        static let marker = Flags(rawValue: 1)
        static let collapses = Flags(rawValue: 2)
        static let high = Flags(rawValue: 4)
        static let wantsReceipt = Flags(rawValue: 8)
        static let delaysWhileIdle = Flags(rawValue: 16)
        /// The body is stored once for several messages.
        static let shares = Flags(rawValue: 32)
        /// It reports an upstream message that has expired.
        static let sendError = Flags(rawValue: 64)
        /// It has a part for APNs alone.
        static let apns = Flags(rawValue: 128)
        static let all: Flags = [
            .marker, .collapses, .high, .wantsReceipt, .delaysWhileIdle, .shares, .sendError, .apns,
        ]
    }

    /// The fields of a message that its removal needs.
    public struct Header: Sendable, Equatable {
        /// Whether the message counts towards the conservation law: markers and reports do not.
        public var isCounted: Bool
        /// The time of expiry.
        public var expiresAt: UnixMilliseconds

        /// Creates a header from its fields.
        public init(isCounted: Bool, expiresAt: UnixMilliseconds) {
            self.isCounted = isCounted
            self.expiresAt = expiresAt
        }
    }

    /// Replaces the content of a buffer with the record of a message. The body that it shares with others is left out.
    public static func write(_ message: StoredMessage, to buffer: inout ByteBuffer) {
        var flags: Flags = []
        var discarded: Int?
        switch message.kind {
        case .message: break
        case .discardedMarker(let count):
            flags.insert(.marker)
            discarded = count
        case .sendError: flags.insert(.sendError)
        }
        if message.collapseKey != nil { flags.insert(.collapses) }
        if message.priority == .high { flags.insert(.high) }
        if message.wantsReceipt { flags.insert(.wantsReceipt) }
        if message.delaysWhileIdle { flags.insert(.delaysWhileIdle) }
        if message.shared != nil { flags.insert(.shares) }
        // What it has for APNs is in the shared body; the flag alone determines the channel of this copy.
        let apns = message.shared == nil ? message.apns : message.apns.map { _ in [] }
        if apns != nil { flags.insert(.apns) }
        var writer = RecordWriter(
            buffer, version: message.dueAt == nil ? version : scheduledVersion,
            place: place(message.device, message.sequence))
        writer.byte(flags.rawValue)
        writer.signed(message.expiresAt)
        writer.number(UInt64(message.salt))
        writer.number(message.registration.number)
        if let discarded { writer.number(UInt64(discarded)) }
        if let key = message.collapseKey { writer.bytes(key) }
        writer.number(message.sender?.number ?? 0)
        switch message.shared?.name {
        case .topic(let name): writer.number(name.sequence.number)
        case .request(_, let sequence):
            // No topic message has the number 0.
            writer.number(0)
            writer.number(sequence.number)
        case nil: break
        }
        writer.signed(message.acceptedAt)
        if let dueAt = message.dueAt { writer.signed(dueAt) }
        writer.bytes(message.messageID)
        if let apns { writer.bytes(apns) }
        if case .sendError(let reported) = message.kind {
            // It has no pairs.
            writer.number(reported.number)
        } else {
            writer.bytes(message.shared == nil ? message.body : [])
        }
        buffer = writer.finish()
    }

    /// Returns the message in a record. Of a shared body it has the name only. Throws `RecordFault` if it cannot be read.
    public static func message(
        _ bytes: borrowing RawSpan, device: DeviceID, sequence: SequenceNumber
    ) throws(RecordFault) -> StoredMessage {
        var reader = try RecordReader(
            copy bytes, version: version, or: scheduledVersion, place: place(device, sequence))
        var message = try envelope(&reader, device, sequence)
        if !message.kind.isReport { message.body = try reader.byteArray() }
        guard message.shared == nil || message.body.isEmpty else { throw .value }
        try reader.finish()
        return message
    }

    /// Returns the message in a record without its body, which is not copied.
    public static func entry(
        _ bytes: borrowing RawSpan, device: DeviceID, sequence: SequenceNumber
    ) throws(RecordFault) -> MailboxEntry {
        var reader = try RecordReader(
            copy bytes, version: version, or: scheduledVersion, place: place(device, sequence))
        return MailboxEntry(try envelope(&reader, device, sequence))
    }

    /// Returns the fields that a removal needs.
    public static func header(
        _ bytes: borrowing RawSpan, device: DeviceID, sequence: SequenceNumber
    ) throws(RecordFault) -> Header {
        var reader = try RecordReader(
            copy bytes, version: version, or: scheduledVersion, place: place(device, sequence))
        let flags = Flags(rawValue: try reader.byte())
        let isCounted = flags.isDisjoint(with: [.marker, .sendError])
        return Header(isCounted: isCounted, expiresAt: try reader.signed())
    }

    private static func envelope(
        _ reader: inout RecordReader, _ device: DeviceID, _ sequence: SequenceNumber
    ) throws(RecordFault) -> StoredMessage {
        let flags = Flags(rawValue: try reader.byte())
        guard Flags.all.isSuperset(of: flags) else { throw .value }
        let expiresAt = try reader.signed()
        guard let salt = UInt32(exactly: try reader.number()) else { throw .value }
        let registration = RegistrationNumber(try reader.number())
        guard !flags.isSuperset(of: [.marker, .sendError]) else { throw .value }
        var kind = StoredMessage.Kind.message
        if flags.contains(.marker) { kind = .discardedMarker(count: try reader.count()) }
        let collapseKey = flags.contains(.collapses) ? try reader.byteArray() : nil
        let sender = SenderID(recorded: try reader.number())
        let shared = flags.contains(.shares) ? try sharedName(&reader, sender) : nil
        let acceptedAt = try reader.signed()
        let dueAt = reader.version == scheduledVersion ? try reader.signed() : nil
        var message = StoredMessage(
            device: device, sequence: sequence, salt: salt, registration: registration, sender: sender,
            kind: kind, messageID: try reader.byteArray(), collapseKey: collapseKey,
            acceptedAt: acceptedAt, expiresAt: expiresAt, priority: flags.contains(.high) ? .high : .normal,
            wantsReceipt: flags.contains(.wantsReceipt),
            delaysWhileIdle: flags.contains(.delaysWhileIdle), body: [])
        if flags.contains(.apns) { message.apns = try reader.byteArray() }
        if flags.contains(.sendError) { message.kind = .sendError(of: SequenceNumber(try reader.number())) }
        message.dueAt = dueAt
        message.shared = shared.map { SharedReference(withoutBodyOf: $0) }
        return message
    }

    private static func sharedName(
        _ reader: inout RecordReader, _ sender: SenderID?
    ) throws(RecordFault) -> SharedBodyName {
        guard let sender else { throw .value }
        let sequence = SequenceNumber(try reader.number())
        guard sequence.number == 0 else {
            return .topic(TopicMessageName(sender: sender, sequence: sequence))
        }
        return .request(sender, SequenceNumber(try reader.number()))
    }

    private static func place(_ device: DeviceID, _ sequence: SequenceNumber) -> RecordIdentity {
        RecordIdentity(.message, device.number, sequence.number)
    }
}
