import Basics
import Wire

/// What the monitoring port of a nats-server reports about it (`/varz`).
///
/// Only that port shows whether a server syncs each record before it confirms it: users of an account do not see it.
public struct LogServerReport: Sendable, Equatable {
    /// The name of the server.
    public var name: String
    /// Whether `sync_interval: always` is set: without it a power cut loses records that were confirmed.
    public var syncsAlways: Bool

    /// Creates a report.
    public init(name: String, syncsAlways: Bool) {
        self.name = name
        self.syncsAlways = syncsAlways
    }

    /// Reads the body of an answer to `GET /varz`. Throws if it is none, or if JetStream is off.
    public init(parsing body: [UInt8]) throws(LogMonitorProblem) {
        guard let json = try? JSONValue(parsing: body.raw), let name = json["server_name"]?.text,
            let stream = json["jetstream"], stream.members != nil
        else { throw .unreadable("expected the answer of a nats-server to /varz") }
        guard let config = stream["config"], config.members != nil else {
            throw .withoutJetStream("server \(Printable.text(name, limit: 64)) runs without JetStream")
        }
        // A server leaves the member out when it is false.
        let syncs =
            switch config["sync_always"] {
            case .boolean(let value): value
            case nil: false
            default: throw LogMonitorProblem.unreadable("sync_always: expected true or false")
            }
        self.init(name: Printable.text(name, limit: 64), syncsAlways: syncs)
    }
}

/// Why the monitoring port of a nats-server gives no report.
public enum LogMonitorProblem: Error, Sendable, Equatable, CustomStringConvertible {
    /// It cannot be reached, or does not answer.
    case unreachable(String)
    /// It runs without JetStream; one that has just started does for a moment.
    case withoutJetStream(String)
    /// Its answer is not that of a nats-server.
    case unreadable(String)

    /// The problem in words.
    public var description: String {
        switch self {
        case .unreachable(let words), .withoutJetStream(let words), .unreadable(let words): words
        }
    }
}
