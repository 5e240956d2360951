/// Shows the configuration that the running daemon uses, and where each value comes from.
public struct ShowConfiguration: OperatorCommand {
    /// Whether only keys that differ from their default are shown.
    public var isChanged: Bool

    /// Creates the command.
    public init(isChanged: Bool = false) { self.isChanged = isChanged }

    public static let summary = OperationSummary.reading(
        "config show", "Show the configuration in use, and where each value comes from.",
        details: [
            "No value is a secret: certificates and keys are files, of which the configuration has only the paths.",
            "A key that was changed in the file, the environment or the flags and needs a restart is shown with its value in use, and with the pending one. A log level that was set with the command log level is shown with the configured one.",
        ])
    public static let fields = Fields(
        ShowConfiguration.init(isChanged:),
        .preset(
            "changed", .boolean, \.isChanged, false,
            "Only keys that are set, or whose value differs from the default."))

    /// Where a value comes from.
    public enum Source: String, CaseIterable, Sendable {
        /// The default of the key.
        case preset = "default"
        case file
        case environment
        case flag
        /// An operator changed it while the daemon was running.
        case command
    }

    /// A key with its value.
    public struct Row: Record {
        public var key: String
        public var value: String
        public var preset: String
        public var source: Source
        public var file: String?
        public var line: Int?
        public var name: String?
        public var isReloadable: Bool
        public var inUse: String?
        public var pending: String?

        /// Creates a row.
        public init(
            key: String, value: String, preset: String, source: Source, file: String? = nil,
            line: Int? = nil, name: String? = nil, isReloadable: Bool, inUse: String? = nil,
            pending: String? = nil
        ) {
            self.key = key
            self.value = value
            self.preset = preset
            self.source = source
            self.file = file
            self.line = line
            self.name = name
            self.isReloadable = isReloadable
            self.inUse = inUse
            self.pending = pending
        }

        public static let fields = Fields(
            Row.init(key:value:preset:source:file:line:name:isReloadable:inUse:pending:),
            .required("key", .text, \.key, "The config key."),
            .required("value", .text, \.value, "The value in use, in the form of a flag."),
            .required("default", .text, \.preset, "The default of the key."),
            .required("source", .word, \.source, "Where the value comes from."),
            .optional("file", .text, \.file, "The file with the value."),
            .optional("line", .count, \.line, "The line in the file."),
            .optional("name", .text, \.name, "The environment variable or flag with the value."),
            .required(
                "reloadable", .boolean, \.isReloadable, "Whether a reload applies a change of the key."),
            .optional("in_use", .text, \.inUse, "What a value stands for that leaves the choice to ccsd."),
            .optional(
                "pending", .text, \.pending,
                "The configured value that is not in use: it needs a restart, or the end of a command's change."
            )
        )
    }

    /// The keys, in the order of the sample configuration.
    public struct Answer: Record {
        public var file: String?
        public var keys: [Row]

        /// Creates an answer.
        public init(file: String?, keys: [Row]) {
            self.file = file
            self.keys = keys
        }

        public static let fields = Fields(
            Answer.init(file:keys:),
            .nullable("file", .text, \.file, "The configuration file; null if there is none."),
            .required("keys", .list(.record), \.keys, "The keys."))
    }
}
