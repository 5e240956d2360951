public import Basics

/// What `ccsctl --json` prints if a command fails or is refused.
public struct ErrorOutput: Record {
    public var error: String
    public var hint: String
    public var exitCode: Int

    /// Creates an output.
    public init(error: String, hint: String, exitCode: Int) {
        self.error = error
        self.hint = hint
        self.exitCode = exitCode
    }

    public static let fields = Fields(
        ErrorOutput.init(error:hint:exitCode:),
        .required("error", .text, \.error, "What is wrong."),
        .required("hint", .text, \.hint, "What to do about it; may be empty."),
        .required("exit_code", .integer(1...255), \.exitCode, "The exit code of the program."))
}

/// A text that `ccsctl --json` prints for a command whose output is not JSON.
public struct TextOutput: Record {
    public var text: String

    /// Creates an output.
    public init(text: String) { self.text = text }

    public static let fields = Fields(
        TextOutput.init(text:),
        .required("text", .text, \.text, "The text that the command prints without --json."))
}

/// What `ccsctl cluster found --json` prints.
public struct FoundedClusterOutput: Record {
    public var cluster: String
    public var partitions: Int
    public var folders: [String]
    public var isSyncChecked: Bool

    /// Creates an output.
    public init(cluster: String, partitions: Int, folders: [String], isSyncChecked: Bool) {
        self.cluster = cluster
        self.partitions = partitions
        self.folders = folders
        self.isSyncChecked = isSyncChecked
    }

    public static let fields = Fields(
        FoundedClusterOutput.init(cluster:partitions:folders:isSyncChecked:),
        .required("cluster", .text, \.cluster, "The ID of the cluster."),
        .required("partitions", .integer(1...Int.max), \.partitions, "The number of partitions."),
        .required("folders", .list(.text), \.folders, "The folders of the nodes, in order of their numbers."),
        .required(
            "sync_checked", .boolean, \.isSyncChecked,
            "Whether the servers of NATS were asked whether they sync each record (--log-monitor)."))
}

/// What `ccsctl cluster add --json` prints.
public struct AddedNodeOutput: Record {
    public var cluster: String
    public var node: NodeNumber
    public var folder: String

    /// Creates an output.
    public init(cluster: String, node: NodeNumber, folder: String) {
        self.cluster = cluster
        self.node = node
        self.folder = folder
    }

    public static let fields = Fields(
        AddedNodeOutput.init(cluster:node:folder:),
        .required("cluster", .text, \.cluster, "The ID of the cluster."),
        .required("node", .node, \.node, "The number of the new node."),
        .required("folder", .text, \.folder, "Its folder."))
}

/// What `ccsctl version --json` prints.
public struct VersionOutput: Record {
    public var tool: String
    public var commit: String?
    public var daemon: String?

    /// Creates an output.
    public init(tool: String, commit: String?, daemon: String?) {
        self.tool = tool
        self.commit = commit
        self.daemon = daemon
    }

    public static let fields = Fields(
        VersionOutput.init(tool:commit:daemon:),
        .required("ccsctl", .text, \.tool, "The version of ccsctl."),
        .nullable("commit", .text, \.commit, "The commit that ccsctl was built from; null if it is unknown."),
        .nullable("ccsd", .text, \.daemon, "The version of the daemon; null if none answers."))
}

/// What `ccsctl explain --json` prints.
public struct WordsOutput: Record {
    /// A word with its meaning.
    public struct Row: Record {
        public var word: String
        public var kind: String
        public var meaning: String

        /// Creates a row.
        public init(word: String, kind: String, meaning: String) {
            self.word = word
            self.kind = kind
            self.meaning = meaning
        }

        public static let fields = Fields(
            Row.init(word:kind:meaning:), .required("word", .text, \.word, "The word."),
            .required("kind", .text, \.kind, "What the word is."),
            .required("meaning", .text, \.meaning, "What it means."))
    }

    /// The words.
    public var words: [Row]

    /// Creates an output.
    public init(words: [Row]) { self.words = words }

    public static let fields = Fields(
        WordsOutput.init(words:), .required("words", .list(.record), \.words, "The words."))
}

/// What `ccsctl config docs --json` prints.
public struct KeysOutput: Record {
    /// A key of the configuration.
    public struct Row: Record {
        public var key: String
        public var flag: String
        public var variable: String
        public var takes: String
        public var unit: String
        public var preset: String
        public var isReloadable: Bool
        public var since: String
        public var help: String
        public var reason: String

        /// Creates a row.
        public init(
            key: String, flag: String, variable: String, takes: String, unit: String, preset: String,
            isReloadable: Bool, since: String, help: String, reason: String
        ) {
            self.key = key
            self.flag = flag
            self.variable = variable
            self.takes = takes
            self.unit = unit
            self.preset = preset
            self.isReloadable = isReloadable
            self.since = since
            self.help = help
            self.reason = reason
        }

        public static let fields = Fields(
            Row.init(key:flag:variable:takes:unit:preset:isReloadable:since:help:reason:),
            .required("key", .text, \.key, "The config key."),
            .required("flag", .text, \.flag, "The flag of ccsd that sets it."),
            .required("variable", .text, \.variable, "The environment variable that sets it."),
            .required("takes", .text, \.takes, "The allowed values."),
            .required("unit", .text, \.unit, "The unit of a number; empty if it has none."),
            .required("default", .text, \.preset, "The default."),
            .required("reloadable", .boolean, \.isReloadable, "Whether a reload applies a change."),
            .required("since", .text, \.since, "The version that added the key."),
            .required("help", .text, \.help, "A description."),
            .required("reason", .text, \.reason, "Why the key exists, or why its default is what it is."))
    }

    /// The keys.
    public var keys: [Row]

    /// Creates an output.
    public init(keys: [Row]) { self.keys = keys }

    public static let fields = Fields(
        KeysOutput.init(keys:), .required("keys", .list(.record), \.keys, "The keys."))
}
