import Catalogue
import Foundation
import Testing

/// The exit codes of the programs are those that `--help` lists.
@Suite("Exit codes", .serialized)
struct ExitCodeTests {
    /// Whether the tests run as root, which can run the programs as an unprivileged user.
    private static let isRoot = geteuid() == 0
    private static let setpriv = URL(fileURLWithPath: "/usr/bin/setpriv")

    private static func asUnprivilegedUser(_ program: String, _ arguments: [String]) throws -> Tool {
        try Tool.run(
            setpriv,
            [
                "--reuid=65534", "--regid=65534", "--clear-groups",
                TestPaths.programs.appendingPathComponent(program).path,
            ] + arguments)
    }

    @Test("ccsd exits with 64 for usage errors, 74 for resources in use, 78 for a wrong configuration")
    func ccsd() throws {
        let daemon = try RunningDaemon()
        let scratch = try Scratch()
        let data = scratch.url.appendingPathComponent("data").path
        var seen: Set<Int32> = []
        func run(_ code: Int32, _ words: [String], _ hint: String) throws {
            let tool = try Tool.run("ccsd", words)
            #expect(tool.code == code && (tool.errors + tool.output).contains(hint), "\(words): \(tool)")
            seen.insert(tool.code)
        }
        func start(_ words: String...) -> [String] {
            ["--data-directory", data] + RunningDaemon.noPorts + words
        }
        try run(0, ["check"] + start(), "is valid")
        try run(64, ["--nonsense"], "not an option")
        try run(
            74,
            ["--data-directory", data, "--app-server-port", String(try daemon.port("app_server"))]
                + RunningDaemon.noPorts.dropFirst(2), "Address already in use")
        try run(74, start("--control-socket", daemon.controlSocket), "another process answers there")
        try run(
            74, ["--data-directory", daemon.directory.path + "/data"] + RunningDaemon.noPorts,
            "another ccsd uses this data directory")
        try run(
            74, ["--data-directory", scratch.url.path + "/a/b/c"] + RunningDaemon.noPorts,
            "cannot make the data directory")
        try run(78, start("--store-partitions", "3"), "has 16 partitions, but store_partitions is 3")
        try run(
            64, ["--data-directory", data, "--keepalive-seconds", "x"] + RunningDaemon.noPorts,
            "--keepalive-seconds")
        try run(78, ["--config", "/nonexistent.yaml"], "cannot be read")
        try run(
            78, start("--certificate-file", "/dev/null", "--key-file", "/dev/null"),
            "cannot use the certificate")
        try run(78, start("--control-socket", "/tmp/" + String(repeating: "x", count: 110)), "too long")
        let listed = Set(Program.ccsd.exitCodes.map(\.rawValue))
        #expect(seen.isSubset(of: listed), "\(seen)")
        #expect(!listed.contains(1), "every failure of ccsd has a more specific code than 1")
    }

    @Test(
        "ccsd and ccsctl exit with 77 when the user has no permission",
        .enabled(if: isRoot, "only root can become another user"))
    func forbidden() throws {
        let daemon = try RunningDaemon()
        guard try Self.asUnprivilegedUser("ccsd", ["--version"]).code == 0 else { return }
        let start = try Self.asUnprivilegedUser(
            "ccsd", ["--data-directory", daemon.directory.path + "/other"] + RunningDaemon.noPorts)
        #expect(start.code == 77, "\(start)")
        let control = try Self.asUnprivilegedUser("ccsctl", ["--socket", daemon.controlSocket, "status"])
        #expect(control.code == 77 && control.errors.contains("may not open"), "\(control)")
    }

    @Test("ccsctl exits with 0, 1, 64, 65, 69, 74 and 78")
    func ccsctl() throws {
        let daemon = try RunningDaemon()
        let scratch = try Scratch()
        let bad = scratch.url.appendingPathComponent("bad.yaml")
        try "nonsense: 1\n".write(to: bad, atomically: true, encoding: .utf8)
        let cases: [([String], Int32)] = [
            (["status"], 0), (["senders", "remove", "5", "--yes"], 1), (["nonsense"], 64),
            (["senders", "add", "--key-file", "/dev/null"], 65),
            (["senders", "add", "--key-file", "/nonexistent"], 74),
            (["check", bad.path], 78), (["check"], 0),
        ]
        for (words, code) in cases {
            let tool = try Tool.run("ccsctl", ["--socket", daemon.controlSocket] + words)
            #expect(tool.code == code, "\(words): \(tool)")
        }
        let down = try Tool.run("ccsctl", ["--socket", scratch.url.path + "/none", "status"])
        #expect(down.code == 69, "\(down)")
        let json = try Tool.run("ccsctl", ["--json", "check", bad.path])
        #expect(json.code == 78 && json.object?["ok"] as? Bool == false, "\(json)")
        let first = (json.object?["findings"] as? [[String: Any]])?.first
        #expect(first?["line"] as? Int == 1 && first?["severity"] as? String == "error")
        let own = try daemon.ctl("check")
        #expect(own["ok"] as? Bool == true)
    }

