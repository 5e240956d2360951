public import Basics

/// Checks the configuration of the running daemon.
public struct CheckConfiguration: OperatorCommand {
    /// The command.
    public init() {}

    public static let summary = OperationSummary.reading(
        .checkConfiguration,
        "Check the configuration, and the files, folders, sockets and ports that it names.")
    public static let fields = Fields(CheckConfiguration.init)

    /// What the check found.
    public struct Answer: Record {
        /// Whether the daemon would start with this configuration.
        public var isSound: Bool
        /// The findings, in the order in which they were made.
        public var findings: [Finding]
        /// Mistakes beyond those that are listed.
        public var leftOut: Int

        /// What a check found.
        public init(isSound: Bool, findings: [Finding], leftOut: Int) {
            self.isSound = isSound
            self.findings = findings
            self.leftOut = leftOut
        }

        public static let fields = Fields(
            Answer.init(isSound:findings:leftOut:),
            .required("ok", .truth, \.isSound, "Whether the daemon would start with this configuration."),
            .required("findings", .list(.record), \.findings, "What was found, in order."),
            .required("left_out", .count, \.leftOut, "Mistakes beyond those that are listed."))
    }

    /// One thing that a check found.
    public struct Finding: Record {
        /// How much it matters.
        public enum Severity: String, Sendable, CaseIterable {
            /// The daemon would not start, or clients would refuse it.
            case error
            /// The daemon would start; someone should look at it.
            case warning
            /// Nothing is wrong; it explains why something was not tried.
            case note
        }

        /// How much it matters.
        public var severity: Severity
        /// The file in which the value stands.
        public var file: String?
        /// Its line.
        public var line: Int?
        /// Its column.
        public var column: Int?
        /// The flag that gave the value.
        public var flag: String?
        /// The environment variable that gave the value.
        public var variable: String?
        /// The key that it is about.
        public var key: String?
        /// What was found.
        public var problem: String
        /// What to do about it; empty where there is nothing to say.
        public var hint: String
        /// All of it in one line.
        public var text: String

        /// A finding.
        public init(
            severity: Severity, file: String? = nil, line: Int? = nil, column: Int? = nil,
            flag: String? = nil, variable: String? = nil, key: String? = nil, problem: String, hint: String,
            text: String
        ) {
            self.severity = severity
            self.file = file
            self.line = line
            self.column = column
            self.flag = flag
            self.variable = variable
            self.key = key
            self.problem = problem
            self.hint = hint
            self.text = text
        }

        public static let fields = Fields(
            Finding.init(severity:file:line:column:flag:variable:key:problem:hint:text:),
            .required("severity", .word, \.severity, "How much it matters."),
            .optional("file", .text, \.file, "The file in which the value stands."),
            .optional("line", .count, \.line, "Its line."),
            .optional("column", .count, \.column, "Its column."),
            .optional("flag", .text, \.flag, "The flag that gave the value."),
            .optional("variable", .text, \.variable, "The environment variable that gave the value."),
            .optional("key", .text, \.key, "The key that it is about."),
            .required("problem", .text, \.problem, "What was found."),
            .required("hint", .text, \.hint, "What to do about it."),
            .required("text", .text, \.text, "All of it in one line."))
    }
}

/// Reads configuration and certificates again.
public struct ReloadConfiguration: OperatorCommand {
    /// A certificate with its chain (PEM), to use in the place of the configured file.
    public var certificate: String?
    /// Its private key (PEM).
    public var privateKey: Redacted<String>?
    /// The file that the certificate was read from, for errors alone: the daemon may be unable to read it.
    public var certificateFile: String?
    /// The file that the key was read from, for errors alone.
    public var privateKeyFile: String?

    /// Reads the configured files again, or takes a certificate and its key over.
    public init(
        certificate: String? = nil, privateKey: Redacted<String>? = nil, certificateFile: String? = nil,
        privateKeyFile: String? = nil
    ) {
        self.certificate = certificate
        self.privateKey = privateKey
        self.certificateFile = certificateFile
        self.privateKeyFile = privateKeyFile
    }

    public static let summary = OperationSummary.changing(
        .reloadConfiguration,
        "Read configuration and certificates again; wrong ones change nothing. Says which changes wait for a restart.",
        details: [
            "A certificate that is handed over is used in the place of certificate_file and key_file until those change: systemd shows a service the credentials of its start, and not their renewal."
        ])

    public static let fields = Fields(
        ReloadConfiguration.init(certificate:privateKey:certificateFile:privateKeyFile:),
        .optional(
            "certificate", .text(0...Limits.Operator.fileBytes, as: "PEM"), \.certificate,
            "The renewed certificate with its chain (PEM)."),
        .optional(
            "private_key",
            .secret(
                0...Limits.Operator.fileBytes, "PEM of up to \(Limits.Operator.fileBytes) bytes", as: "PEM"),
            \.privateKey, "Its private key (PEM)."),
        .optional(
            "certificate_file", .text(0...Limits.Operator.pathBytes, as: "FILE"), \.certificateFile,
            "The file of the certificate, as errors are to name it."),
        .optional(
            "private_key_file", .text(0...Limits.Operator.pathBytes, as: "FILE"), \.privateKeyFile,
            "The file of the key, as errors are to name it."))

    public func check() throws(FieldProblem) {
        guard (certificate == nil) == (privateKey == nil) else {
            throw .conflict(
                "certificate and private_key belong together", hint: "give both as PEM, or neither")
        }
    }

    /// What a reload changed.
    public struct Answer: Record {
        /// Whether the new configuration is in use.
        public var isReloaded: Bool
        /// Keys whose new values are in use.
        public var changed: [String]
        /// Keys whose new values wait for a restart.
        public var needsRestart: [String]

        /// What a reload changed.
        public init(isReloaded: Bool, changed: [String], needsRestart: [String]) {
            self.isReloaded = isReloaded
            self.changed = changed
            self.needsRestart = needsRestart
        }

        public static let fields = Fields(
            Answer.init(isReloaded:changed:needsRestart:),
            .required("reloaded", .truth, \.isReloaded, "Whether the new configuration is in use."),
            .required("changed", .list(.text), \.changed, "Keys whose new values are in use."),
            .required(
                "needs_restart", .list(.text), \.needsRestart, "Keys whose new values wait for a restart."))
    }
}
