import Foundation
import Testing

/// The short form of `ccs-bench compare`, with the properties that hold on any machine, with any peers installed.
@Suite("Comparison", .serialized)
struct CompareTests {
    private func compare(_ names: [String], _ more: [String] = []) throws -> Tool {
        let scratch = try Scratch()
        let run = try Tool.run(
            "ccs-bench",
            ["compare", "--json", "--directory", scratch.url.path, "--seconds", "2", "--rounds", "1"]
                + ["--connections", "2", "--idle", "20"] + names.flatMap { ["--only", $0] } + more)
        #expect(try processes(scratch.url.path).isEmpty, "a process is left running")
        if run.code == 0 {
            let left = try FileManager.default.contentsOfDirectory(atPath: scratch.url.path)
            #expect(left.isEmpty, "\(left)")
        }
        return run
    }

    /// Returns the IDs of processes whose command line contains a word.
    private func processes(_ word: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc").filter { name in
            guard Int(name) != nil,
                let line = FileManager.default.contents(atPath: "/proc/\(name)/cmdline")
            else { return false }
            return String(decoding: line, as: UTF8.self).contains(word)
        }
    }

    @Test(
        "compare measures the minimal relay and ccsd side by side: messages, logins and idle connections"
    )
    func floor() throws {
        let run = try compare(["relay", "ccsd"], ["--half"])
        #expect(run.code == 0, "\(run)")
        let rows = try #require(run.object?["rows"] as? [[String: Any]])
        #expect(
            rows.compactMap { $0["name"] as? String } == ["relay", "ccsd-ttl0", "ccsd-down", "ccsd-up"])
        for row in rows {
            for key in ["messages_per_second", "server_cpu_us_per_message", "cpu_ratio", "answer_p99_us"] {
                #expect(row[key] as? Double ?? 0 > 0, "\(key) of \(row)")
            }
            // At half the rate a slow machine may answer no message within the short run.
            #expect(row["answer_p99_us_at_half"] is Double, "\(row)")
            #expect(row["refused"] as? Int == 0, "\(row)")
        }
        #expect(rows[0]["cpu_ratio"] as? Double == 1)
        let rounds = try #require(run.object?["rounds"] as? [[[String: Any]]])
        for round in rounds.flatMap({ $0 }) { #expect(round["delivered"] as? Int ?? 0 > 0, "\(round)") }
        let logins = rows.filter { $0["login_cpu_us"] as? Double ?? 0 > 0 }
        #expect(logins.compactMap { $0["server"] as? String } == ["relay", "ccsd"])
    }

    @Test(
        "compare measures a peer when it is installed, and else names it as left out",
        arguments: ["mosquitto", "nats", "prosody", "ejabberd"])
    func peer(name: String) throws {
        let run = try compare(["relay", name])
        #expect(run.code == 0, "\(run)")
        let rows = try #require(run.object?["rows"] as? [[String: Any]])
        let absent = try #require(run.object?["left_out"] as? [String])
        if absent.isEmpty {
            #expect(rows.count == (name == "nats" ? 2 : 3), "\(run)")
            for row in rows { #expect(row["messages_per_second"] as? Double ?? 0 > 0, "\(row)") }
        } else {
            #expect(absent == [name] && rows.count == 1, "\(run)")
            #expect(run.errors.contains("\(name) is not installed") && run.errors.contains("--peers"))
        }
    }

    @Test("Canary: compare refuses an unknown target and lists the valid ones")
    func unknown() throws {
        let run = try compare(["nonesuch"])
        #expect(run.code == 1 && run.errors.contains("ccsd-down"), "\(run)")
        #expect(try !processes(CommandLine.arguments[0]).isEmpty, "canary: a running process is found")
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
