public import Basics
import Wire

extension FieldKind where Value == SenderID {
    /// A sender ID: encoded as text, decoded from text or a number.
    public static var sender: FieldKind {
        scalar(
            .number("a sender ID", 1...(.max)), "N",
            parse: { value in
                guard let digits = value.integer.map({ String($0) }) ?? value.text else { return nil }
                return SenderID(decimal: digits.utf8)
            }, encode: { .string(String($0.number)) })
    }
}

extension FieldKind where Value == NodeNumber {
    /// The number of a node of a cluster.
    static var node: FieldKind {
        let range = 1...Int(UInt16.max)
        return scalar(
            .integer(range), "NODE",
            parse: { value in
                guard let number = value.integer ?? value.digits.flatMap({ Int($0) }), range.contains(number)
                else { return nil }
                return NodeNumber(UInt16(number))
            }, encode: { .integer(Int($0.number)) })
    }
}

extension FieldKind where Value == DeviceID {
    /// The number of a device (Android ID): encoded as text, decoded from text or a number. A list may begin after 0.
    public static func device(from least: Int = 1) -> FieldKind {
        scalar(
            .number("the number of a device", least...(.max)), "DEVICE",
            parse: { value in
                guard let number = DeviceTarget.number(value), number >= UInt64(least) else { return nil }
                return DeviceID(number)
            }, encode: { .string(String($0.number)) })
    }
}

extension FieldKind where Value == SequenceNumber {
    /// A position in a list of messages: encoded as text, decoded from text or a number.
    static var position: FieldKind {
        scalar(
            .number("a position in the list", 0...(.max)), "POSITION",
            parse: { DeviceTarget.number($0).map { SequenceNumber($0) } },
            encode: { .string(String($0.number)) })
    }
}

extension FieldKind where Value == HistoryCursor {
    /// A position in the message history: encoded as text, decoded from text or a number.
    static var cursor: FieldKind {
        scalar(
            .named("a position in the history, as an earlier answer has it"), "POSITION",
            parse: { value in
                (value.integer.map { "\($0)" } ?? value.text).flatMap { HistoryCursor($0) }
            }, encode: { .string($0.text) })
    }
}

/// A device, by its number or by a registration token of one of its apps.
public enum DeviceTarget: Sendable {
    /// The number (Android ID).
    case device(DeviceID)
    case token(Redacted<String>)

    /// Returns the number that a value encodes. Returns `nil` for anything else, such as a token.
    static func number(_ value: JSONValue) -> UInt64? {
        value.integer.flatMap { UInt64(exactly: $0) } ?? value.digits.flatMap { UInt64($0) }
    }
}

extension FieldKind where Value == DeviceTarget {
    /// The number of a device, or a registration token.
    static var target: FieldKind {
        scalar(
            .named("the number of a device or a registration token"), "DEVICE|TOKEN", isSecret: true,
            parse: { value in
                if let number = DeviceTarget.number(value) {
                    return number > 0 ? .device(DeviceID(number)) : nil
                }
                return value.text.flatMap { $0.isEmpty ? nil : .token(Redacted($0)) }
            },
            encode: { target in
                switch target {
                case .device(let device): .string(String(device.number))
                case .token(let token): .string(token.revealed)
                }
            })
    }
}

extension FieldKind where Value == SessionID {
    /// The ID of a session.
    static var session: FieldKind {
        scalar(
            .named("the ID of a session, such as 0-345"), "ID",
            parse: { $0.text.flatMap { SessionID(text: $0) } }, encode: { .string($0.text) })
    }
}

extension FieldKind where Value == String {
    /// The ID of a Firebase installation.
    static var installation: FieldKind {
        scalar(
            .named("the ID of a Firebase installation, \(InstallationToken.idLength) characters"),
            "INSTALLATION",
            parse: { value in
                value.text.flatMap { $0.utf8.count == InstallationToken.idLength ? $0 : nil }
            },
            encode: { .string($0) })
    }
}

/// A position in the list of topics: a topic of a sender.
public struct TopicPosition: Sendable, Equatable {
    public var sender: SenderID
    public var topic: String

    /// Creates the position of a topic.
    public init(sender: SenderID, topic: String) {
        self.sender = sender
        self.topic = topic
    }
}

extension FieldKind where Value == TopicPosition {
    /// `SENDER_ID/TOPIC`.
    static var topicPosition: FieldKind {
        scalar(
            .named("a topic as SENDER_ID/TOPIC"), "SENDER_ID/TOPIC",
            parse: { value in
                let parts = (value.text ?? "").split(separator: "/", maxSplits: 1)
                guard parts.count == 2, let sender = SenderID(decimal: parts[0].utf8) else { return nil }
                return TopicPosition(sender: sender, topic: String(parts[1]))
            }, encode: { .string("\($0.sender.number)/\($0.topic)") })
    }
}

extension FieldKind where Value == String {
    /// The bundle ID of an iOS app, or a topic derived from it.
    static var bundle: FieldKind {
        scalar(
            .named("the bundle ID of an app, such as com.example.app"), "BUNDLE_ID",
            parse: { value in value.text.flatMap { AppleNames.isBundle($0) ? $0 : nil } },
            encode: { .string($0) })
    }

    /// The ID of a key or a team at Apple.
    static func appleIdentifier(as placeholder: String) -> FieldKind {
        scalar(
            .named("ten capital letters and digits, such as ABC123DEFG"), placeholder,
            parse: { value in value.text.flatMap { AppleNames.isIdentifier($0) ? $0 : nil } },
            encode: { .string($0) })
    }

    /// The ID of a credential for APNs.
    static var apnsCredential: FieldKind {
        text(1...Limits.APNsCredentials.bundleBytes.upperBound * 2, as: "CREDENTIAL")
    }
}

extension FieldKind where Value == UnixMilliseconds {
    /// A time in UTC.
    public static var time: FieldKind {
        scalar(
            .time, "TIME", parse: { $0.text.flatMap { Timestamp.parsed(Array($0.utf8)) } },
            encode: { .string(Timestamp.text($0)) })
    }
}

extension FieldKind where Value == Redacted<[UInt8]> {
    /// The content of a file as Base64, which must not appear in logs and error texts.
    public static func secretFile(upTo bytes: Int) -> FieldKind {
        scalar(
            .named("Base64 of up to \(bytes) bytes"), "BASE64", isSecret: true,
            parse: { value in value.base64(upTo: bytes).map { Redacted($0) } },
            encode: { .string(Base64.text($0.revealed)) })
    }
}
