import Foundation

/// The result of a program that has ended.
struct Tool: CustomStringConvertible {
    var code: Int32
    var output: String
    var errors: String

    var description: String { "exit code \(code), output \(output), errors \(errors)" }

    /// The output as a JSON object.
    var object: [String: Any]? {
        (try? JSONSerialization.jsonObject(with: Data(output.utf8))) as? [String: Any]
    }

    /// Deadline in seconds: the longest program takes a minute while all other tests run, and several times that with a
    /// sanitizer.
    static let bound = 1_200.0

    /// Runs a program of this package with `input` as its standard input.
    static func run(
        _ name: String, _ arguments: [String], input: String = "", environment: [String: String] = [:]
    ) throws -> Tool {
        let folder = name == "ccs-power-cut" ? TestPaths.built : TestPaths.programs
        return try run(
            folder.appendingPathComponent(name), arguments, input: input, environment: environment)
    }

    /// Runs any program. Kills it and throws `HarnessFailure` if it has not ended after `seconds`.
    static func run(
        _ program: URL, _ arguments: [String], input: String = "", environment: [String: String] = [:],
        seconds: Double = bound
    ) throws -> Tool {
        let process = ChildProcess()
        let (output, errors, feed) = (Pipe(), Pipe(), Pipe())
        process.executableURL = program
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = feed
        process.standardOutput = output
        process.standardError = errors
        let end = Date().addingTimeInterval(seconds)
        try process.run()
        // A program that rejects its arguments ends without reading.
        try? feed.fileHandleForWriting.write(contentsOf: Data(input.utf8))
        try feed.fileHandleForWriting.close()
        let (texts, isWhole) = read([output, errors].map(\.fileHandleForReading), until: end)
        while process.isRunning, end.timeIntervalSinceNow > 0 { usleep(1_000) }
        let hangs = process.isRunning
        process.end()
        let tool = Tool(
            code: process.terminationStatus, output: String(decoding: texts[0], as: UTF8.self),
            errors: String(decoding: texts[1], as: UTF8.self))
        guard isWhole, !hangs else {
            let words = ([program.path] + arguments).joined(separator: " ")
            throw HarnessFailure(
                hangs
                    ? "killed after \(seconds) s: \(words): \(tool)"
                    : "after \(seconds) s another process kept its output open: \(words): \(tool)")
        }
        return tool
    }

    /// Reads pipes until all writers have closed them or the deadline passes; `isWhole` is `false` after the deadline.
    private static func read(_ pipes: [FileHandle], until end: Date) -> (texts: [Data], isWhole: Bool) {
        var texts = pipes.map { _ in Data() }
        var open = pipes.map { pollfd(fd: $0.fileDescriptor, events: Int16(POLLIN), revents: 0) }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        while open.contains(where: { $0.fd >= 0 }) {
            let left = end.timeIntervalSinceNow
            guard left > 0 else { return (texts, false) }
            guard poll(&open, nfds_t(open.count), Int32(left * 1_000) + 1) > 0 else { continue }
            for at in open.indices where open[at].revents != 0 {
                let count = Glibc.read(open[at].fd, &bytes, bytes.count)
                // poll ignores negative descriptors.
                if count > 0 { texts[at] += bytes[..<count] } else { open[at].fd = -1 }
            }
        }
        return (texts, true)
    }
}
