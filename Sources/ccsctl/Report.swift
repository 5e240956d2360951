import Basics

/// Values as people read them.
enum Report {
    /// Text of a stranger, `-` where there is none.
    static func cell(_ text: String?) -> String {
        guard let text, !text.isEmpty else { return "-" }
        return safe(text)
    }

    /// A number, `-` where there is none.
    static func cell(_ number: Int?) -> String { number.map { String($0) } ?? "-" }

    /// Yes or no.
    static func cell(_ truth: Bool) -> String { truth ? "yes" : "no" }

    /// The ID of a sender.
    static func cell(_ sender: SenderID) -> String { String(sender.number) }

    /// The ID of a sender, where there is one.
    static func cell(_ sender: SenderID?) -> String { sender.map { cell($0) } ?? "-" }

    /// The ID of a session.
    static func cell(_ session: ConnectionID) -> String {
        "\(session.reactor)-\(session.slot)-\(session.generation)"
    }

    /// A time, `-` where there is none.
    static func time(_ time: UnixMilliseconds?) -> String { time.map { Timestamp.text($0) } ?? "-" }

    /// Text of a stranger without what moves a terminal's cursor.
    static func safe(_ text: String) -> String { Printable.text(text) }
}
