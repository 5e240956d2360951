/// Files that may contain `unsafe`: wrappers of C, and hot paths that were measured to be slower without it.
enum UnsafeRules {
    /// The modules and files with the reason for `unsafe`, by their place on a floor. One that ends with a slash is a folder.
    static let allowed: [(path: String, reason: String)] = [
        // Whole modules that wrap a library or the kernel.
        ("Compression/", "zlib"),
        ("Crypto/", "OpenSSL"),
        ("HTTP2Engine/", "nghttp2"),
        ("RocksStore/", "RocksDB, and files whose writes are counted"),
        ("Transport/", "OpenSSL, sockets, epoll, signals"),
        ("XMLStream/", "expat"),
        // Single files with one call or a few.
        ("Basics/Bytes/ByteBuffer.swift", "the memory of buffers"),
        ("Basics/Logging/DescriptorOutput.swift", "write"),
        ("Basics/DeviceSpace.swift", "statvfs"),
        ("Basics/Drain.swift", "elements that are moved"),
        ("Basics/Logging/Log.swift", "getenv"),
        ("Basics/Time/Time.swift", "clock_gettime"),
        ("Catalogue/Commands/ProgramVersion.swift", "a string of C"),
        ("Client/ControlClient.swift", "a blocking socket"),
        ("Client/KeyFile.swift", "open, read"),
        ("Client/StandardOutput.swift", "open, a string of C"),
        ("Server/Backup/BackupFiles.swift", "mkdir, readdir, lstat, realpath, unlink, open, write"),
        ("Server/Backup/BackupTarget.swift", "getenv"),
        ("Server/Backup/BackupWriter.swift", "stat"),
        ("Server/Backup/FileTransfer.swift", "open, read"),
        ("Server/Backup/HeldFolder.swift", "openat, mkdirat, unlinkat, renameat, linkat, fchownat"),
        ("Server/Backup/Restore.swift", "rmdir, stat"),
        ("Server/Cluster/Copy/CopiedStore.swift", "rename"),
        ("Server/Cluster/Copy/StoreGiver.swift", "open, read"),
        ("Server/Config/Check/CertificateCheck.swift", "stat, access"),
        ("Server/Config/Check/FolderCheck.swift", "stat, access"),
        ("Server/Config/Check/DetectedDaemon.swift", "stat"),
        ("Server/Config/Check/SocketCheck.swift", "stat, access"),
        ("Server/Config/ConfigFile.swift", "open, read"),
        ("Server/Config/ConfigLoader.swift", "inet_pton"),
        ("Server/Config/RefusedStart.swift", "execv, pthread_sigmask"),
        ("Server/Config/YAMLReader.swift", "libyaml"),
        ("Server/Control/Audit/AuditLog.swift", "open, stat, rename, write"),
        ("Server/History/HistoryFiles.swift", "mkdir, readdir, open, write, pread, unlink"),
        ("Server/History/Startup+History.swift", "the writer moves to its thread"),
        ("Server/Metrics/ProcessFigures.swift", "getrusage, stat, open, read, readdir"),
        ("Server/StartupGreeting.swift", "open, write"),
        ("Server/OperatorAPI/ConsoleFiles.swift", "the embedded files"),
        ("Server/Ports/Monitor.swift", "the condition variable of pthreads"),
        ("Server/Shutdown.swift", "unlink"),
        ("Server/Startup.swift", "mkdir; reactors move to their threads"),
        ("Server/Startup+Cluster.swift", "the reactor of the cluster moves to its thread"),
        ("Server/Startup+TestBench.swift", "the reactor of the test bench moves to its thread"),
        ("Server/Webhooks/CURLClient.swift", "libcurl"),
        ("Server/Webhooks/CURLRequest.swift", "libcurl, socket"),
        ("Server/SystemInterfaces.swift", "gethostname, environ, poll"),
        ("ccs-bench/Attack/Renegotiator.swift", "OpenSSL"),
        ("ccs-bench/Bench.swift", "mkdtemp, unlink"),
        ("ccs-bench/Child.swift", "posix_spawn"),
        ("ccs-bench/Folder.swift", "readdir"),
        ("ccs-bench/ProcessProbe.swift", "readlink"),
        ("ccs-bench/Targets/DaemonTarget.swift", "lstat"),
        ("ccs-bench/Targets/Importation.swift", "open, write, unlink"),
        ("ccs-bench/Terminal.swift", "write"),
        ("ccs-device/DeviceState.swift", "open, read"),
        ("ccs-device/PrivateFile.swift", "open, rename"),
        ("ccsctl/CheckFile.swift", "exec"),
        ("ccsctl/CommandArguments.swift", "getcwd"),
        ("ccsctl/Everyday/AuthorityReport.swift", "open, unlink"),
        ("ccsctl/ServiceAccountFile.swift", "open, unlink"),
        ("ccsctl/Connection/SocketPath.swift", "getenv, stat"),
        ("ccsctl/Tool.swift", "access"),
        ("ccsctl/Top/TerminalScreen.swift", "the settings and size of a terminal; signals"),
        ("ccsctl/Transfer/ExportFile.swift", "open, unlink"),
        ("ccsctl/Transfer/LineFile.swift", "open, read"),
        // Hot paths that read eight bytes at a time without a bounds check for each.
        ("Basics/Identifiers/RegistrationToken.swift", "every message names a token"),
        ("Wire/XML/FastPathStanza.swift", "the stanza fast path"),
        ("Wire/XML/XMLText.swift", "the stanza fast path"),
    ]

    private static func covers(_ entry: String, _ path: String) -> Bool {
        entry.hasSuffix("/") ? path.hasPrefix(entry) : path == entry
    }

    /// Returns the lines with `unsafe` in a product file that is not listed.
    static func violations(_ file: SourceFile) -> [String] {
        guard !allowed.contains(where: { covers($0.path, file.place) }) else { return [] }
        return CodeRules.found(file) {
            TextRules.hasWord("unsafe", in: $0[...])
                ? "unsafe in a file that is not listed in Tests/Proof/TidyTests/UnsafeRules.swift" : nil
        }
    }

    /// Returns the listed paths without any `unsafe`.
    static func stale(in files: [SourceFile]) -> [String] {
        allowed.map(\.path).filter { entry in
            !files.contains { file in
                covers(entry, file.place) && file.code.contains { TextRules.hasWord("unsafe", in: $0[...]) }
            }
        }
    }
}
