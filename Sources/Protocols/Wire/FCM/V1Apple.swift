public import Basics

/// What a message of HTTP v1 holds for iOS apps: the block `apns`, and the common fields that `android` overrides for its devices
/// (http 8.4, apns 3.5).
public struct V1Apple: Sendable {
    /// The object that the APNs gateway reads, as compact JSON (`MessageFields.apns`). `nil` if a message with data alone has no
    /// `aps`: then it does not travel through APNs.
    public var apns: [UInt8]?
    /// Whether the message has a notification for all platforms.
    public var isNotification: Bool
    /// The common data, if `android.data` replaces it for Android; it is part of `apns`.
    public var data: [(key: [UInt8], value: [UInt8])]?
    /// The header `apns-expiration`, in seconds since 1970. `nil` if it is absent or not a time.
    public var expiration: Int64?

    /// Returns the seconds to live from a time, which `android.ttl` does not limit.
    public func lifetimeSeconds(now: UnixMilliseconds) -> Int {
        let longest = Int64(Limits.Message.lifetimeSeconds)
        guard let expiration else { return Int(longest) }
        return Int(min(max(expiration - now / 1_000, 0), longest))
    }

    /// Checks and reads the fields of a message that has passed `ProtoJSON.check`.
    init(
        _ message: JSONSlice?, replacesNotification: Bool, replacesData: Bool, in reader: borrowing JSONReader
    ) throws(V1Error) {
        let block = ProtoJSON.member("apns", of: message, in: reader)
        if let block { try V1AppleChecks.check(block, in: reader) }
        let notification = ProtoJSON.member("notification", of: message, in: reader)
        isNotification = notification != nil
        let headers = ProtoJSON.member("headers", of: block, in: reader)
        expiration = Self.expiration(in: V1Message.pairs(headers, in: reader))
        let payload = ProtoJSON.member("payload", of: block, in: reader)
        let aps = payload.flatMap { V1AppleChecks.last("aps", of: $0, in: reader) }
        guard isNotification || aps != nil else { return }
        var text = ByteBuffer()
        for name: StaticString in ["headers", "payload", "fcm_options", "live_activity_token"] {
            guard let value = ProtoJSON.member(name, of: block, in: reader) else { continue }
            text.append(text.isEmpty ? "{\"" : ",\"")
            text.append(name)
            text.append("\":")
            if name.description == "fcm_options" {
                Self.append(options: value, in: reader, to: &text)
            } else {
                reader.append(compact: value, to: &text)
            }
        }
        text.append(text.isEmpty ? "{" : ",")
        text.append(#""common":{"v1":true"#)
        if replacesNotification {
            text.append(#","notification":"#)
            Self.append(
                ["title", "body", "image"].compactMap { (name: StaticString) in
                    ProtoJSON.string(name, of: notification, in: reader).map {
                        (Array(name.description.utf8), $0)
                    }
                }, to: &text)
        }
        if replacesData {
            let common = V1Message.pairs(ProtoJSON.member("data", of: message, in: reader), in: reader)
            data = common
            text.append(#","data":"#)
            Self.append(common, to: &text)
        }
        let options = ProtoJSON.member("fcm_options", of: message, in: reader)
        if let label = ProtoJSON.string("analytics_label", of: options, in: reader), !label.isEmpty {
            text.append(#","label":"#)
            JSONWriter.append(string: label.raw, to: &text)
        }
        text.append("}}")
        apns = text.copied()
    }

    private static func expiration(in headers: [(key: [UInt8], value: [UInt8])]) -> Int64? {
        headers.last { String(decoding: $0.key, as: UTF8.self).lowercased() == "apns-expiration" }
            .flatMap { AppleExpiration.seconds(String(decoding: $0.value, as: UTF8.self)) }
    }

    /// Appends `fcm_options` with its names in snake case, however they were written.
    private static func append(
        options: JSONSlice, in reader: borrowing JSONReader, to text: inout ByteBuffer
    ) {
        let names: [StaticString] = ["analytics_label", "image"]
        append(
            names.compactMap { name in
                ProtoJSON.string(name, of: options, in: reader).map { (Array(name.description.utf8), $0) }
            }, to: &text)
    }

    private static func append(_ pairs: [(key: [UInt8], value: [UInt8])], to text: inout ByteBuffer) {
        text.append("{")
        for (at, pair) in pairs.enumerated() {
            if at > 0 { text.append(",") }
            JSONWriter.append(string: pair.key.raw, to: &text)
            text.append(":")
            JSONWriter.append(string: pair.value.raw, to: &text)
        }
        text.append("}")
    }
}

/// The header `apns-expiration` (apns 1.2).
public enum AppleExpiration {
    /// Returns its seconds since 1970, or `nil` if the text is not up to 12 digits.
    public static func seconds(_ text: String) -> Int64? {
        guard (1...12).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int64(text)
    }
}
