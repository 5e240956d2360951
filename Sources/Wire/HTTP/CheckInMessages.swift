package import Basics

/// What a client says at check-in (`AndroidCheckinRequest`, mcs-device 5.1), as far as it matters here.
package struct CheckInRequest: Sendable, Equatable {
    /// Field 2: the Android id it has; 0 for a new device.
    package var androidID: UInt64 = 0
    /// Field 13: the security token that goes with it; 0 for none.
    package var securityToken: UInt64 = 0
    /// Field 14: 2 or 3.
    package var version: Int32 = 0

    /// The check-in of a new device.
    package init() {}

    /// Reads a message; field 4, `checkin`, must be there, as in every client's.
    package init(decoding message: RawSpan) throws(MCSError) {
        var hasCheckIn = false
        var fields = ProtobufReader(message)
        while let field = try fields.next() {
            switch field.number {
            case 2: androidID = try fields.varint(field)
            case 4:
                _ = try fields.range(field)
                hasCheckIn = true
            case 13: securityToken = try fields.fixed64(field)
            case 14: version = try fields.int32(field)
            default: try fields.skip(field)
            }
        }
        guard hasCheckIn else { throw .missingField(4) }
    }

    /// Appends the message, with the `checkin` part of a Chrome browser on Linux.
    package func append(to buffer: inout ByteBuffer) {
        if androidID != 0 { buffer.appendField(2, varint: androidID) }
        buffer.appendField(4) { checkIn in
            checkIn.appendField(12, varint: 3)
            checkIn.appendField(13) { build in
                build.appendField(1, varint: 3)
                build.appendField(2, text: "63.0.3234.0")
                build.appendField(3, varint: 1)
            }
        }
        if securityToken != 0 { buffer.appendField(13, fixed64: securityToken) }
        buffer.appendField(14, varint: 3)
    }
}

/// What the server answers (`AndroidCheckinResponse`, mcs-device 5.1).
package struct CheckInResponse: Sendable, Equatable {
    /// Field 3: the server's clock, milliseconds since 1970.
    package var time: UnixMilliseconds
    /// Field 7: the Android id, not 0.
    package var androidID: UInt64
    /// Field 8: the security token, not 0.
    package var securityToken: UInt64

    /// An answer; all parts are the caller's.
    package init(time: UnixMilliseconds, androidID: UInt64, securityToken: UInt64) {
        self.time = time
        self.androidID = androidID
        self.securityToken = securityToken
    }

    /// Reads a message; both numbers must be there.
    package init(decoding message: RawSpan) throws(MCSError) {
        self.init(time: 0, androidID: 0, securityToken: 0)
        var fields = ProtobufReader(message)
        while let field = try fields.next() {
            switch field.number {
            case 3: time = try fields.int64(field)
            case 7: androidID = try fields.fixed64(field)
            case 8: securityToken = try fields.fixed64(field)
            default: try fields.skip(field)
            }
        }
        guard androidID != 0 else { throw .missingField(7) }
        guard securityToken != 0 else { throw .missingField(8) }
    }

    /// Appends the message. No settings and no digest: a client honours settings only with `settings_diff`.
    package func append(to buffer: inout ByteBuffer) {
        buffer.appendField(1, bool: true)
        buffer.appendField(3, varint: time)
        buffer.appendField(7, fixed64: androidID)
        buffer.appendField(8, fixed64: securityToken)
        buffer.appendField(11, text: "ccsd")
    }
}

extension ByteBuffer {
    /// Appends a protobuf field of eight octets.
    package mutating func appendField(_ number: Int, fixed64 value: UInt64) {
        Varint.append(UInt64(truncatingIfNeeded: number) << 3 | 1, to: &self)
        for shift in stride(from: 0 as UInt64, to: 64, by: 8) {
            append(byte: UInt8(truncatingIfNeeded: value >> shift))
        }
    }
}
