public import Basics

/// A validated HTTP v1 message, reduced to what devices receive (http 8.2 to 8.4).
public struct V1Message: Sendable {
    /// The target, as written.
    public enum Target: Sendable, Equatable {
        /// `token`: a registration token or a notification key.
        case token([UInt8])
        /// `fid`: a Firebase installation ID, or a registration token, which identifies the same.
        case installation([UInt8])
        /// `topic`, without the prefix `/topics/`.
        case topic([UInt8])
        /// `condition` on topics.
        case condition([UInt8])
    }

    /// The only target.
    public var target: Target
    /// `validate_only`: nothing is stored or delivered.
    public var isDryRun: Bool
    /// `android.collapse_key`.
    public var collapseKey: [UInt8]?
    /// `android.priority`; `nil` for the default of the message's kind.
    public var priority: DownstreamMessage.Priority?
    /// `android.ttl` in whole seconds, 0 … `Limits.Message.lifetimeSeconds`.
    public var lifetimeSeconds: Int
    /// `send_at`, an extension of ccsd: when it is to be sent.
    public var sendAt: UnixMilliseconds?
    /// `replace_message_id`, an extension of ccsd: the ID of the message in whose place it is put.
    public var replaces: [UInt8]?
    /// `android.restricted_package_name`.
    public var restrictedPackage: [UInt8]?
    /// The pairs of `android.data`, or else of `data`; the last of several equal keys counts.
    public var data: [(key: [UInt8], value: [UInt8])]
    /// What iOS apps receive otherwise than Android's.
    public var apple: V1Apple
    /// The notification for the device, its keys without the prefix `gcm.notification.`; `nil` for a data message.
    public var notification: [(key: StaticString, value: [UInt8])]?

    /// Parses and validates the body of a request.
    public init(_ body: RawSpan) throws(V1Error) {
        let reader: JSONReader
        do throws(JSONError) {
            reader = try JSONReader(body)
        } catch {
            throw V1Error(
                .badRequest,
                "Invalid JSON payload received. \(error.fault.rawValue) at position \(error.offset).")
        }
        do throws(ProtoFault) {
            try ProtoJSON.check(reader.root, as: .sendRequest, in: reader)
        } catch { throw V1Error(error) }
        let message = ProtoJSON.member("message", of: reader.root, in: reader)
        let v1 = ProtoJSON.member("android", of: message, in: reader)
        let v2 = ProtoJSON.member("android_v2", of: message, in: reader)
        guard v1 == nil || v2 == nil else {
            throw V1Error(invalid: "message.android_v2", "Only one of android and android_v2 may be set.")
        }
        let remote = ProtoJSON.member("remote_notification", of: v2, in: reader)
        let android = V1Android(
            config: v1 ?? v2, path: v1 == nil ? "message.android_v2" : "message.android",
            notification: ProtoJSON.member("notification", of: v1 ?? remote, in: reader))
        target = try Self.target(message, in: reader)
        isDryRun =
            ProtoJSON.member("validate_only", of: reader.root, in: reader).flatMap { reader.boolean($0) }
            ?? false
        collapseKey = ProtoJSON.string("collapse_key", of: android.config, in: reader)
        if let key = collapseKey, key.count > Limits.Message.collapseKeyBytes {
            throw V1Error(
                invalid: "\(android.path).collapse_key",
                "The collapse key has more than \(Limits.Message.collapseKeyBytes) bytes.")
        }
        restrictedPackage = ProtoJSON.string("restricted_package_name", of: android.config, in: reader)
        if restrictedPackage?.isEmpty == true { restrictedPackage = nil }
        if let name = restrictedPackage, name.count > Limits.Registration.fieldBytes {
            throw V1Error(
                invalid: "\(android.path).restricted_package_name",
                "The package name has more than \(Limits.Registration.fieldBytes) bytes.")
        }
        sendAt = ProtoJSON.string("send_at", of: message, in: reader).flatMap { Timestamp.parsed($0) }
        replaces = ProtoJSON.string("replace_message_id", of: message, in: reader)
        lifetimeSeconds = try android.lifetime(in: reader)
        priority = try android.priority(isRemote: remote != nil, in: reader)
        let pairs =
            ProtoJSON.member("data", of: android.config, in: reader)
            ?? ProtoJSON.member("data", of: message, in: reader)
        data = Self.pairs(pairs, in: reader)
        notification = try android.notification(
            common: ProtoJSON.member("notification", of: message, in: reader), in: reader)
        try V1Checks.labels(message, android: android.config, androidPath: android.path, in: reader)
        try V1Checks.webpush(ProtoJSON.member("webpush", of: message, in: reader), in: reader)
        apple = try V1Apple(
            message, replacesNotification: android.notification != nil,
            replacesData: ProtoJSON.member("data", of: android.config, in: reader) != nil, in: reader)
    }

    private static func target(
        _ message: JSONSlice?, in reader: borrowing JSONReader
    ) throws(V1Error) -> Target {
        if let token = ProtoJSON.string("token", of: message, in: reader) { return .token(token) }
        if let fid = ProtoJSON.string("fid", of: message, in: reader) { return .installation(fid) }
        if let topic = ProtoJSON.string("topic", of: message, in: reader) {
            let prefix = Array("/topics/".utf8)
            return .topic(topic.starts(with: prefix) ? Array(topic.dropFirst(prefix.count)) : topic)
        }
        if let condition = ProtoJSON.string("condition", of: message, in: reader) {
            return .condition(condition)
        }
        throw V1Error(.missingTarget)
    }

    /// Returns the members of a map of strings; the last of several equal keys counts.
    static func pairs(
        _ map: JSONSlice?, in reader: borrowing JSONReader
    ) -> [(key: [UInt8], value: [UInt8])] {
        guard let map else { return [] }
        var pairs: [(key: [UInt8], value: [UInt8])] = []
        var places: [[UInt8]: Int] = [:]
        var cursor = reader.begin(map)
        while let member = reader.nextMember(&cursor) {
            let key = reader.string(member.key)
            let value = reader.string(member.value)
            if let place = places.updateValue(pairs.count, forKey: key) {
                places[key] = place
                pairs[place].value = value
            } else {
                pairs.append((key, value))
            }
        }
        return pairs
    }
}
