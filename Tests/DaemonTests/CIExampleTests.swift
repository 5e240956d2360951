import Foundation
import Testing

/// The example for test suites is run as it stands.
@Suite("The example for pipelines", .serialized)
struct CIExampleTests {
    private func run(expecting text: String? = nil) throws -> Tool {
        try Tool.run(
            Places.root.appendingPathComponent("Scripts/ci-example"), [Places.programs.path],
            environment: text.map { ["EXPECTED_TEXT": $0] } ?? [:])
    }

    @Test("it starts a server and a device, and a message comes each way")
    func runs() throws {
        let tool = try run()
        #expect(tool.code == 0 && tool.output.contains("both messages came"), "\(tool)")
    }

    @Test("canary: it fails where another text is expected")
    func canary() throws {
        let tool = try run(expecting: "something else")
        #expect(tool.code == 1 && tool.errors.contains("another message came"), "\(tool)")
    }
}
