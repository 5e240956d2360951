import Foundation
import Testing

/// Runs the example for test suites unchanged.
@Suite("The example for pipelines", .serialized)
struct CIExampleTests {
    private func run(expecting text: String? = nil) throws -> Tool {
        try Tool.run(
            TestPaths.root.appendingPathComponent("Scripts/ci-example"), [TestPaths.programs.path],
            environment: text.map { ["EXPECTED_TEXT": $0] } ?? [:])
    }

    @Test("the example starts a server and a device and delivers one message in each direction")
    func runs() throws {
        let tool = try run()
        #expect(tool.code == 0 && tool.output.contains("both messages came"), "\(tool)")
    }

    @Test("canary: the example fails when another text is expected")
    func canary() throws {
        let tool = try run(expecting: "something else")
        #expect(tool.code == 1 && tool.errors.contains("another message came"), "\(tool)")
    }
}
