import Foundation
import Testing

/// Runs the plugin and the examples for pytest unchanged.
@Suite(
    "The examples for pytest", .serialized,
    .enabled(if: TestPaths.hasPython, "run Scripts/bootstrap --tests first"))
struct PytestExampleTests {
    private static let path = TestPaths.programs.path + ":/usr/bin:/bin"

    /// Runs tests in the environment with the pinned clients, with the plugin from its sources.
    private func run(_ tests: URL, plugin: URL = TestPaths.pytestPlugin) throws -> Tool {
        try Tool.run(
            TestPaths.python,
            [
                "-m", "pytest", "-p", "no:cacheprovider", "-p", "pytest_ccsd.plugin", "--color=no", "-q",
                tests.path,
            ],
            environment: ["PATH": Self.path, "PYTHONPATH": plugin.path])
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

    @Test("the HTTP clients of Python reach ccsd by Google's host names, and others are left alone")
    func hostMap() throws {
        let tool = try run(TestPaths.clients.appendingPathComponent("test_host_map.py"))
        #expect(tool.code == 0 && tool.output.contains("15 passed"), "\(tool)")
    }

    @Test("canary: without the connections of the host map the HTTP clients fail")
    func hostMapCanary() throws {
        let scratch = try Scratch()
        let plugin = scratch.url.appendingPathComponent("plugin")
        try FileManager.default.copyItem(at: TestPaths.pytestPlugin, to: plugin)
        let file = plugin.appendingPathComponent("pytest_ccsd/child/ccsd_hostmap.py")
        let text = try String(contentsOf: file, encoding: .utf8)
        let broken = text.replacingOccurrences(
            of: "connect(self, target(address))", with: "connect(self, address)")
        #expect(broken != text)
        try broken.write(to: file, atomically: true, encoding: .utf8)
        let tool = try run(TestPaths.clients.appendingPathComponent("test_host_map.py"), plugin: plugin)
        #expect(tool.code == 1 && tool.output.contains("failed"), "\(tool)")
    }

    /// The commands of the page for newcomers.
    static let commands = "python3 -m venv tests"

    @Test(
        "a newcomer's test runs from an empty environment as the page shows, serial and with two workers",
        .enabled(if: TestPaths.hasWheels, "run Scripts/bootstrap --tests first"))
    func newcomer() throws {
        let block = try #require(
            ShownBlocksTests.all.first {
                $0.file == "docs/testing-your-app.md" && $0.firstLine == Self.commands
            })
        let scratch = try Scratch()
        let script = "set -e; cd '\(scratch.url.path)'; cp -r '\(TestPaths.root.path)/docs' .\n\(block.text)"
        let tool = try Tool.run(
            URL(fileURLWithPath: "/bin/bash"), ["-c", script],
            environment: [
                "PATH": Self.path, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": TestPaths.wheels.path,
                "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PYTHONPATH": "", "PY_COLORS": "0",
            ])
        #expect(tool.code == 0 && tool.output.components(separatedBy: "3 passed").count == 3, "\(tool)")
        #expect(tool.output.contains("2 workers"), "\(tool)")
    }

    @Test("a newcomer's test is short")
    func length() throws {
        let text = try String(
            contentsOf: examples.appendingPathComponent("test_first_push.py"), encoding: .utf8)
        #expect(text.split(separator: "\n", omittingEmptySubsequences: false).count <= 27)
    }
}
