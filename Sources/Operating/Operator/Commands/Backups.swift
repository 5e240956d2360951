public import Basics

/// Backs up the running server.
public struct MakeBackup: OperatorCommand {
    /// The folder to create: an absolute path, or a name.
    public var path: String
    /// The absolute path of the folder for a name, if the service has no folder for backups.
    public var folder: String?

    /// Creates the command.
    public init(path: String, folder: String? = nil) {
        self.path = path
        self.folder = folder
    }

    public static let silenceSeconds = Limits.Operator.longSilenceSeconds
    public static let summary = OperationSummary.changing(
        "backup", "Back up the running server to a new folder.",
        details: [
            "The backup has everything as of one commit: senders, devices, registrations, topics, groups, waiting messages, the secrets that authenticate tokens, ccsd's own certificate authority, and the credentials for APNs. Messages are accepted and delivered meanwhile. The configuration file, a certificate of your own and its key are not part of it.",
            "ccsd itself writes the folder, which must be new or empty, and outside of the data directory. Under the service unit it may write to /var/lib/ccsd-backup, where it creates a folder of which only the name is given. On the mount of the data directory files are linked, which takes little space and time. Elsewhere they are copied, also from the service unit to /var/lib/ccsd-backup, which systemd mounts separately: that takes the full size of the store. Copy the folder to another machine afterwards. A backup that fails or is interrupted leaves nothing behind.",
            "The backup contains secrets: keep it as safe as the data directory. `ccsd restore` restores it.",
        ])
    public static let fields = Fields(
        MakeBackup.init(path:folder:),
        .required(
            "path", .text(1...Limits.Operator.pathBytes, as: "DIR"), \.path, audit: .path,
            "The folder to create: an absolute path, or a name for a folder in /var/lib/ccsd-backup under the service unit, and in `folder` elsewhere."
        ),
        .optional(
            "folder", .text(1...Limits.Operator.pathBytes, as: "DIR"), \.folder,
            "The absolute path of the folder for a name, where the service has none for backups."))

    /// The backup that was made.
    public struct Answer: Record {
        public var path: String
        public var createdAt: UnixMilliseconds
        public var commit: Int
        public var files: Int
        public var bytes: Int
        public var linkedBytes: Int
        public var milliseconds: Int
        public var notIncluded: [String]

        /// Creates an answer.
        public init(
            path: String, createdAt: UnixMilliseconds, commit: Int, files: Int, bytes: Int, linkedBytes: Int,
            milliseconds: Int, notIncluded: [String]
        ) {
            self.path = path
            self.createdAt = createdAt
            self.commit = commit
            self.files = files
            self.bytes = bytes
            self.linkedBytes = linkedBytes
            self.milliseconds = milliseconds
            self.notIncluded = notIncluded
        }

        public static let fields = Fields(
            Answer.init(path:createdAt:commit:files:bytes:linkedBytes:milliseconds:notIncluded:),
            .required("path", .text, \.path, "The folder of the backup."),
            .required("created_at", .time, \.createdAt, "The time of the backup."),
            .required("commit", .count, \.commit, "The last commit of the store in the backup."),
            .required("files", .count, \.files, "The number of files."),
            .required("bytes", .count, \.bytes, "The size of all files."),
            .required(
                "linked_bytes", .count, \.linkedBytes,
                "The size of the files that share their space with those of the running server."),
            .required("milliseconds", .count, \.milliseconds, "How long the backup took."),
            .required(
                "not_included", .list(.text), \.notIncluded,
                "Files of the server that are not in the backup, and that a restore needs as well."))
    }
}

/// The manifest of a backup, `backup.json` in its folder.
public struct BackupManifest: Record, Equatable {
    /// A file of the backup.
    public struct File: Record, Equatable {
        /// The path in the backup, and in the data directory.
        public var path: String
        public var bytes: Int
        /// The SHA-256 of the content, in hexadecimal.
        public var sha256: String

        /// Creates an entry.
        public init(path: String, bytes: Int, sha256: String) {
            self.path = path
            self.bytes = bytes
            self.sha256 = sha256
        }

        public static let fields = Fields(
            File.init(path:bytes:sha256:),
            .required("path", .text, \.path, "The path in the backup and in the data directory."),
            .required("bytes", .count, \.bytes, "The size."),
            .required("sha256", .text(64...64), \.sha256, "The SHA-256 of the content, in hexadecimal."))
    }

    /// The format that this version writes and reads.
    public static let formatNow = 1

    /// The format of the manifest.
    public var format: Int
    /// The version of ccsd that made the backup.
    public var version: String
    public var createdAt: UnixMilliseconds
    public var storeLayout: Int
    public var partitions: Int
    public var commit: Int
    public var notIncluded: [String]
    public var files: [File]

    /// Creates a manifest of the current format.
    public init(
        format: Int = Self.formatNow, version: String, createdAt: UnixMilliseconds, storeLayout: Int,
        partitions: Int, commit: Int, notIncluded: [String], files: [File]
    ) {
        self.format = format
        self.version = version
        self.createdAt = createdAt
        self.storeLayout = storeLayout
        self.partitions = partitions
        self.commit = commit
        self.notIncluded = notIncluded
        self.files = files
    }

    public static let fields = Fields(
        BackupManifest.init(format:version:createdAt:storeLayout:partitions:commit:notIncluded:files:),
        .required("format", .integer(1...Int.max), \.format, "The format of the backup."),
        .required("ccsd", .text, \.version, "The version of ccsd that made the backup."),
        .required("created_at", .time, \.createdAt, "The time of the backup."),
        .required("store_layout", .count, \.storeLayout, "The layout of the store."),
        .required("partitions", .count, \.partitions, "The number of partitions of the store."),
        .required("commit", .count, \.commit, "The last commit of the store in the backup."),
        .required(
            "not_included", .list(.text), \.notIncluded, "Files of the server that are not in the backup."),
        .required("files", .list(.record), \.files, "The files, without the manifest and SHA256SUMS."))
}
