public import Basics

/// Checks the configuration of the running daemon.
public struct CheckConfiguration: OperatorCommand {
    public static let summary = OperationSummary.reading(
        "check",
        "Check the configuration, and the files, folders, sockets and ports in it.")
    public static let fields = Fields(CheckConfiguration.init)

    /// The findings of the check.
    public struct Answer: Record {
        public var isSound: Bool
        public var findings: [Finding]
        public var leftOut: Int

        /// Creates an answer.
        public init(isSound: Bool, findings: [Finding], leftOut: Int) {
            self.isSound = isSound
            self.findings = findings
            self.leftOut = leftOut
        }

        public static let fields = Fields(
            Answer.init(isSound:findings:leftOut:),
            .required("ok", .boolean, \.isSound, "Whether the daemon would start with this configuration."),
            .required("findings", .list(.record), \.findings, "The findings, in the order of the checks."),
            .required("left_out", .count, \.leftOut, "The number of mistakes that are not listed."))
    }

    /// A finding of the check.
    public struct Finding: Record {
        /// How serious a finding is.
        public enum Severity: String, Sendable, CaseIterable {
            /// The daemon would not start, or clients would refuse it.
            case error
            /// The daemon would start, but the operator should look at it.
            case warning
            /// Nothing is wrong; it explains why a check was skipped.
            case note
        }

        /// How serious the finding is.
        public var severity: Severity
        public var file: String?
        public var line: Int?
        public var column: Int?
        public var flag: String?
        public var variable: String?
        public var key: String?
        public var problem: String
        /// What to do about the finding; may be empty.
        public var hint: String
        public var text: String

        /// Creates a finding.
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
            .required("severity", .word, \.severity, "How serious the finding is."),
            .optional("file", .text, \.file, "The file with the value."),
            .optional("line", .count, \.line, "The line in the file."),
            .optional("column", .count, \.column, "The column in the line."),
            .optional("flag", .text, \.flag, "The flag with the value."),
            .optional("variable", .text, \.variable, "The environment variable with the value."),
            .optional("key", .text, \.key, "The config key."),
            .required("problem", .text, \.problem, "What is wrong."),
            .required("hint", .text, \.hint, "What to do about it; may be empty."),
            .required("text", .text, \.text, "The whole finding in one line."))
    }
}

/// Reloads the configuration and certificates.
public struct ReloadConfiguration: OperatorCommand {
    /// A certificate with its chain (PEM), to use instead of the configured file.
    public var certificate: String?
    public var privateKey: Redacted<String>?
    /// The file that the certificate was read from, only for error messages: the daemon may be unable to read it.
    public var certificateFile: String?
    /// The file that the key was read from, only for error messages.
    public var privateKeyFile: String?

    /// Creates the command; without a certificate and its key the configured files are read again.
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
        "reload",
        "Reload the configuration and certificates, and report which changes need a restart. If any of them is invalid, nothing changes.",
        details: [
            "A certificate passed with the command is used instead of certificate_file and key_file until those change. It is for services under systemd, which keep the credentials of their start and do not see a renewal."
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
            \.privateKey, "The private key of the certificate (PEM)."),
        .optional(
            "certificate_file", .text(0...Limits.Operator.pathBytes, as: "FILE"), \.certificateFile,
            "The path of the certificate, for error messages."),
        .optional(
            "private_key_file", .text(0...Limits.Operator.pathBytes, as: "FILE"), \.privateKeyFile,
            "The path of the key, for error messages."))

    public func check() throws(FieldProblem) {
        guard (certificate == nil) == (privateKey == nil) else {
            throw .conflict(
                "certificate and private_key must be given together", hint: "give both as PEM, or neither")
        }
    }

    /// The changes made by the reload.
    public struct Answer: Record {
        public var isReloaded: Bool
        public var changed: [String]
        public var needsRestart: [String]

        /// Creates an answer.
        public init(isReloaded: Bool, changed: [String], needsRestart: [String]) {
            self.isReloaded = isReloaded
            self.changed = changed
            self.needsRestart = needsRestart
        }

        public static let fields = Fields(
            Answer.init(isReloaded:changed:needsRestart:),
            .required("reloaded", .boolean, \.isReloaded, "Whether the new configuration is in use."),
            .required("changed", .list(.text), \.changed, "The keys whose new values are in use."),
            .required(
                "needs_restart", .list(.text), \.needsRestart, "The keys whose new values need a restart."))
    }
}
