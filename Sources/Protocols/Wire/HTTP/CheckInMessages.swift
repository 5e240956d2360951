public import Basics

/// A check-in request (`AndroidCheckinRequest`, mcs-device 5.1), reduced to the fields that are used.
public struct CheckInRequest: Sendable, Equatable {
    /// Field 2: the Android ID; 0 for a new device.
    public var androidID: UInt64 = 0
    /// Field 13: the security token of the Android ID; 0 for none.
    public var securityToken: UInt64 = 0
    /// Field 14: 2 or 3.
    public var version: Int32 = 0
    /// Field 3: the digest of the settings that the client has; empty for none.
    public var digest = ""

    /// Creates the request of a new device.
    public init() {}

    /// Decodes a message. Throws if field 4, `checkin`, is missing, since every client sends it.
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

    /// Appends the message with the `checkin` part of Chrome on Linux.
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

/// The response to a check-in (`AndroidCheckinResponse`, mcs-device 5.1).
public struct CheckInResponse: Sendable, Equatable {
    /// Field 3: the server's clock, milliseconds since 1970.
    public var time: UnixMilliseconds
    /// Field 7: the Android ID, not 0.
    public var androidID: UInt64
    /// Field 8: the security token, not 0.
    public var securityToken: UInt64
    /// Field 4: the digest of the settings that the client then has; `nil` if settings are not reported.
    public var digest: String?
    /// Field 5: settings; all of them, or those that differ.
    public var settings: [CheckInSettings.Pair] = []
    /// Field 9: whether `settings` holds only those that differ; a client ignores settings without this field.
    public var isDifference: Bool?
    /// Field 11: the name of the server software.
    static let versionInfo = "ccsd"

    /// Creates a response without settings.
    public init(time: UnixMilliseconds, androidID: UInt64, securityToken: UInt64) {
        self.time = time
        self.androidID = androidID
        self.securityToken = securityToken
    }

    /// Decodes a message. Throws if the Android ID or the security token is missing.
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

/// Settings that a browser receives at check-in: where to register and where to connect (mcs-device 5.1).
public struct CheckInSettings: Sendable, Equatable {
    /// A setting.
    public struct Pair: Sendable, Equatable {
        public var name: String
        /// The value; numbers are text as well.
        public var value: String

        /// Creates a setting.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The settings, sorted by name.
    public let pairs: [Pair]
    /// The digest as Chromium computes it: `1-` and the SHA-1 over name NUL value NUL, in hexadecimal.
    public let digest: String

    /// Creates the settings for a server: its host name, and its ports as seen from outside.
    public init(host: String, devicePort: Int, httpsPort: Int, sha1: ([UInt8]) -> [UInt8]) {
        self.init(
            [
                Pair(name: "checkin_interval", value: String(Limits.Registration.checkInIntervalSeconds)),
                Pair(name: "gcm_hostname", value: host),
                Pair(name: "gcm_secure_port", value: String(devicePort)),
                Pair(name: "gcm_registration_url", value: "https://\(host):\(httpsPort)/c2dm/register3"),
            ], sha1: sha1)
    }

    /// Creates settings from pairs; `sha1` is injected, since this module has no crypto library.
    public init(_ pairs: [Pair], sha1: ([UInt8]) -> [UInt8]) {
        self.pairs = pairs.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        var text: [UInt8] = []
        for pair in self.pairs { text += Array(pair.name.utf8) + [0] + Array(pair.value.utf8) + [0] }
        digest = "1-" + Hex.text(sha1(text))
    }
}

extension ByteBuffer {
    /// Appends a protobuf `fixed64` field.
    public mutating func appendField(_ number: Int, fixed64 value: UInt64) {
        Varint.append(UInt64(truncatingIfNeeded: number) << 3 | 1, to: &self)
        for shift in stride(from: 0 as UInt64, to: 64, by: 8) {
            append(byte: UInt8(truncatingIfNeeded: value >> shift))
        }
    }
}
