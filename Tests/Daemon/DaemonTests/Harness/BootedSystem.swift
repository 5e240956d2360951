import Foundation

/// A real systemd, booted in a container over this machine's own files.
final class BootedSystem {
    /// What the container has beside the files of this machine.
    enum Contents {
        /// The programs of this build, the units and the sample configuration.
        case units
        /// Files in `/opt/ccsd-tests`, and no runtime of Swift: whiteouts hide it.
        case files([URL])
    }

    /// Why systemd cannot be booted on this machine, or `nil` if it can.
    static let obstacle: String? = {
        let found = findObstacle()
        if let found {
            print("SKIPPED tests of the systemd units: \(found)")
        }
        return found
    }()

    private static func findObstacle() -> String? {
        guard getuid() == 0 else { return "Only root can boot a container." }
        for program in ["systemd-nspawn", "nsenter", "unshare", "openssl", "python3"] {
            guard access("/usr/bin/\(program)", X_OK) == 0 else {
                return "\(program) is missing: run Scripts/bootstrap --tests."
            }
        }
        // Tries one mount and one control group: if this machine is a container itself, either may be forbidden.
        let trial = """
            set -e; d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
            unshare --mount sh -c "mount -t tmpfs tmpfs $d && mkdir $d/u $d/w $d/m && \
            mount -t overlay overlay -o lowerdir=/,upperdir=$d/u,workdir=$d/w $d/m"
            own=$(sed -n 's/^0:://p' /proc/self/cgroup)
            group=$(findmnt -n -o TARGET -t cgroup2 | head -n 1)$own/ccsd-trial-$$
            mkdir "$group"; rmdir "$group"
            """
        let result = try? Tool.run(URL(fileURLWithPath: "/bin/sh"), ["-c", trial], seconds: 60)
        guard let result, result.code == 0 else {
            return "Cannot create an overlay or a control group: \(result.map { $0.errors } ?? "")"
        }
        return nil
    }

    private let scratch: Scratch
    private let process = ChildProcess()
    private let input = Pipe()
    private let leader: Int32

    /// Lays `contents` over the files of this machine and boots; the units of ccsd are not started.
    init(_ contents: Contents = .units) throws {
        scratch = try Scratch()
        let root = scratch.url.appendingPathComponent("root")
        try Self.installClients(into: root)
        switch contents {
        case .units: try Self.installUnits(into: root)
        case .files(let files):
            for file in files {
                try FileManager.default.copyItem(
                    at: file.resolvingSymlinksInPath(),
                    to: root.appendingPathComponent("opt/ccsd-tests/\(file.lastPathComponent)"))
            }
            try Self.hideSwift(in: root)
        }
        let log = scratch.url.appendingPathComponent("boot.txt")
        _ = FileManager.default.createFile(atPath: log.path, contents: nil)
        process.executableURL = URL(fileURLWithPath: "/usr/bin/unshare")
        process.arguments = [
            "--mount", "--propagation", "private",
            TestPaths.root.appendingPathComponent("Tests/Daemon/DaemonTests/Systemd/boot.sh").path,
            scratch.url.path,
        ]
        process.standardInput = input
        process.standardOutput = try FileHandle(forWritingTo: log)
        process.standardError = try FileHandle(forWritingTo: log)
        try process.run()
        let (folder, process) = (scratch.url, process)
        let words = { (name: String) in
            (try? String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)) ?? ""
        }
        do {
            try eventually("the container runs", seconds: 120) {
                guard process.isRunning else {
                    throw HarnessFailure("the container ended: \(words("boot.txt"))")
                }
                return !words("leader").isEmpty
            }
        } catch {
            process.end()
            throw error
        }
        leader = Int32(words("leader").trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0
        do {
            try eventually("systemd has booted", seconds: 300) {
                try run("systemctl", "is-active", "ccsd-test.target").code == 0
            }
        } catch { throw HarnessFailure("\(error); the console: \(words("console").suffix(4_000))") }
    }

    deinit {
        // The script ends with its input, and the container with the script.
        try? input.fileHandleForWriting.close()
        let end = Date().addingTimeInterval(30)
        while process.isRunning, Date() < end { usleep(20_000) }
        process.end()
    }

