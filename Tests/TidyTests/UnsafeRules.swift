/// Files that may contain `unsafe`: wrappers of C, and hot paths that were measured to be slower without it.
enum UnsafeRules {
    /// The modules and files with the reason for `unsafe`. A path that ends with a slash is a folder.
    static let allowed: [(path: String, reason: String)] = [
        // Whole modules that wrap a library or the kernel.
        ("Sources/Compression/", "zlib"),
        ("Sources/Crypto/", "OpenSSL"),
        ("Sources/HTTP2Engine/", "nghttp2"),
        ("Sources/RocksStore/", "RocksDB, and files whose writes are counted"),
        ("Sources/Transport/", "OpenSSL, sockets, epoll, signals"),
        ("Sources/XMLStream/", "expat"),
        // Single files with one call or a few.
        ("Sources/Basics/Bytes/ByteBuffer.swift", "the memory of buffers"),
        ("Sources/Basics/Logging/DescriptorOutput.swift", "write"),
        ("Sources/Basics/DeviceSpace.swift", "statvfs"),
        ("Sources/Basics/Logging/Log.swift", "getenv"),
        ("Sources/Basics/Time/Time.swift", "clock_gettime"),
        ("Sources/Catalogue/Commands/ProgramVersion.swift", "a string of C"),
        ("Sources/Client/ControlClient.swift", "a blocking socket"),
        ("Sources/Client/KeyFile.swift", "open, read"),
        ("Sources/Server/Backup/BackupFiles.swift", "mkdir, readdir, lstat, unlink, open, write"),
        ("Sources/Server/Backup/BackupTarget.swift", "realpath"),
        ("Sources/Server/Backup/BackupWriter.swift", "stat"),
        ("Sources/Server/Backup/FileTransfer.swift", "open, read"),
        ("Sources/Server/Backup/HeldFolder.swift", "openat, mkdirat, unlinkat, renameat, linkat, fchownat"),
        ("Sources/Server/Backup/Restore.swift", "rmdir, stat"),
        ("Sources/Server/Cluster/Copy/CopiedStore.swift", "rename"),
        ("Sources/Server/Cluster/Copy/StoreGiver.swift", "open, read"),
        ("Sources/Server/Config/Check/CertificateCheck.swift", "stat, access"),
        ("Sources/Server/Config/Check/FolderCheck.swift", "stat, access"),
        ("Sources/Server/Config/Check/DetectedDaemon.swift", "stat"),
        ("Sources/Server/Config/Check/SocketCheck.swift", "stat, access"),
        ("Sources/Server/Config/ConfigFile.swift", "open, read"),
        ("Sources/Server/Config/ConfigLoader.swift", "inet_pton"),
        ("Sources/Server/Config/RefusedStart.swift", "execv, pthread_sigmask"),
        ("Sources/Server/Config/YAMLReader.swift", "libyaml"),
        ("Sources/Server/Control/Audit/AuditLog.swift", "open, stat, rename, write"),
        ("Sources/Server/Metrics/ProcessFigures.swift", "getrusage, stat, open, read, readdir"),
        ("Sources/Server/StartupGreeting.swift", "open, write"),
        ("Sources/Server/OperatorAPI/ConsoleFiles.swift", "the embedded files"),
        ("Sources/Server/Ports/Monitor.swift", "the condition variable of pthreads"),
        ("Sources/Server/Shutdown.swift", "unlink"),
        ("Sources/Server/Startup.swift", "mkdir; reactors move to their threads"),
        ("Sources/Server/Startup+Cluster.swift", "the reactor of the cluster moves to its thread"),
        ("Sources/Server/Startup+TestBench.swift", "the reactor of the test bench moves to its thread"),
        ("Sources/Server/Webhooks/CURLClient.swift", "libcurl"),
        ("Sources/Server/Webhooks/CURLRequest.swift", "libcurl, socket"),
        ("Sources/Server/SystemInterfaces.swift", "gethostname, environ, poll"),
        ("Sources/ccs-bench/Attack/Renegotiator.swift", "OpenSSL"),
        ("Sources/ccs-bench/Bench.swift", "mkdtemp, unlink"),
        ("Sources/ccs-bench/Child.swift", "posix_spawn"),
        ("Sources/ccs-bench/Folder.swift", "readdir"),
        ("Sources/ccs-bench/ProcessProbe.swift", "readlink"),
        ("Sources/ccs-bench/Targets/DaemonTarget.swift", "lstat"),
        ("Sources/ccs-bench/Targets/PeerProcess.swift", "sockets, files"),
        ("Sources/ccs-bench/Terminal.swift", "write"),
        ("Sources/ccs-device/DeviceState.swift", "open, read"),
        ("Sources/ccs-device/PrivateFile.swift", "open, rename"),
        ("Sources/ccsctl/CheckFile.swift", "exec"),
        ("Sources/ccsctl/CommandArguments.swift", "getcwd"),
        ("Sources/ccsctl/Everyday/AuthorityReport.swift", "open, unlink"),
        ("Sources/ccsctl/ServiceAccountFile.swift", "open, unlink"),
        ("Sources/ccsctl/Connection/SocketPath.swift", "getenv, stat"),
        ("Sources/ccsctl/Tool.swift", "access"),
        ("Sources/ccsctl/Top/TerminalScreen.swift", "the settings and size of a terminal; signals"),
        ("Sources/ccsctl/Transfer/ExportFile.swift", "open, unlink"),
        ("Sources/ccsctl/Transfer/LineFile.swift", "open, read"),
        // Hot paths that read eight bytes at a time without a bounds check for each.
        ("Sources/Basics/Identifiers/RegistrationToken.swift", "every message names a token"),
        ("Sources/Wire/XML/FastPathStanza.swift", "the stanza fast path"),
        ("Sources/Wire/XML/XMLText.swift", "the stanza fast path"),
    ]

    private static func covers(_ entry: String, _ path: String) -> Bool {
        entry.hasSuffix("/") ? path.hasPrefix(entry) : path == entry
    }

    /// Returns the lines with `unsafe` in a product file that is not listed.
    static func violations(_ file: SourceFile) -> [String] {
        guard !allowed.contains(where: { covers($0.path, file.path) }) else { return [] }
        return CodeRules.found(file) {
            TextRules.hasWord("unsafe", in: $0[...])
                ? "unsafe in a file that is not listed in Tests/TidyTests/UnsafeRules.swift" : nil
        }
    }

    /// Returns the listed paths without any `unsafe`.
    static func stale(in files: [SourceFile]) -> [String] {
        allowed.map(\.path).filter { entry in
            !files.contains { file in
                covers(entry, file.path) && file.code.contains { TextRules.hasWord("unsafe", in: $0[...]) }
            }
        }
    }
}
