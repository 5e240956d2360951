public import Basics
public import Wire

/// The answer of APNs to one request, as the connection received it.
public struct APNsAnswer: Sendable, Equatable {
    /// The HTTP status.
    public var status: Int
    /// The body: empty if the request was accepted, else JSON unless a proxy has answered.
    public var body: [UInt8]

    /// Creates an answer.
    public init(status: Int, body: [UInt8] = []) {
        self.status = status
        self.body = body
    }

    /// Takes the parts that matter from an HTTP answer.
    public init(_ answer: HTTPAnswer) { self.init(status: answer.status, body: answer.body) }

    /// The status and the reason, which is empty if the body has none (apns 1.6).
    public var verdict: APNsVerdict {
        let (reason, timestamp) = Self.reason(body)
        return APNsVerdict(status: status, reason: reason, invalidSince: status == 410 ? timestamp : nil)
    }

    /// Returns Apple's word from the body of an answer or from the debug data of a GOAWAY frame, empty if there is none, and the
    /// time in it.
    static func reason(_ body: [UInt8]) -> (reason: String, timestamp: UnixMilliseconds?) {
        guard !body.isEmpty, body.count <= Limits.APNsGateway.reasonBytes,
            let value = try? JSONValue(parsing: body.raw)
        else { return ("", nil) }
        let word = Printable.text(value["reason"]?.text ?? "", limit: Limits.APNsGateway.reasonCharacters)
        let timestamp = value["timestamp"]?.integer.map(UnixMilliseconds.init)
        return (word, timestamp.flatMap { $0 > 0 ? $0 : nil })
    }
}
