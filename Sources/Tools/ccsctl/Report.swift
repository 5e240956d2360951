import Basics

/// Formats values as text.
enum Report {
    /// Untrusted text made printable; `-` if it is empty.
    static func cell(_ text: String?) -> String {
        guard let text, !text.isEmpty else { return "-" }
        return safe(text)
    }

    /// A number; `-` for `nil`.
    static func cell(_ number: Int?) -> String { number.map { String($0) } ?? "-" }

    /// `yes` or `no`.
    static func cell(_ value: Bool) -> String { value ? "yes" : "no" }

    /// A sender ID.
    static func cell(_ sender: SenderID) -> String { String(sender.number) }

    /// A sender ID; `-` for `nil`.
    static func cell(_ sender: SenderID?) -> String { sender.map { cell($0) } ?? "-" }

    /// A session ID.
    static func cell(_ session: SessionID) -> String { session.text }

    /// A time; `-` for `nil`.
    static func time(_ time: UnixMilliseconds?) -> String { time.map { Timestamp.text($0) } ?? "-" }

    /// Untrusted text without terminal control sequences.
    static func safe(_ text: String) -> String { Printable.text(text) }
}
