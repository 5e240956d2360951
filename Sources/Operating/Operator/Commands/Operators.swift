public import Basics
import Wire

extension FieldKind where Value == String {
    /// The name of an operator: it begins with a letter, so that no user ID looks like one.
    static var operatorName: FieldKind {
        scalar(
            .named(
                "a name of up to \(Limits.OperatorAPI.nameBytes) lower-case letters, digits, '.', '-' and '_', beginning with a letter"
            ), "NAME",
            parse: { value in
                guard let text = value.text(of: 1...Limits.OperatorAPI.nameBytes), text != "local",
                    let first = text.utf8.first, (0x61...0x7A).contains(first),
                    text.utf8.allSatisfy({
                        (0x61...0x7A).contains($0) || (0x30...0x39).contains($0)
                            || [UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_")].contains($0)
                    })
                else { return nil }
                return text
            }, encode: { .string($0) })
    }
}

/// Adds an operator of the API.
public struct AddOperator: OperatorCommand {
    public var name: String
    public var role: Role
    /// Seconds for which the token is valid; `nil` for ever.
    public var seconds: Int?

    /// Creates the command.
    public init(name: String, role: Role = .viewer, seconds: Int? = nil) {
        self.name = name
        self.role = role
        self.seconds = seconds
    }

    public static let summary = OperationSummary.changing(
        "operators add", "Add an operator for the API over HTTPS, and show the token.",
        details: [
            "The token is shown once and stored as a digest. A viewer may read; an operator may also change, and read tokens and keys. The API needs operator_api: true.",
            "In a cluster each node has its own operators.",
        ])
    public static let fields = Fields(
        AddOperator.init(name:role:seconds:),
        .required("name", .operatorName, \.name, audit: .operatorName, "The name, which the audit log has."),
        .preset("role", .word, \.role, .viewer, audit: .role, "What the operator may do."),
        .optional(
            "expires", .duration(upTo: Limits.OperatorAPI.tokenSeconds), \.seconds, audit: .duration,
            "The token ends after this time, such as 90d. Default: never."))

    /// The new operator.
    public struct Answer: Record {
        public var name: String
        public var role: Role
        public var token: Redacted<String>
        public var expiresAt: UnixMilliseconds?

        /// Creates an answer.
        public init(name: String, role: Role, token: Redacted<String>, expiresAt: UnixMilliseconds?) {
            self.name = name
            self.role = role
            self.token = token
            self.expiresAt = expiresAt
        }

        public static let fields = Fields(
            Answer.init(name:role:token:expiresAt:),
            .required("name", .text, \.name, "The name."),
            .required("role", .word, \.role, "The role."),
            .required(
                "token", .secret(0...Int.max, "a token"), \.token, "The token, which is not shown again."),
            .nullable("expires_at", .time, \.expiresAt, "When the token ends; null if it does not."))
    }
}

/// Lists the operators of the API.
public struct ListOperators: OperatorCommand {
    public static let summary = OperationSummary.reading(
        "operators list", "List the operators of the API, without their tokens.")
    public static let fields = Fields(ListOperators.init)

    /// An operator.
    public struct Row: Record {
        public var name: String
        public var role: Role
        public var createdAt: UnixMilliseconds
        public var expiresAt: UnixMilliseconds?
        public var isExpired: Bool
        public var sessions: Int

        /// Creates a row.
        public init(
            name: String, role: Role, createdAt: UnixMilliseconds, expiresAt: UnixMilliseconds?,
            isExpired: Bool, sessions: Int
        ) {
            self.name = name
            self.role = role
            self.createdAt = createdAt
            self.expiresAt = expiresAt
            self.isExpired = isExpired
            self.sessions = sessions
        }

        public static let fields = Fields(
            Row.init(name:role:createdAt:expiresAt:isExpired:sessions:),
            .required("name", .text, \.name, "The name."),
            .required("role", .word, \.role, "The role."),
            .required("created_at", .time, \.createdAt, "When the operator was added."),
            .nullable("expires_at", .time, \.expiresAt, "When the token ends; null if it does not."),
            .required("expired", .boolean, \.isExpired, "Whether the token has ended."),
            .required("sessions", .count, \.sessions, "The number of open sessions of browsers."))
    }

    /// All operators.
    public struct Answer: Record {
        public var operators: [Row]

        /// Creates an answer.
        public init(operators: [Row]) { self.operators = operators }

        public static let fields = Fields(
            Answer.init(operators:),
            .required("operators", .list(.record), \.operators, "The operators, by name."))
    }
}

/// Removes an operator of the API.
public struct RemoveOperator: OperatorCommand {
    public var name: String

    public static let summary = OperationSummary.destroying(
        "operators remove", "Remove an operator of the API; the token and its sessions end at once.")

    public var consequence: String? { "The token of \(name) and its sessions end, and cannot be restored." }
    public static let fields = Fields(
        RemoveOperator.init(name:),
        .required("name", .operatorName, \.name, audit: .operatorName, "The name of the operator."))

    /// The removed operator.
    public struct Answer: Record {
        public var name: String

        /// Creates an answer.
        public init(name: String) { self.name = name }

        public static let fields = Fields(
            Answer.init(name:), .required("name", .text, \.name, "The name of the removed operator."))
    }
}
