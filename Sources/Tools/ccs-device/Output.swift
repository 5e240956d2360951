import Basics
import Catalogue
import Client
import Glibc
import Wire

/// The output of the tool: events to standard output, errors to standard error.
struct Output {
    /// Whether each event is one JSON object on a line.
    let isJSON: Bool

    /// Whether standard output is a terminal.
    static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    /// Whether to write JSON: by the options, or, without them, if the output is not a terminal.
    static func isJSON(_ invocation: Invocation) -> Bool {
        invocation.text("--json").map { $0 == "true" } ?? !isTerminal
    }

    /// Reports a failure on standard error, and in JSON also as the last event.
    static func fail(_ code: ExitCode, _ problem: String, hint: String, isJSON: Bool) -> ExitCode {
        complain("ccs-device: \(problem)")
        if !hint.isEmpty { complain(hint) }
        guard isJSON else { return code }
        Output(isJSON: true).report(
            "error",
            [
                JSONValue.Member("error", .string(problem)), JSONValue.Member("hint", .string(hint)),
                JSONValue.Member("exit_code", .integer(Int(code.rawValue))),
            ], problem)
        return code
    }

    /// Writes an event: as JSON with its members, or as a sentence.
    func report(_ event: String, _ members: [JSONValue.Member], _ sentence: String) {
        let now = Now.read().wall
        guard isJSON else {
            return StandardOutput.write("\(Timestamp.text(now).dropFirst(11).prefix(8)) \(sentence)\n")
        }
        let head = [
            JSONValue.Member("event", .string(event)), JSONValue.Member("time", .string(Timestamp.text(now))),
        ]
        StandardOutput.write(JSONValue.object(head + members).compact + "\n")
    }

    /// Writes one line to standard error.
    static func complain(_ line: String) { DescriptorOutput.write(line + "\n", to: STDERR_FILENO) }
}

extension JSONValue {
    /// Returns bytes as a string; invalid UTF-8 becomes U+FFFD.
    static func text(_ bytes: [UInt8]) -> JSONValue { .string(String(decoding: bytes, as: UTF8.self)) }
}
