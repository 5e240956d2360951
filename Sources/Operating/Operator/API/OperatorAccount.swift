public import Basics

/// The stored record of an operator of the API.
public struct OperatorAccount: Record, Equatable {
    public var name: String
    public var role: Role
    /// The SHA-256 of the token.
    public var digest: [UInt8]
    public var createdAt: UnixMilliseconds
    public var expiresAt: UnixMilliseconds?

    /// Creates a record.
    public init(
        name: String, role: Role, digest: [UInt8], createdAt: UnixMilliseconds, expiresAt: UnixMilliseconds?
    ) {
        self.name = name
        self.role = role
        self.digest = digest
        self.createdAt = createdAt
        self.expiresAt = expiresAt
    }

    /// Whether the token has ended.
    public func isExpired(_ now: UnixMilliseconds) -> Bool { expiresAt.map { $0 <= now } ?? false }

    public static let fields = Fields(
        OperatorAccount.init(name:role:digest:createdAt:expiresAt:),
        .required("name", .operatorName, \.name, "The name."),
        .required("role", .word, \.role, "The role."),
        .required("digest", .base64(upTo: 32), \.digest, "The SHA-256 of the token."),
        .required("created_at", .time, \.createdAt, "When the operator was added."),
        .optional("expires_at", .time, \.expiresAt, "When the token ends."))
}

/// The stored records of all operators.
public struct OperatorAccountList: Record {
    public var operators: [OperatorAccount]

    /// Creates a list.
    public init(operators: [OperatorAccount]) { self.operators = operators }

    public static let fields = Fields(
        OperatorAccountList.init(operators:),
        .required("operators", .list(.record), \.operators, "The operators, by name."))
}
