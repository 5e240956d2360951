public import Basics

/// What a client says at check-in (`AndroidCheckinRequest`, mcs-device 5.1), as far as it matters here.
public struct CheckInRequest: Sendable, Equatable {
    /// Field 2: the Android id it has; 0 for a new device.
    public var androidID: UInt64 = 0
    /// Field 13: the security token that goes with it; 0 for none.
    public var securityToken: UInt64 = 0
    /// Field 14: 2 or 3.
    public var version: Int32 = 0
    /// Field 3: what the settings that it has come to; empty for none.
    public var digest = ""

    /// The check-in of a new device.
    public init() {}

    /// Reads a message; field 4, `checkin`, must be there, as in every client's.
    public init(decoding message: RawSpan) throws(MCSError) {
        var hasCheckIn = false
        var fields = ProtobufReader(message)
        while let field = try fields.next() {
            switch field.number {
            case 2: androidID = try fields.varint(field)
            case 3: digest = String(decoding: try fields.array(field), as: UTF8.self)
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
    public func append(to buffer: inout ByteBuffer) {
        if androidID != 0 { buffer.appendField(2, varint: androidID) }
        if !digest.isEmpty { buffer.appendField(3, bytes: Array(digest.utf8)) }
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
public struct CheckInResponse: Sendable, Equatable {
    /// Field 3: the server's clock, milliseconds since 1970.
    public var time: UnixMilliseconds
    /// Field 7: the Android id, not 0.
    public var androidID: UInt64
    /// Field 8: the security token, not 0.
    public var securityToken: UInt64
    /// Field 4: what the settings come to that the client has afterwards; nil: it is told of none.
    public var digest: String?
    /// Field 5: settings; all of them, or those that differ.
    public var settings: [CheckInSettings.Pair] = []
    /// Field 9: whether the settings are those that differ; a client heeds settings only where it is present.
    public var isDifference: Bool?
    /// Field 11: the version of what answers.
    static let versionInfo = "ccsd"

    /// An answer without settings; all parts are the caller's.
    public init(time: UnixMilliseconds, androidID: UInt64, securityToken: UInt64) {
        self.time = time
        self.androidID = androidID
        self.securityToken = securityToken
    }

    /// Reads a message; both numbers must be there.
    public init(decoding message: RawSpan) throws(MCSError) {
        self.init(time: 0, androidID: 0, securityToken: 0)
        var fields = ProtobufReader(message)
        while let field = try fields.next() {
            switch field.number {
            case 3: time = try fields.int64(field)
            case 4: digest = String(decoding: try fields.array(field), as: UTF8.self)
            case 5: settings.append(try Self.pair(fields.range(field), in: message))
            case 9: isDifference = try fields.varint(field) != 0
            case 7: androidID = try fields.fixed64(field)
            case 8: securityToken = try fields.fixed64(field)
            default: try fields.skip(field)
            }
        }
        guard androidID != 0 else { throw .missingField(7) }
        guard securityToken != 0 else { throw .missingField(8) }
    }

    private static func pair(
        _ range: Range<Int>, in message: RawSpan
    ) throws(MCSError) -> CheckInSettings.Pair {
        var pair = CheckInSettings.Pair(name: "", value: "")
        var fields = ProtobufReader(message.extracting(range))
        while let field = try fields.next() {
            switch field.number {
            case 1: pair.name = String(decoding: try fields.array(field), as: UTF8.self)
            case 2: pair.value = String(decoding: try fields.array(field), as: UTF8.self)
            default: try fields.skip(field)
            }
        }
        return pair
    }

    /// Appends the message.
    public func append(to buffer: inout ByteBuffer) {
        buffer.appendField(1, bool: true)
        buffer.appendField(3, varint: time)
        if let digest { buffer.appendField(4, bytes: Array(digest.utf8)) }
        for pair in settings {
            buffer.appendField(5) { setting in
                setting.appendField(1, bytes: Array(pair.name.utf8))
                setting.appendField(2, bytes: Array(pair.value.utf8))
            }
        }
        buffer.appendField(7, fixed64: androidID)
        buffer.appendField(8, fixed64: securityToken)
        if let isDifference { buffer.appendField(9, bool: isDifference) }
        buffer.appendField(11, bytes: Array(Self.versionInfo.utf8))
    }
}

/// Settings that a browser takes from a check-in: where to register and where to connect (mcs-device 5.1).
public struct CheckInSettings: Sendable, Equatable {
    /// One setting.
    public struct Pair: Sendable, Equatable {
        /// Its name.
        public var name: String
        /// Its value; numbers too are text.
        public var value: String

        /// A setting; both parts are the caller's.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// In the order of their names.
    public let pairs: [Pair]
    /// What they come to, as Chromium counts: `1-` and SHA-1 over name NUL value NUL, in hexadecimal.
    public let digest: String

    /// Where a browser is to register and to connect: a host name, and its ports as they are from outside.
    public init(host: String, devicePort: Int, httpsPort: Int, sha1: ([UInt8]) -> [UInt8]) {
        self.init(
            [
                Pair(name: "checkin_interval", value: String(Limits.Registration.checkInIntervalSeconds)),
                Pair(name: "gcm_hostname", value: host),
                Pair(name: "gcm_secure_port", value: String(devicePort)),
                Pair(name: "gcm_registration_url", value: "https://\(host):\(httpsPort)/c2dm/register3"),
            ], sha1: sha1)
    }

    /// Settings of the caller's; `sha1` is the hash, since nothing here knows a crypto library.
    public init(_ pairs: [Pair], sha1: ([UInt8]) -> [UInt8]) {
        self.pairs = pairs.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        var text: [UInt8] = []
        for pair in self.pairs { text += Array(pair.name.utf8) + [0] + Array(pair.value.utf8) + [0] }
        digest = "1-" + Hex.text(sha1(text))
    }
}

extension ByteBuffer {
    /// Appends a protobuf field of eight bytes.
    public mutating func appendField(_ number: Int, fixed64 value: UInt64) {
        Varint.append(UInt64(truncatingIfNeeded: number) << 3 | 1, to: &self)
        for shift in stride(from: 0 as UInt64, to: 64, by: 8) {
            append(byte: UInt8(truncatingIfNeeded: value >> shift))
        }
    }
}
