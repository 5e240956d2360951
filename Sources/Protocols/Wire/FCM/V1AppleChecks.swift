import Basics

/// Checks of the block `apns` beyond its schema, which the admin SDKs make before they send (apns 3.5).
enum V1AppleChecks {
    private static let payload = "message.apns.payload"

    /// Checks a block. Throws `V1Error`, which names the first wrong field.
    static func check(_ block: JSONSlice, in reader: borrowing JSONReader) throws(V1Error) {
        try checkSize(block, in: reader)
        let options = ProtoJSON.member("fcm_options", of: block, in: reader)
        if let image = ProtoJSON.string("image", of: options, in: reader), !image.isEmpty, !isURL(image) {
            throw V1Error(invalid: "message.apns.fcm_options.image", "The image must be a URL.")
        }
        let payload = ProtoJSON.member("payload", of: block, in: reader)
        guard let payload, let aps = last("aps", of: payload, in: reader) else { return }
        guard reader.kind(aps) == .object else { throw error("aps", "aps must be an object.") }
        if let badge = last("badge", of: aps, in: reader), reader.kind(badge) != .number {
            throw error("aps.badge", "Value type for APS key [badge] is a number.")
        }
        if let alert = last("alert", of: aps, in: reader) { try check(alert: alert, in: reader) }
        if let sound = last("sound", of: aps, in: reader) { try check(sound: sound, in: reader) }
    }

    private static func checkSize(_ block: JSONSlice, in reader: borrowing JSONReader) throws(V1Error) {
        var text = ByteBuffer()
        reader.append(compact: block, to: &text)
        guard text.count <= Limits.Message.apnsOverrideBytes else {
            throw V1Error(
                invalid: "message.apns",
                "invalid apns of \(text.count) bytes: expected at most \(Limits.Message.apnsOverrideBytes)")
        }
    }

    private static func check(alert: JSONSlice, in reader: borrowing JSONReader) throws(V1Error) {
        switch reader.kind(alert) {
        case .string, .null: return
        case .object: break
        default: throw error("aps.alert", "alert must be a string or an object.")
        }
        let names: [StaticString] = [
            "title", "subtitle", "body", "title-loc-key", "subtitle-loc-key", "loc-key", "action-loc-key",
            "launch-image",
        ]
        for name in names {
            if let value = last(name, of: alert, in: reader), reader.kind(value) != .string {
                throw error("aps.alert.\(name)", "\(name) must be a string.")
            }
        }
        let pairs: [(arguments: StaticString, key: StaticString)] = [
            ("title-loc-args", "title-loc-key"), ("subtitle-loc-args", "subtitle-loc-key"),
            ("loc-args", "loc-key"),
        ]
        for pair in pairs {
            guard let list = last(pair.arguments, of: alert, in: reader) else { continue }
            guard isListOfStrings(list, in: reader) else {
                throw error("aps.alert.\(pair.arguments)", "\(pair.arguments) must be an array of strings.")
            }
            var cursor = reader.begin(list)
            guard reader.nextElement(&cursor) != nil else { continue }
            guard let key = last(pair.key, of: alert, in: reader), reader.inside(key).byteCount > 0 else {
                throw error(
                    "aps.alert.\(pair.key)", "\(pair.key) is required when specifying \(pair.arguments).")
            }
        }
    }

    private static func check(sound: JSONSlice, in reader: borrowing JSONReader) throws(V1Error) {
        switch reader.kind(sound) {
        case .string, .null: return
        case .object: break
        default: throw error("aps.sound", "sound must be a string or an object.")
        }
        guard let name = last("name", of: sound, in: reader), reader.kind(name) == .string,
            reader.inside(name).byteCount > 0
        else { throw error("aps.sound.name", "name must be a non-empty string.") }
        guard let volume = last("volume", of: sound, in: reader) else { return }
        guard reader.kind(volume) == .number, let share = ProtoJSON.number(volume, in: reader),
            (0...1).contains(share)
        else { throw error("aps.sound.volume", "volume must be a number from 0 to 1.") }
    }

    private static func error(_ field: String, _ text: String) -> V1Error {
        V1Error(invalid: "\(payload).\(field)", text)
    }

    private static func isListOfStrings(_ value: JSONSlice, in reader: borrowing JSONReader) -> Bool {
        guard reader.kind(value) == .array else { return false }
        var cursor = reader.begin(value)
        while let element = reader.nextElement(&cursor) {
            guard reader.kind(element) == .string else { return false }
        }
        return true
    }

    /// Returns whether a text is an absolute URL of the web.
    private static func isURL(_ text: [UInt8]) -> Bool {
        let schemes = ["https://", "http://"].map { Array($0.utf8) }
        guard let scheme = schemes.first(where: { text.starts(with: $0) }) else { return false }
        let rest = text.dropFirst(scheme.count)
        guard let first = rest.first, !"/?#".utf8.contains(first) else { return false }
        return rest.allSatisfy { $0 > 0x20 && $0 != 0x7F }
    }

    /// Returns the last member of that exact name. Unlike in `ProtoJSON`, null is a value.
    static func last(
        _ name: StaticString, of object: JSONSlice, in reader: borrowing JSONReader
    ) -> JSONSlice? {
        guard reader.kind(object) == .object else { return nil }
        var found: JSONSlice?
        var cursor = reader.begin(object)
        while let member = reader.nextMember(&cursor) {
            if reader.string(member.key, equals: name) { found = member.value }
        }
        return found
    }
}
