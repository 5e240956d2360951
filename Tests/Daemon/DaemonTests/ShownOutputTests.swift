import Foundation
import NATSServerSupport
import Testing

/// The output that pages show is what the programs print, but for numbers, names and times.
@Suite("Output in the documentation", .serialized)
struct ShownOutputTests {
    /// The blocks of output: those of README from the conversation of ccs-device, others from the session of their page.
    static let shown = [
        ShownBlocksTests.Place(file: "README.md", firstLine: "ccsd 0.1.0 is ready."),
        ShownBlocksTests.Place(
            file: "README.md",
            firstLine:
                "Downstream: the ACK confirms the message on disk, the receipt its arrival on the device."),
        ShownBlocksTests.Place(
            file: "README.md",
            firstLine:
                "DIRECTION   ACCEPTED  DELIVERED  FORWARDED  REPLACED  EXPIRED  DISCARDED  REMOVED  PENDING"),
        ShownBlocksTests.Place(
            file: "docs/cluster.md",
            firstLine: "cluster      node 1 (node-1) of 3f0c77d2a5e1b846, owns 5 of 16 partitions"),
        ShownBlocksTests.Place(
            file: "docs/operator-api.md",
            firstLine:
                #"{"title":"Bad Request","status":400,"detail":"invalid limit \"many\": expected a whole number from 1 to 10000","hint":"limit: List up to N. Default: 100.","field":"limit"}"#
        ),
        ShownBlocksTests.Place(
            file: "docs/first-app.md",
            firstLine: "connected as 100000000001@gcm.googleapis.com/44029888"),
        ShownBlocksTests.Place(
            file: "docs/first-app.md",
            firstLine:
                "downstream         3          3          0         0        0          0        0        0"),
    ]

    /// Returns a line with a sign in place of each word that differs from run to run: with digits, paths, or cut.
    static func masked(_ line: some StringProtocol) -> String {
        line.split(whereSeparator: \.isWhitespace).map { word in
            let isVarying =
                word.contains { $0.isNumber || $0 == "/" || $0 == "…" } || word.hasPrefix("AIza")
                || word.contains(":APA9")
            return isVarying ? "*" : String(word)
        }.joined(separator: " ")
    }

    /// Returns the shown lines that the programs have not printed. The order of lines of programs that run at once differs.
    static func missing(_ shown: String, in printed: String) -> [String] {
        var rest = printed.split(separator: "\n").map(masked)
        return shown.split(separator: "\n").filter { line in
            guard let at = rest.firstIndex(of: masked(line)) else { return true }
            rest.remove(at: at)
            return false
        }.map(String.init)
    }

    /// Runs a script with the programs of this build, in place of a build for release, which takes minutes. Its temporary folder must
    /// be empty at the end.
    private func run(_ script: String) throws -> Tool {
        let scratch = try Scratch()
        let temporary = scratch.url.appendingPathComponent("tmp")
        try FileManager.default.createDirectory(at: temporary, withIntermediateDirectories: false)
        let swift = scratch.url.appendingPathComponent("swift")
        let folder = TestPaths.programs.path
        try Data("#!/bin/sh\ncase $* in *--show-bin-path*) echo '\(folder)' ;; esac\n".utf8).write(to: swift)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: swift.path)
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        let tool = try Tool.run(
            TestPaths.root.appendingPathComponent(script), [],
            environment: ["PATH": "\(scratch.url.path):\(path)", "TMPDIR": temporary.path])
        #expect(try FileManager.default.contentsOfDirectory(atPath: temporary.path) == [])
        return tool
    }

    @Test(
        "Scripts/quickstart-cluster kills a node between two messages, and all of them arrive",
        .enabled(if: NATSServerProcess.isInstalled, "run Scripts/bootstrap --tests"))
    func cluster() throws {
        let tool = try run("Scripts/quickstart-cluster")
        #expect(tool.code == 0, "\(tool)")
        let lines = tool.output.split(separator: "\n")
        let killed = try #require(lines.firstIndex { $0.hasSuffix(" is killed.") }, "\(tool)")
        #expect(lines[killed - 1].hasPrefix("message  7 acknowledged"))
        #expect(lines[killed + 1].hasPrefix("message  8 acknowledged"))
        #expect(tool.output.contains("All 20 messages have arrived; the longest wait was "))
        // The cluster of two at the end: one node is gone, and the partition has another owner.
        #expect(tool.output.contains("suspected") || tool.output.contains("gone"), "\(tool)")
    }

    @Test(
        "Scripts/quickstart-cluster names the version of a nats-server that is too old, and what to install",
        arguments: [("2.9.10", false), ("1.4.1", false), ("2.10.0", true), ("2.15.1", true), ("3.0.0", true)])
    func natsVersion(version: String, isNew: Bool) throws {
        let scratch = try Scratch()
        let (scripts, server) = (
            scratch.url.appendingPathComponent("Scripts"), scratch.url.appendingPathComponent("nats-server")
        )
        try FileManager.default.createDirectory(at: scripts, withIntermediateDirectories: false)
        // A copy, so that the server of the tests is not beside it.
        let script = scripts.appendingPathComponent("quickstart-cluster")
        try FileManager.default.copyItem(
            at: TestPaths.root.appendingPathComponent("Scripts/quickstart-cluster"), to: script)
        try Data("#!/bin/sh\necho 'nats-server: v\(version)'\n".utf8).write(to: server)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: server.path)
        let tool = try Tool.run(script, [], environment: ["PATH": "\(scratch.url.path):/usr/bin:/bin"])
        guard isNew else {
            #expect(tool.code == 69 && tool.errors.contains("version 2.10 or later"), "\(tool)")
            #expect(tool.errors.contains("v\(version)") && tool.errors.contains("install one"), "\(tool)")
            return
        }
        #expect(tool.code != 69 && tool.errors.contains("Scripts/bootstrap"), "it goes on: \(tool)")
    }

    @Test("README shows what Scripts/quickstart prints, which stops its daemon and removes its data")
    func readme() throws {
        let tool = try run("Scripts/quickstart")
        #expect(tool.code == 0 && tool.output.hasSuffix("ccsd stopped cleanly.\n"), "\(tool)")
        let blocks = ShownBlocksTests.all.filter { $0.file == "README.md" && Self.shown.contains($0.place) }
        #expect(blocks.count == 3)
        for block in blocks {
            #expect(Self.missing(block.text, in: tool.output) == [], "\(block.testDescription): \(tool)")
        }
    }

    @Test("canary: a line that is not printed, or less often than shown, is found")
    func canary() {
        #expect(Self.missing("a 17 b\n", in: "a 18 b\n") == [])
        #expect(Self.missing("a 17 c\n", in: "a 18 b\n") == ["a 17 c"])
        #expect(Self.missing("one\ntwo\ntwo\n", in: "two\none\n") == ["two"])
    }
}
