public import Basics
public import Wire

/// The server-sent events of the operator API (text/event-stream): each has a name and one line of JSON.
public enum EventStream {
    /// The content type.
    public static let contentType: StaticString = "text/event-stream; charset=UTF-8"
    private static let mediaType = "text/event-stream"

    /// The name of the event with the figures of `top`.
    public static let figures = "figures"
    /// The name of the event with a progress report.
    public static let progress = "progress"
    /// The name of the last event of a command that was carried out.
    public static let result = "result"
    /// The name of the last event of a command that was refused meanwhile.
    public static let problem = "problem"

    /// Whether a request accepts a stream of events.
    public static func isAccepted(by request: HTTPRequest) -> Bool {
        guard let accept = request.header("accept") else { return false }
        return String(decoding: accept, as: UTF8.self).lowercased().contains(mediaType)
    }

    /// Returns the name and the content of the event for a reply.
    public static func event(_ reply: OperatorReply) -> (name: String, json: JSONValue) {
        switch reply {
        case .progress(let report): (progress, report.json)
        case .line(let name, let json): (name, json)
        case .result(let json): (result, json)
        case .problem(let refused): (problem, APIProblem(refused).body.json)
        }
    }

    /// Appends an event.
    public static func append(_ name: String, _ json: JSONValue, to buffer: inout ByteBuffer) {
        buffer.append(text: "event: \(name)\ndata: ")
        json.append(to: &buffer)
        buffer.append("\n\n")
    }
}
