public import Wire

/// The encoding of a request: one JSON object, `{"command":"devices list","arguments":{"limit":10}}`.
public enum RequestLine {
    private static let command = "command"
    private static let arguments = "arguments"

    /// Encodes a command.
    public static func json(_ request: some OperatorCommand) -> JSONValue {
        .object([
            .init(command, .string(type(of: request).summary.name)), .init(arguments, request.json),
        ])
    }

    /// Decodes a request from the bytes of a line. Throws `RequestProblem` if it is not a valid command.
    public static func request(_ line: RawSpan) throws(RequestProblem) -> any OperatorCommand {
        let json: JSONValue
        do throws(JSONError) { json = try JSONValue(parsing: line) } catch {
            throw RequestProblem(
                "invalid request: \(error.fault.rawValue) at byte \(error.offset) of the JSON",
                hint:
                    "send one JSON object per line: {\"\(command)\":\"\(ShowStatus.summary.name)\"}"
            )
        }
        guard let text = json[command]?.text else {
            throw RequestProblem("missing \(command): expected the name of a command", hint: known)
        }
        guard let operation = Operations.named(text) else {
            throw RequestProblem("unknown command '\(text)'", hint: known)
        }
        var given = json[arguments] ?? .null
        if given == .null { given = .object([]) }
        do throws(FieldProblem) { return try operation.init(arguments: given) } catch {
            throw RequestProblem(error, in: operation)
        }
    }

    private static var known: String {
        "the commands are \(Operations.all.map { $0.summary.name }.joined(separator: ", "))"
    }
}