    private static func installUnits(into root: URL) throws {
        let files = FileManager.default
        for folder in ["usr/bin", "etc/systemd/system", "etc/ccsd"] {
            try files.createDirectory(
                at: root.appendingPathComponent(folder), withIntermediateDirectories: true)
        }
        for program in ["ccsd", "ccsctl"] {
            try files.copyItem(
                at: TestPaths.programs.appendingPathComponent(program).resolvingSymlinksInPath(),
                to: root.appendingPathComponent("usr/bin/\(program)"))
        }
        let units = TestPaths.root.appendingPathComponent("systemd")
        for (name, folder) in [
            ("ccsd.service", "etc/systemd/system"), ("ccsd.socket", "etc/systemd/system"),
            ("ccsd.yaml", "etc/ccsd"),
        ] {
            try files.copyItem(
                at: units.appendingPathComponent(name), to: root.appendingPathComponent("\(folder)/\(name)"))
        }
    }

    private static func installClients(into root: URL) throws {
        let folder = root.appendingPathComponent("opt/ccsd-tests")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for script in ["connection_probe.py", "dialogue.py"] {
            try FileManager.default.copyItem(
                at: TestPaths.clients.appendingPathComponent(script),
                to: folder.appendingPathComponent(script))
        }
    }

    /// The folder of Swift's libraries on this machine.
    static let swiftLibraries: String? = {
        let swift = try? Tool.run(
            URL(fileURLWithPath: "/bin/sh"), ["-c", "readlink -f \"$(command -v swiftc)\""], seconds: 60)
        guard let swift, swift.code == 0 else { return nil }
        let program = URL(fileURLWithPath: swift.output.trimmingCharacters(in: .newlines))
        return program.deletingLastPathComponent().deletingLastPathComponent().path + "/lib/swift"
    }()

    /// Hides Swift's libraries by a whiteout: a character device with number 0 in the upper layer of the overlay.
    private static func hideSwift(in root: URL) throws {
        guard let libraries = swiftLibraries else {
            throw HarnessFailure("no swiftc on the PATH: its libraries cannot be hidden")
        }
        let whiteout = root.appendingPathComponent(libraries)
        try FileManager.default.createDirectory(
            at: whiteout.deletingLastPathComponent(), withIntermediateDirectories: true)
        guard mknod(whiteout.path, S_IFCHR, 0) == 0 else {
            throw HarnessFailure("mknod \(whiteout.path): \(String(cString: strerror(errno)))")
        }
    }

    private var entry: [String] {
        [
            "-t", "\(leader)", "-m", "-u", "-i", "-n", "-p", "-C", "--", "/usr/bin/env", "-i",
            "PATH=/usr/sbin:/usr/bin",
        ]
    }

    private static let nsenter = URL(fileURLWithPath: "/usr/bin/nsenter")

    /// Runs a command in the container and waits for its end.
    @discardableResult
    func run(_ words: String...) throws -> Tool {
        try Tool.run(Self.nsenter, entry + words, seconds: 300)
    }

    /// Runs a command that must succeed. Returns its output without the final newline.
    @discardableResult
    func output(_ words: String...) throws -> String {
        let result = try Tool.run(Self.nsenter, entry + words, seconds: 300)
        guard result.code == 0 else {
            throw HarnessFailure(
                "\(words): \(result); \(try run("journalctl", "-n", "40", "--no-pager").output)")
        }
        return result.output.trimmingCharacters(in: .newlines)
    }

    /// Returns a property of the service from systemd.
    func property(_ name: String) throws -> String {
        try output("systemctl", "show", "-P", name, "ccsd.service")
    }

    /// Writes a file in the container.
    func write(_ path: String, _ text: String) throws {
        let url = URL(fileURLWithPath: "/proc/\(leader)/root\(path)")
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
    }

    /// Starts the clients that connect continuously, in the container.
    func probe() throws -> ConnectionProbe {
        ConnectionProbe(
            try Driver(
                program: Self.nsenter,
                entry + ["/usr/bin/python3", "-u", "/opt/ccsd-tests/connection_probe.py", "8443", "5228"],
                secret: nil)
        )
    }
}
