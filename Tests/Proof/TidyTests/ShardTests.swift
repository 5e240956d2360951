import Foundation
import Testing

/// Scripts/shards with a test program of ours in place of the real one: no test that does not run is taken for one that passed.
@Suite struct ShardTests {
    /// Lists a test of each module in `cases`, and does for each what its shell commands say.
    private static func run(_ cases: [(module: String, commands: String)]) throws -> (
        text: String, code: Int32
    ) {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "shards-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let program = "\(folder.path)/program"
        let branches = cases.map { "*'^(\($0.module))'*) \($0.commands);;" }.joined(separator: "\n")
        let names = cases.map { "'\($0.module).Suite/test()'" }.joined(separator: " ")
        // Written by the shell: a child that another thread starts meanwhile would inherit our open file, and Linux runs no program that
        // is open for writing.
        return SourceTree.output(
            of: """
                cat >'\(program)' <<'END'
                #!/bin/sh
                case "$*" in
                *--list-tests*) printf '%s\\n' \(names);;
                \(branches)
                esac
                END
                chmod 700 '\(program)'
                { python3 '\(SourceTree.root)/Scripts/shards' --program '\(program)'; }
                """)
    }

    fileprivate static func ends(_ mark: String, _ word: String, tests: Int = 1) -> String {
        """
        echo '◇ Test test() started.'
        echo '\(mark) Test test() \(word) after 0.001 seconds.'
        echo '\(mark) Test run with \(tests) tests in 1 suite \(word) after 0.001 seconds.'
        """
    }

    @Test("all tests of all processes are counted, and each has its own temporary folder")
    func passes() throws {
        let pass = Self.ends("✔", "passed")
        let found = try Self.run([
            ("ATests", "echo \"in $TMPDIR\"; \(pass)"), ("BTests", "echo \"in $TMPDIR\"; \(pass)"),
        ])
        #expect(found.code == 0)
        #expect(found.text.contains("2 tests passed, 0 failed, 0 skipped, in 2 processes"), "\(found.text)")
        let folders = Set(found.text.split(separator: "\n").filter { $0.hasPrefix("in ") })
        #expect(folders.count == 2, "\(found.text)")
        #expect(folders.allSatisfy { !FileManager.default.fileExists(atPath: String($0.dropFirst(3))) })
    }

    @Test("a skipped test is counted")
    func skipped() throws {
        let found = try Self.run([
            (
                "ATests",
                "echo '➜ Test test() skipped: \"run Scripts/bootstrap first\"'; \(Self.ends("✔", "passed"))"
            )
        ])
        #expect(
            found.code == 0 && found.text.contains("1 tests passed, 0 failed, 1 skipped"), "\(found.text)")
    }

    /// What may be wrong with a process. Its description is short, since the log of the tests shows it.
    enum Fault: CaseIterable {
        case failed, crashed, endedEarly, ranOthers

        var commands: String {
            switch self {
            case .failed:
                "echo '✘ Test test() recorded an issue at a.swift:1:1'; \(ShardTests.ends("✘", "failed")); exit 1"
            case .crashed: "kill -SEGV $$"
            case .endedEarly: "exit 0"
            case .ranOthers: ShardTests.ends("✔", "passed", tests: 0)
            }
        }

        var report: String {
            switch self {
            case .failed: "failed"
            case .crashed: "crashed: SIGSEGV"
            case .endedEarly: "ended before its tests, with 0"
            case .ranOthers: "ran 0 of its 1 tests"
            }
        }
    }

    @Test(
        "canary: a process that fails, crashes, ends early or runs other tests than its own fails the run by name",
        arguments: Fault.allCases)
    func canary(_ fault: Fault) throws {
        let found = try Self.run([("ATests", Self.ends("✔", "passed")), ("BTests", fault.commands)])
        #expect(found.code == 1, "\(found.text)")
        let end = found.text.split(separator: "\n").drop { !$0.hasPrefix("shards: longest") }
        #expect(end.contains("shards: BTests \(fault.report)"), "\(found.text)")
        #expect(end.last?.contains("in 2 processes, of which 1 failed") == true, "\(found.text)")
    }

    @Test("canary: a list of suites that names one that does not exist is refused")
    func lists() throws {
        let found = try Self.run([("DaemonTests", Self.ends("✔", "passed"))])
        #expect(found.code == 1 && found.text.contains("but there is no such suite"), "\(found.text)")
    }
}
