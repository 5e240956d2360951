public import Basics
public import Delivery

/// Encodes and decodes installations. The ID is the key.
public enum InstallationCodec {
    private static let version: UInt8 = 1

    /// Replaces the content of a buffer with the record of an installation.
    public static func write(_ record: InstallationRecord, to buffer: inout ByteBuffer) {
        var writer = RecordWriter(buffer, version: version, place: place(record.id))
        writer.number(record.sender?.number ?? 0)
        writer.signed(record.createdAt)
        writer.signed(record.usedAt)
        writer.byte(record.refresh == nil ? 0 : 1)
        if let refresh = record.refresh { writer.bytes(refresh.bytes) }
        buffer = writer.finish()
    }

    /// Returns the installation in a record. Throws `RecordFault` if it cannot be read.
    public static func installation(
        _ bytes: borrowing RawSpan, _ id: [UInt8]
    ) throws(RecordFault) -> InstallationRecord {
        var reader = try RecordReader(copy bytes, version: version, place: place(id))
        var record = InstallationRecord(
            id: id, sender: SenderID(recorded: try reader.number()), refresh: nil,
            createdAt: try reader.signed(),
            usedAt: try reader.signed())
        switch try reader.byte() {
        case 0: break
        case 1: record.refresh = SecretDigest(bytes: try reader.digest())
        default: throw .value
        }
        try reader.finish()
        return record
    }

    private static func place(_ id: [UInt8]) -> RecordIdentity {
        let hash = SipHash(key: (0x6363_7364, 0x696e_7374)).hash128(id.raw)
        return RecordIdentity(.installation, hash.0, hash.1)
    }
}
