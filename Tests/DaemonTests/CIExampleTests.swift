import Foundation
import Testing

/// The example for test suites is run as it stands.
@Suite("The example for pipelines", .serialized)
struct CIExampleTests {
    private func run(expecting text: String? = nil) throws -> (code: Int32, output: String) {
        let process = ChildProcess()
        let output = Pipe()
        process.executableURL = Places.root.appendingPathComponent("Scripts/ci-example")
        process.arguments = [Places.programs.path]
        var environment = ProcessInfo.processInfo.environment
        environment["EXPECTED_TEXT"] = text
        process.environment = environment
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let told = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: told, as: UTF8.self))
    }

    @Test("it starts a server and a device, and a message comes each way")
    func runs() throws {
        let (code, output) = try run()
        #expect(code == 0 && output.contains("both messages came"), "\(output)")
    }

    @Test("canary: it fails where another text is expected")
    func canary() throws {
        let (code, output) = try run(expecting: "something else")
        #expect(code == 1 && output.contains("another message came"), "\(output)")
    }
}
