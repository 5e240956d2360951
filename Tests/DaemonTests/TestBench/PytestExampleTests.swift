import Foundation
import Testing

/// Runs the examples for pytest unchanged.
@Suite("The examples for pytest", .serialized)
struct PytestExampleTests {
    private func run(_ folder: URL) throws -> Tool {
        let path = TestPaths.programs.path + ":/usr/bin:/bin"
        // The names of Google's hosts lead to the server that the example starts, whose port it sets itself.
        let hostMap = TestPaths.clients.appendingPathComponent("hostmap").path
        return try Tool.run(
            TestPaths.python, ["-m", "pytest", "-p", "no:cacheprovider", "--color=no", "-q", folder.path],
            environment: [
                "PATH": path, "PYTHONPATH": hostMap, "CCS_HTTPS_PORT": "443", "CCS_DEVICE_PORT": "5228",
            ])
    }

    private var examples: URL { TestPaths.root.appendingPathComponent("docs/examples") }

    @Test("two app servers are tested with virtual devices")
    func examplesPass() throws {
        let tool = try run(examples.appendingPathComponent("test_push.py"))
        #expect(tool.code == 0 && tool.output.contains("6 passed"), "\(tool)")
    }

    @Test("canary: an app server with another answer fails")
    func canary() throws {
        let scratch = try Scratch()
        for name in try FileManager.default.contentsOfDirectory(atPath: examples.path)
        where name.hasSuffix(".py") {
            let text = try String(contentsOf: examples.appendingPathComponent(name), encoding: .utf8)
            try text.replacingOccurrences(of: ".upper()", with: ".lower()")
                .write(to: scratch.url.appendingPathComponent(name), atomically: true, encoding: .utf8)
        }
        let tool = try run(scratch.url.appendingPathComponent("test_push.py"))
        #expect(tool.code == 1 && tool.output.contains("1 failed, 5 passed"), "\(tool)")
    }

    @Test("the fixture is short enough to be copied")
    func length() throws {
        let text = try String(
            contentsOf: examples.appendingPathComponent("ccsd_fixture.py"), encoding: .utf8)
        #expect(text.split(separator: "\n", omittingEmptySubsequences: false).count <= 61)
    }
}
