import Foundation
import Testing

/// Short comparisons, with the properties that hold on any machine, with any peers installed.
@Suite("Comparison", .serialized)
struct CompareTests {
    private struct Run {
        var code: Int32
        var object: [String: Any]?
        var errors: String
    }

    private func compare(_ names: [String], _ more: [String] = []) throws -> Run {
        let files = FileManager.default
        let scratch = files.temporaryDirectory.appendingPathComponent("compare-\(UUID().uuidString)")
        try files.createDirectory(at: scratch, withIntermediateDirectories: true)
        defer { try? files.removeItem(at: scratch) }
        let (output, errors) = (scratch.path + ".json", scratch.path + ".log")
        defer { for file in [output, errors] { try? files.removeItem(atPath: file) } }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
            .deletingLastPathComponent().appendingPathComponent("ccs-compare")
        process.arguments =
            ["--json", "--directory", scratch.path, "--seconds", "2", "--rounds", "1"]
            + ["--connections", "2", "--idle", "20"] + names.flatMap { ["--only", $0] } + more
        for file in [output, errors] { try Data().write(to: URL(fileURLWithPath: file)) }
        process.standardOutput = FileHandle(forWritingAtPath: output)
        process.standardError = FileHandle(forWritingAtPath: errors)
        try process.run()
        process.waitUntilExit()
        #expect(try processes(scratch.path).isEmpty, "a process is left running")
        if process.terminationStatus == 0 {
            let left = try files.contentsOfDirectory(atPath: scratch.path)
            #expect(left.isEmpty, "\(left)")
        }
        let json = try? JSONSerialization.jsonObject(with: files.contents(atPath: output) ?? Data())
        return Run(
            code: process.terminationStatus, object: json as? [String: Any],
            errors: String(decoding: files.contents(atPath: errors) ?? Data(), as: UTF8.self))
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
        let run = try compare(["relay", "ccsd"], ["--half", "--curve"])
        #expect(run.code == 0, "\(run)")
        let curves = try #require(run.object?["curves"] as? [[String: Any]])
        #expect(curves.map { ($0["open_loop"] as? [Any])?.count } == [5, 5, 5, 5])
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
}
