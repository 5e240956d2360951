public import Basics
public import Wire

/// The answer of APNs to one request, as the connection received it.
public struct APNsAnswer: Sendable, Equatable {
    /// The HTTP status.
    public var status: Int
    /// The body: empty if the request was accepted, else JSON unless a proxy has answered.
    public var body: [UInt8]
    /// Its `apns-id`; `nil` if it has none, so that it is not Apple's.
    public var id: String?

    /// Creates an answer.
    public init(status: Int, body: [UInt8] = [], id: String? = nil) {
        self.status = status
        self.body = body
        self.id = id
    }

    /// Takes the parts that matter from an HTTP answer.
    public init(_ answer: HTTPAnswer) {
        self.init(status: answer.status, body: answer.body, id: answer.header("apns-id"))
    }

    /// What the gateway does with it. Each answer of Apple's has the `apns-id` of the request, a UUID in either case (apns 1.6); those of
    /// whatever else may stand at its address, such as a relay or a portal, have not.
    func kind(to request: String) -> VerdictClass {
        guard hasID(of: request) else { return .foreign }
        return VerdictTable.kind(status: status, reason: verdict.reason)
    }

    /// Whether something other than Apple has answered a request.
    public func isForeign(to request: String) -> Bool { kind(to: request) == .foreign }

    private func hasID(of request: String) -> Bool {
        guard let id, id.utf8.count == request.utf8.count else { return false }
        return zip(id.utf8, request.utf8).allSatisfy { $0 | 0x20 == $1 | 0x20 }
    }

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
