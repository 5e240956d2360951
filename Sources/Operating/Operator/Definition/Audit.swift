public import Basics

/// The keys of arguments in an audit line, in the order in which they are written.
public enum AuditKey: String, Sendable, CaseIterable, Comparable {
    case sender
    case label
    case project
    case keyID = "key_id"
    /// The ID of a credential for APNs.
    case credential
    /// The bundle ID of an iOS app.
    case bundle
    case session
    case installation
    /// The folder of a backup.
    case path
    /// The recipient of a message, or the device of a command.
    case target
    /// The level of the log.
    case level
    /// The time for which a change holds.
    case duration
    /// A partition of a cluster.
    case partition
    /// A node of a cluster.
    case node
    /// An operator of the API.
    case operatorName = "operator"
    /// The role of an operator.
    case role

    public static func < (a: AuditKey, b: AuditKey) -> Bool { a.position < b.position }

    private var position: Int {
        switch self {
        case .sender: 0
        case .label: 1
        case .project: 2
        case .keyID: 3
        case .credential: 4
        case .bundle: 5
        case .session: 6
        case .installation: 7
        case .path: 8
        case .target: 9
        case .level: 10
        case .duration: 11
        case .partition: 12
        case .node: 13
        case .operatorName: 14
        case .role: 15
        }
    }
}

/// An argument of a command as the audit line records it.
public struct AuditEntry: Sendable {
    /// How a value is recorded.
    public enum Value: Sendable {
        /// A name or an ID.
        case text(String)
        /// A device number, a topic, or a token; a token must be replaced by the device's number, since it grants access.
        case recipient(Redacted<String>)
    }

    /// The key in the audit line.
    public let key: AuditKey
    public let value: Value
}
