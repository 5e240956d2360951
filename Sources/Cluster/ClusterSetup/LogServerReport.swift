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
    /// The group of all servers with JetStream, as this server has it. `nil` for one that is alone.
    public var group: LogServerGroup?

    /// Creates a report.
    public init(name: String, syncsAlways: Bool, group: LogServerGroup? = nil) {
        self.name = name
        self.syncsAlways = syncsAlways
        self.group = group
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
        self.init(
            name: Printable.text(name, limit: 64), syncsAlways: syncs,
            group: stream["meta"].flatMap { LogServerGroup($0, of: name) })
    }
}

/// The group of all servers with JetStream, which decides about streams and their servers. It works with a majority of all that it counts,
/// also of those that are gone for good.
public struct LogServerGroup: Sendable, Hashable {
    /// The name of its leader. `nil` if it has none.
    public var leader: String?
    /// How many servers it counts.
    public var size: Int
    /// Those that send the leader nothing, by name, or by the ID of a peer whose name is not known any more.
    public var silent: [String]

    /// Creates a group.
    public init(leader: String?, size: Int, silent: [String] = []) {
        self.leader = leader
        self.size = size
        self.silent = silent
    }

    /// Reads the group in the report of a server. Returns `nil` if there is none.
    init?(_ meta: JSONValue, of server: String) {
        guard let size = meta["cluster_size"]?.integer, size > 1 else { return nil }
        let leader = meta["leader"]?.text.flatMap { $0.isEmpty ? nil : Printable.text($0, limit: 64) }
        let isLeader = meta["leader"]?.text == server
        let silent = (meta["replicas"]?.elements ?? []).filter { Self.isSilent($0, isLeader) }
        self.init(leader: leader, size: size, silent: silent.compactMap(Self.name).sorted())
    }

    /// Only the leader has news of the others; any server may know that one is gone.
    private static func isSilent(_ replica: JSONValue, _ isLeader: Bool) -> Bool {
        if replica["offline"]?.boolean == true { return true }
        guard isLeader, replica["current"]?.boolean == false else { return false }
        let nanoseconds = replica["active"]?.integer ?? 0
        return nanoseconds <= 0
            || nanoseconds / 1_000_000 >= Int(Limits.JetStream.silentReplicaMilliseconds)
    }

    private static func name(_ replica: JSONValue) -> String? {
        let name = replica["name"]?.text ?? ""
        let known = name.isEmpty || name.hasPrefix("Server name unknown") ? replica["peer"]?.text : name
        return known.map { Printable.text($0, limit: 64) }
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
