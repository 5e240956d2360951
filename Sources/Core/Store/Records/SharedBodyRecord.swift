public import Basics
public import Delivery

/// Encodes and decodes the pairs that messages of a partition share. Their name is the key.
public enum SharedBodyRecord {
    private static let version: UInt8 = 1

    /// Replaces the content of a buffer with the record of shared pairs.
    public static func write(_ shared: SharedBody, to buffer: inout ByteBuffer) {
        var writer = RecordWriter(buffer, version: version, place: place(shared.reference.name))
        writer.bytes(shared.reference.path)
        writer.bytes(shared.body)
        writer.byte(shared.apns == nil ? 0 : 1)
        if let apns = shared.apns { writer.bytes(apns) }
        buffer = writer.finish()
    }

    /// Returns the pairs in a record. Throws `RecordFault` if it cannot be read.
    public static func body(
        _ bytes: borrowing RawSpan, _ name: SharedBodyName
    ) throws(RecordFault) -> SharedBody {
        var reader = try RecordReader(copy bytes, version: version, place: place(name))
        let path = try reader.byteArray()
        let body = try reader.byteArray()
        let apns = try RegistryRecord.flag(&reader) ? try reader.byteArray() : nil
        try reader.finish()
        return SharedBody(reference: SharedReference(name, path: path), body: body, apns: apns)
    }

    private static func place(_ name: SharedBodyName) -> RecordIdentity {
        let kind: RecordIdentity.Kind =
            switch name {
            case .topic: .topicBody
            case .request: .requestBody
            }
        return RecordIdentity(kind, name.sender.number, name.sequence.number)
    }
}
