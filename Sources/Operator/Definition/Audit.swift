public import Basics

/// The words of the arguments in an audit line, in the order in which they stand there.
public enum AuditWord: String, Sendable, CaseIterable, Comparable {
    case sender
    case label
    case project
    case keyID = "key_id"
    case session
    case installation
    /// Whom a message or a command is for.
    case target

    public static func < (a: AuditWord, b: AuditWord) -> Bool { a.position < b.position }

    private var position: Int {
        switch self {
        case .sender: 0
        case .label: 1
        case .project: 2
        case .keyID: 3
        case .session: 4
        case .installation: 5
        case .target: 6
        }
    }
}

/// An argument of a command as the audit line has it.
public struct AuditEntry: Sendable {
    /// Its value.
    public enum Value: Sendable {
        /// A name or an ID.
        case text(String)
        /// A number of a device, a topic, or a token, which must be replaced by what it is for: it allows what its device allows.
        case recipient(Redacted<String>)
    }

    /// Its word.
    public let word: AuditWord
    /// Its value.
    public let value: Value
}
