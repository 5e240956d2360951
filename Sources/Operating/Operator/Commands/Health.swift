/// Checks whether the daemon works, and for how long it will.
public struct CheckHealth: OperatorCommand {
    public static let summary = OperationSummary.reading(
        "health", "Check whether the daemon works, and name what will stop it soon.",
        details: [
            "It checks the store, the state, the clock, the registry, the disk, the descriptors, the certificates, the cluster, the last reload, APNs and webhooks, most urgent first.",
            "A cluster has one finding for each cause of its alarms.",
        ])
    public static let fields = Fields(CheckHealth.init)

    /// What can be wrong, most urgent first.
    public enum Cause: String, Sendable, CaseIterable {
        case storeFailing = "store_failing"
        case storeDamaged = "store_damaged"
        case notServing = "not_serving"
        case registryFull = "registry_full"
        case diskLow = "disk_low"
        case descriptorsLow = "descriptors_low"
        case certificateExpiring = "certificate_expiring"
        case apnsCertificateExpiring = "apns_certificate_expiring"
        case clockInDoubt = "clock_in_doubt"
        case logDisconnected = "log_disconnected"
        case clusterAlarm = "cluster_alarm"
        case clusterDegraded = "cluster_degraded"
        case reloadFailed = "reload_failed"
        case gatewayFailing = "gateway_failing"
    }

    /// Something that is wrong.
    public struct Finding: Record {
        public var cause: Cause
        public var problem: String
        public var action: String

        /// Creates a finding.
        public init(cause: Cause, problem: String, action: String) {
            self.cause = cause
            self.problem = problem
            self.action = action
        }

        public static let fields = Fields(
            Finding.init(cause:problem:action:),
            .required("cause", .word, \.cause, "What is wrong, as a word."),
            .required("problem", .text, \.problem, "What is wrong."),
            .required("action", .text, \.action, "What to do."))
    }

    /// The result of the check.
    public struct Answer: Record {
        public var isHealthy: Bool
        public var state: String
        public var findings: [Finding]

        /// Creates an answer.
        public init(isHealthy: Bool, state: String, findings: [Finding]) {
            self.isHealthy = isHealthy
            self.state = state
            self.findings = findings
        }

        public static let fields = Fields(
            Answer.init(isHealthy:state:findings:),
            .required("healthy", .boolean, \.isHealthy, "Whether nothing is wrong."),
            .required("state", .text, \.state, "\(ServiceWord.list)."),
            .required("findings", .list(.record), \.findings, "What is wrong, most urgent first."))
    }

    public static func auditResult(_ answer: Answer) -> String {
        answer.findings.first?.cause.rawValue ?? "ok"
    }
}
