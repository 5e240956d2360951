public import Wire

/// How a request is written: one JSON object, `{"command":"devices list","arguments":{"limit":10}}`.
public enum RequestLine {
    private static let command = "command"
    private static let arguments = "arguments"

    /// The request for a command.
    public static func json(_ request: some OperatorCommand) -> JSONValue {
        .object([
            .init(command, .string(type(of: request).summary.name.rawValue)), .init(arguments, request.json),
        ])
    }

    /// Reads a request from the bytes of a line; throws `RequestProblem` for anything that is no command.
    public static func request(_ line: RawSpan) throws(RequestProblem) -> OperatorRequest {
        let json: JSONValue
        do throws(JSONError) { json = try JSONValue(parsing: line) } catch {
            throw RequestProblem(
                "invalid request: \(error.fault.rawValue) at byte \(error.offset) of the JSON",
                hint: "one JSON object a line: {\"\(command)\":\"\(OperationName.showStatus.rawValue)\"}")
        }
        guard let text = json[command]?.text else {
            throw RequestProblem("the request has no text '\(command)'", hint: known)
        }
        guard let name = OperationName(rawValue: text) else {
            throw RequestProblem("there is no command '\(text)'", hint: known)
        }
        var given = json[arguments] ?? .null
        if given == .null { given = .object([]) }
        do throws(FieldProblem) { return try OperatorRequest(name, arguments: given) } catch {
            throw RequestProblem(error, in: name)
        }
    }

    private static var known: String {
        "known: \(OperationName.allCases.map(\.rawValue).joined(separator: ", "))"
    }
}
