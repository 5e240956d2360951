import Basics
import Wire

/// The members of `aps`: what iOS itself reads of a payload (apns 3.4).
struct APSFields {
    /// How the text of a notification's field becomes JSON.
    private enum Form {
        case text
        /// A number.
        case number
        /// The name of a sound, or the dictionary of a critical one.
        case sound
        /// A JSON array, whose elements become strings.
        case list
    }

    private typealias Row = (key: String, name: String, form: Form)

    /// The fields of a notification that belong to `alert`, in the order in which they are written.
    private static let alertRows: [Row] = [
        ("title", "title", .text), ("subtitle", "subtitle", .text), ("body", "body", .text),
        ("title_loc_key", "title-loc-key", .text), ("title_loc_args", "title-loc-args", .list),
        ("body_loc_key", "loc-key", .text), ("body_loc_args", "loc-args", .list),
    ]
    private static let otherRows: [Row] = [
        ("badge", "badge", .number), ("sound", "sound", .sound), ("click_action", "category", .text),
    ]
    private static let known = Set((alertRows + otherRows).map(\.key) + ["image"])

    /// Whether a field of a notification has a place of its own in the payload; others become `gcm.notification.` keys.
    static func isKnown(_ key: String) -> Bool { known.contains(key) }

    private(set) var members: [JSONValue.Member] = []

    /// Maps the fields of a notification. Throws `APNsRefusal` if one has the wrong form.
    init(_ notification: [APNsContent.Pair], image: String?) throws(APNsRefusal) {
        var alert: [JSONValue.Member] = []
        for row in Self.alertRows {
            guard let value = try Self.value(row, in: notification) else { continue }
            alert.append(JSONValue.Member(row.name, value))
        }
        if alert.count == 1, alert[0].key == "body" {
            set("alert", alert[0].value)
        } else if !alert.isEmpty {
            set("alert", .object(alert))
        }
        for row in Self.otherRows {
            if let value = try Self.value(row, in: notification) { set(row.name, value) }
        }
        // The app's extension fetches the image, and iOS calls it only for mutable content.
        if image != nil { set("mutable-content", 1) }
    }

    /// Whether the message is visible or audible to the user.
    var isShown: Bool {
        members.contains { member in
            ["alert", "badge", "sound"].contains(member.key) && member.value != .null
        }
    }

    /// Overrides the fields one by one, and those of `alert` one by one too.
    mutating func merge(_ overrides: [JSONValue.Member]) {
        for override in overrides {
            switch override.key {
            case "alert": set("alert", Self.merged(value("alert"), override.value))
            case "content-available", "mutable-content":
                // Apple demands the number, and apps are often written with the boolean.
                set(override.key, override.value.boolean.map { $0 ? 1 : 0 } ?? override.value)
            default: set(override.key, override.value)
            }
        }
    }

    /// Sets the mark of a background push, without which Apple drops one.
    mutating func markBackground() { set("content-available", 1) }

    private func value(_ name: String) -> JSONValue? { members.first { $0.key == name }?.value }

    private mutating func set(_ name: String, _ value: JSONValue) { members.set(name, value) }

    private static func merged(_ common: JSONValue?, _ override: JSONValue) -> JSONValue {
        guard let fields = override.members, let common else { return override }
        var merged = common.members ?? [JSONValue.Member("body", common)]
        for field in fields { merged.set(field.key, field.value) }
        return .object(merged)
    }

    private static func value(
        _ row: Row, in notification: [APNsContent.Pair]
    ) throws(APNsRefusal) -> JSONValue? {
        guard let text = notification.last(where: { $0.key == row.key })?.value else { return nil }
        switch row.form {
        case .text: return .string(text)
        case .number:
            guard let number = JSONReader.integer(Array(text.utf8).raw) else {
                throw APNsMapper.invalid("\(row.key) is not a number")
            }
            return .integer(number)
        case .sound:
            guard text.hasPrefix("{"), let value = parsed(text), value.members != nil else {
                return .string(text)
            }
            return value
        case .list:
            guard let elements = parsed(text)?.elements else {
                throw APNsMapper.invalid("\(row.key) is not a JSON array")
            }
            return .array(elements.map { .string($0.text ?? $0.compact) })
        }
    }

    private static func parsed(_ text: String) -> JSONValue? {
        do throws(JSONError) { return try JSONValue(parsing: Array(text.utf8).raw) } catch { return nil }
    }
}

extension [JSONValue.Member] {
    /// Replaces the value of a member, or appends the member.
    mutating func set(_ key: String, _ value: JSONValue) {
        if let at = firstIndex(where: { $0.key == key }) {
            self[at].value = value
        } else {
            append(JSONValue.Member(key, value))
        }
    }
}
