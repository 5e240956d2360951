public import Basics
public import Delivery

/// Encodes and decodes device groups. Sender and number are the key.
public enum GroupCodec {
    /// Lower ones were written before the first release, and are refused.
    private static let version: UInt8 = 3

    /// Replaces the content of a buffer with the record of a group.
    public static func write(_ group: GroupRecord, to buffer: inout ByteBuffer) {
        var writer = RecordWriter(buffer, version: version, place: place(group.name))
        writer.bytes(group.label)
        writer.signed(group.createdAt)
        writer.number(UInt64(group.members.count))
        for member in group.members {
            writer.number(member.registration.device.number)
            writer.number(member.registration.number.number)
            writer.bytes(member.prefix?.bytes ?? [])
        }
        buffer = writer.finish()
    }

    /// Returns the group in a record. Throws `RecordFault` if it cannot be read.
    public static func group(
        _ bytes: borrowing RawSpan, _ name: GroupName
    ) throws(RecordFault) -> GroupRecord {
        var reader = try RecordReader(copy bytes, version: version, place: place(name))
        var group = GroupRecord(
            name: name, label: try reader.byteArray(), members: [], createdAt: try reader.signed())
        let count = try reader.count()
        guard count <= Limits.Group.members else { throw .value }
        for _ in 0..<count {
            let device = DeviceID(try reader.number())
            let member = RegistrationName(
                device: device, number: RegistrationNumber(try reader.number()))
            let id = try reader.byteArray()
            let prefix = TokenPrefix(id)
            guard id.isEmpty || prefix != nil else { throw .value }
            group.members.append(TokenName(member, prefix: prefix))
        }
        try reader.finish()
        return group
    }

    private static func place(_ name: GroupName) -> RecordIdentity {
        RecordIdentity(.group, name.sender.number, name.number)
    }
}
