import Foundation

/// A program run to its end.
struct Tool: CustomStringConvertible {
    var code: Int32
    var output: String
    var errors: String

    var description: String { "exit code \(code), output \(output), errors \(errors)" }

    /// The output as a JSON object.
    var object: [String: Any]? {
        (try? JSONSerialization.jsonObject(with: Data(output.utf8))) as? [String: Any]
    }

    /// Runs one of our programs; `input` is its standard input.
    static func run(
        _ name: String, _ arguments: [String], input: String = "", environment: [String: String] = [:]
    ) throws -> Tool {
        let process = ChildProcess()
        let (output, errors, feed) = (Pipe(), Pipe(), Pipe())
        let isTestsOwn = name == "ccs-power-cut"
        process.executableURL = (isTestsOwn ? Places.built : Places.programs).appendingPathComponent(name)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = feed
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        // A program that refuses its arguments ends without reading.
        try? feed.fileHandleForWriting.write(contentsOf: Data(input.utf8))
        try feed.fileHandleForWriting.close()
        let text = output.fileHandleForReading.readDataToEndOfFile()
        let complaints = errors.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return Tool(
            code: process.terminationStatus, output: String(decoding: text, as: UTF8.self),
            errors: String(decoding: complaints, as: UTF8.self))
    }
}
