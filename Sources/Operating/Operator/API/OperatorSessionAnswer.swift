/// The answer about the caller and the session: `/operator/v1/session`.
public struct OperatorSessionAnswer: Record {
    public var name: String
    public var role: Role
    public var idleSeconds: Int?
    public var hasTestBench: Bool

    /// Creates an answer.
    public init(name: String, role: Role, idleSeconds: Int?, hasTestBench: Bool) {
        self.name = name
        self.role = role
        self.idleSeconds = idleSeconds
        self.hasTestBench = hasTestBench
    }

    public static let fields = Fields(
        OperatorSessionAnswer.init(name:role:idleSeconds:hasTestBench:),
        .required("name", .text, \.name, "The name of the operator."),
        .required("role", .word, \.role, "What the operator may do."),
        .nullable(
            "idle_seconds", .count, \.idleSeconds,
            "Seconds after which the session ends without a further request; null without a session."),
        .required("test_bench", .boolean, \.hasTestBench, "Whether the server has virtual devices."))
}