    @Test("text that cannot be written is a failure with exit code 74, and a reader that has gone is none")
    func lostOutput() throws {
        let daemon = try RunningDaemon()
        let socket = ["--socket", daemon.controlSocket]
        let sender = try daemon.firstSender.id
        let scratch = try Scratch()
        let data = scratch.url.appendingPathComponent("data").path
        let cases: [(String, [String])] = [
            ("ccsctl", ["--help"]), ("ccsctl", ["--json", "--version"]), ("ccsctl", socket + ["status"]),
            ("ccsctl", socket + ["--json", "senders", "rotate-key", sender]),
            // As text it prints nothing while there is no message, and would go on.
            ("ccsctl", socket + ["--json", "messages", "find", "--follow"]),
            ("ccsctl", ["completion", "bash"]),
            ("ccsd", ["--help"]), ("ccsd", ["openapi"]), ("ccsd", ["reference", "http"]),
            ("ccsd", ["check", "--data-directory", data] + RunningDaemon.noPorts),
            ("ccs-device", ["--help"]),
        ]
        func run(_ name: String, _ words: [String], _ end: String) throws -> Tool {
            let program = TestPaths.programs.appendingPathComponent(name).path
            return try Tool.run(
                URL(fileURLWithPath: "/bin/sh"), ["-c", "\"$0\" \"$@\" \(end)", program] + words)
        }
        for (name, words) in cases {
            for (end, reason) in [(">/dev/full", "No space left on device"), (">&-", "Bad file descriptor")] {
                let tool = try run(name, words, end)
                #expect(
                    tool.code == 74 && tool.errors.hasPrefix("\(name): cannot write the output: \(reason)\n"),
                    "\(name) \(words) \(end): \(tool)")
            }
            guard !words.contains("--follow") else { continue }
            let piped = try run(name, words, "| true")
            #expect(piped.code == 0 && piped.errors.isEmpty, "\(name) \(words): \(piped)")
        }
        // A failure that has a code of its own keeps it.
        let missing = try run("ccsctl", ["--json", "nonsense"], ">/dev/full")
        #expect(missing.code == 64 && missing.errors.contains("No space left on device"), "\(missing)")
    }

    @Test("ccs-device exits with 1, 64, 65, 69 and 74, and prints a JSON object for each")
    func ccsDevice() throws {
        let daemon = try RunningDaemon()
        let scratch = try Scratch()
        let damaged = scratch.url.appendingPathComponent("damaged.json").path
        try "nonsense".write(toFile: damaged, atomically: true, encoding: .utf8)
        let fresh = scratch.url.appendingPathComponent("fresh.json").path
        let common = [
            "--ca", daemon.authority, "--https-port", String(try daemon.port("https")), "--device-port",
            String(try daemon.port("device")),
        ]
        let sender = try daemon.firstSender.id
        let cases: [([String], Int32)] = [
            (["register", "--sender", "5", "--state", fresh] + common, 1), (["nonsense"], 64),
            (["register", "--sender", sender, "--state", damaged] + common, 65),
            (
                [
                    "register", "--sender", sender, "--state", fresh, "--https-port", "1", "--ca",
                    daemon.authority,
                ], 69
            ),
            (["register", "--sender", sender, "--state", fresh, "--ca", "/nonexistent"], 74),
        ]
        for (words, code) in cases {
            let tool = try Tool.run("ccs-device", words)
            #expect(tool.code == code, "\(words): \(tool)")
            let last = tool.output.split(separator: "\n").last.flatMap {
                (try? JSONSerialization.jsonObject(with: Data($0.utf8))) as? [String: Any]
            }
            #expect(
                last?["event"] as? String == "error" && last?["error"] is String
                    && last?["exit_code"] as? Int == Int(code), "\(words): \(tool)")
        }
        let quiet = try Tool.run(
            "ccs-device", ["register", "--sender", "5", "--print-token", "--state", fresh] + common)
        #expect(
            quiet.code == 1 && quiet.output.isEmpty, "standard output is reserved for the token: \(quiet)")
        let people = try Tool.run(
            "ccs-device", ["register", "--json=false", "--sender", "5", "--state", fresh] + common)
        #expect(people.output.isEmpty && people.errors.contains("unknown sender ID"))
    }

    @Test("ccs-bench exits with 64 for usage errors, 69 without a ccsd, 74 without a folder")
    func ccsBench() throws {
        let cases: [([String], Int32)] = [
            (["nonsense"], 64), (["down", "--ccsd", "/nonexistent/ccsd", "--seconds", "1"], 69),
            (["down", "--directory", "/nonexistent", "--seconds", "1"], 74),
        ]
        for (words, code) in cases {
            let tool = try Tool.run("ccs-bench", words)
            #expect(tool.code == code, "\(words): \(tool)")
        }
    }

    @Test(
        "ccs-bench refuses a number of devices when the descriptor limit is too low, before it starts anything",
        arguments: ["login", "idle"])
    func crowd(_ command: String) throws {
        let scratch = try Scratch()
        let program = TestPaths.programs.appendingPathComponent("ccs-bench").path
        let run = try Tool.run(
            URL(fileURLWithPath: "/bin/sh"),
            [
                "-c", "ulimit -n 1024; exec \"$0\" \"$@\"", program, command, "--devices", "1000",
                "--directory", scratch.url.path,
            ])
        #expect(run.code == 1 && run.errors.contains("--devices 1000: "), "\(run)")
        #expect(run.errors.contains("ulimit -Hn"), "\(run)")
        let left = try FileManager.default.contentsOfDirectory(atPath: scratch.url.path)
        #expect(left.isEmpty, "\(left)")
    }
}
