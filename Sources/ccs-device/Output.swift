import Basics
import Glibc
import Wire

/// What the tool says: events to standard output, complaints to standard error.
struct Output {
    /// Whether each event is one JSON object on a line.
    let isJSON: Bool

    /// Whether the output is read by a person.
    static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    /// Tells an event: its members as JSON, or a sentence.
    func tell(_ event: String, _ members: [JSONValue.Member], _ sentence: String) {
        let now = Now.read().wall
        guard isJSON else {
            return DescriptorOutput.write(
                "\(Timestamp.text(now).dropFirst(11).prefix(8)) \(sentence)\n", to: STDOUT_FILENO)
        }
        let head = [
            JSONValue.Member("event", .string(event)), JSONValue.Member("time", .string(Timestamp.text(now))),
        ]
        DescriptorOutput.write(JSONValue.object(head + members).compact + "\n", to: STDOUT_FILENO)
    }

    /// Writes one line to standard error.
    static func complain(_ line: String) { DescriptorOutput.write(line + "\n", to: STDERR_FILENO) }
}

extension JSONValue {
    /// Octets as a string; what is not UTF-8 becomes U+FFFD.
    static func text(_ octets: [UInt8]) -> JSONValue { .string(String(decoding: octets, as: UTF8.self)) }
}
