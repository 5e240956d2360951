import Basics
import Delivery
import Wire

/// The line that each operator command leaves in the log: who asked, for what, and how it ended.
///
/// It holds names and IDs only: no key, no payload, and a device instead of a registration token.
struct OperatorRecord {
    /// The command; `unknown` for one that is none.
    let command: String
    /// The arguments that name something, in the order in which they are listed here.
    let named: [(name: StaticString, value: String)]
    /// `ok`, `refused`, or what became of a message.
    let result: String
    /// Why it was refused; empty otherwise.
    let problem: String

    /// Arguments whose values are names or IDs of the operator's own.
    private static let names: [(key: String, name: StaticString)] = [
        ("sender_id", "sender"), ("label", "label"), ("project", "project"), ("key_id", "key_id"),
        ("session", "session"), ("installation", "installation"),
    ]

    init(_ request: JSONValue, _ answer: ControlReply, seal: TokenSeal, isKnown: (String) -> Bool) {
        let asked = request["command"]?.text ?? ""
        let isCommand = isKnown(asked)
        command = isCommand ? asked : "unknown"
        let arguments = isCommand ? request["arguments"] ?? .null : .null
        var named: [(name: StaticString, value: String)] = []
        for (key, name) in Self.names {
            if let value = arguments[key], let text = value.text ?? value.integer.map(String.init) {
                named.append((name, text))
            }
        }
        for key in ["device", "to"] {
            if let text = arguments[key]?.text { named.append(("target", Self.target(text, seal))) }
        }
        self.named = named
        switch answer {
        case .result(let value):
            // A message that was refused is an answer, not a fault of the command.
            result = value["outcome"]?.text == "nack" ? value["error"]?.text ?? "refused" : "ok"
            problem = ""
        case .problem(let text, _):
            result = "refused"
            problem = isCommand ? text : ""
        }
    }

    /// What a message or a command was for: a token allows what its device allows, so its device stands in the log instead.
    private static func target(_ text: String, _ seal: TokenSeal) -> String {
        if UInt64(text) != nil || text.hasPrefix("/topics/") { return text }
        let bytes = Array(text.utf8)
        if let name = seal.name(of: bytes.raw) { return "\(name.device.number)" }
        if let group = seal.group(of: bytes.raw) { return "group \(group.number)" }
        return "malformed"
    }

    /// Writes it; nothing holds it back, however many commands there are.
    func write(_ user: UInt32?, _ log: Log) {
        var text = ""
        for (name, value) in named { text += (text.isEmpty ? "" : " ") + "\(name)=\(Printable.text(value))" }
        log.record(
            .notice, "operator_command",
            [
                "user": user.map { LogValue($0) } ?? "unknown", "command": .text(command),
                "arguments": .text(text), "result": .text(result), "problem": .text(problem),
            ])
    }
}
