public import Basics
public import Delivery

/// Encodes and decodes upstream messages and receipts. Sender and sequence are the key.
public enum UpstreamRecord {
    private static let version: UInt8 = 1

    private struct Flags: OptionSet {
        let rawValue: UInt8
        static let receipt = Flags(rawValue: 1)
        static let fcmDomain = Flags(rawValue: 2)
        /// The prefix of the token follows the registration.
        static let prefixed = Flags(rawValue: 4)
        static let all: Flags = [.receipt, .fcmDomain, .prefixed]
    }

    /// Replaces the content of a buffer with the record of a message.
    public static func write(_ upstream: StoredUpstream, to buffer: inout ByteBuffer) {
        var flags: Flags = []
        var sentAt: UnixMilliseconds?
        if case .receipt(let time) = upstream.kind {
            flags.insert(.receipt)
            sentAt = time
        }
        if upstream.isFCMDomain { flags.insert(.fcmDomain) }
        if upstream.tokenPrefix != nil { flags.insert(.prefixed) }
        var writer = RecordWriter(buffer, version: version, place: place(upstream.sender, upstream.sequence))
        writer.byte(flags.rawValue)
        writer.signed(upstream.expiresAt)
        if let sentAt { writer.signed(sentAt) }
        writer.number(upstream.from.device.number)
        writer.number(upstream.from.number.number)
        if let prefix = upstream.tokenPrefix { writer.bytes(prefix.bytes) }
        writer.signed(Int64(upstream.lifetimeSeconds))
        writer.bytes(upstream.category)
        writer.bytes(upstream.messageID)
        writer.bytes(upstream.persistentID)
        writer.bytes(upstream.body)
        buffer = writer.finish()
    }

    /// Returns the message in a record. Throws `RecordFault` if it cannot be read.
    public static func upstream(
        _ bytes: borrowing RawSpan, sender: SenderID, sequence: SequenceNumber
    ) throws(RecordFault) -> StoredUpstream {
        var reader = try RecordReader(copy bytes, version: version, place: place(sender, sequence))
        let flags = Flags(rawValue: try reader.byte())
        guard Flags.all.isSuperset(of: flags) else { throw .value }
        let expiresAt = try reader.signed()
        let kind: StoredUpstream.Kind =
            flags.contains(.receipt) ? .receipt(sentAt: try reader.signed()) : .message
        let device = DeviceID(try reader.number())
        let from = RegistrationName(device: device, number: RegistrationNumber(try reader.number()))
        var prefix: TokenPrefix?
        if flags.contains(.prefixed) {
            prefix = TokenPrefix(try reader.byteArray())
            guard prefix != nil else { throw .value }
        }
        guard let lifetime = Int(exactly: try reader.signed()) else { throw .value }
        let category = try reader.byteArray()
        let messageID = try reader.byteArray()
        let persistentID = try reader.byteArray()
        let body = try reader.byteArray()
        try reader.finish()
        var upstream = StoredUpstream(
            sender: sender, sequence: sequence, kind: kind, from: from,
            isFCMDomain: flags.contains(.fcmDomain), category: category, messageID: messageID,
            persistentID: persistentID, expiresAt: expiresAt, lifetimeSeconds: lifetime, body: body)
        upstream.tokenPrefix = prefix
        return upstream
    }

    /// Returns the fields that a removal needs.
    public static func header(
        _ bytes: borrowing RawSpan, sender: SenderID, sequence: SequenceNumber
    ) throws(RecordFault) -> MessageRecord.Header {
        var reader = try RecordReader(copy bytes, version: version, place: place(sender, sequence))
        let flags = Flags(rawValue: try reader.byte())
        return MessageRecord.Header(
            isCounted: !flags.contains(.receipt), expiresAt: try reader.signed())
    }

    private static func place(_ sender: SenderID, _ sequence: SequenceNumber) -> RecordIdentity {
        RecordIdentity(.upstream, sender.number, sequence.number)
    }
}
