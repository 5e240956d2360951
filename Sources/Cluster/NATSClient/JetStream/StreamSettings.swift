import Basics
import Wire

/// How the stream of a partition must be configured.
public struct StreamSettings: Hashable, Sendable {
    /// How many servers keep the stream: 1, 3 or 5.
    public var replicas: Int
    /// Bytes that the stream may have; then appends are refused. `nil` for the limit of the account.
    public var maximumBytes: Int?

    /// Creates settings.
    public init(replicas: Int = 3, maximumBytes: Int? = nil) {
        self.replicas = replicas
        self.maximumBytes = maximumBytes
    }

    /// The request that creates the stream.
    func request(stream: String, subject: String) -> [UInt8] {
        let config: JSONValue = .object([
            .init("name", .string(stream)), .init("subjects", [.string(subject)]),
            .init("retention", "limits"), .init("storage", "file"), .init("discard", "new"),
            .init("num_replicas", .integer(replicas)), .init("max_msgs", -1), .init("max_consumers", -1),
            .init("max_bytes", .integer(maximumBytes ?? -1)), .init("max_age", 0),
            .init("max_msgs_per_subject", -1),
            .init("max_msg_size", .integer(Limits.ClusterLog.frameBytes)),
            .init("duplicate_window", .integer(Limits.JetStream.duplicateNanoseconds)),
            .init("deny_delete", true), .init("allow_direct", true),
        ])
        return Array(config.compact.utf8)
    }
}

/// One way in which a stream is not as it must be.
public enum StreamProblem: Hashable, Sendable {
    case subjects([String], expected: String)
    case replicas(Int, expected: Int)
    case storage(String)
    case retention(String)
    case discard(String)
    /// A limit that removes or refuses records: `max_msgs`, `max_age`, `max_msgs_per_subject`.
    case limit(String, Int)
    case maximumBytes(Int, expected: Int)
    case messageSize(Int, expected: Int)
    case duplicateWindow(nanoseconds: Int)
    /// A switch of the configuration that must have the other value.
    case flag(String, is: Bool)
    /// The stream is copied from others.
    case copied(String)
    /// Records are acknowledged before they are stored.
    case persistence(String)
    /// These replicas send the leader nothing: their servers are down, cut off, or were taken away.
    case replicasSilent([String])
    /// These replicas do not catch up.
    case replicasBehind([String])
    /// There are fewer replicas than configured: no other server could take the place of one that was removed.
    case replicasFew(Int, expected: Int)
    /// The stream does not exist.
    case missing

    /// Whether the stream works, and is less safe than it was configured: too few of its replicas work.
    public var isOfRedundancy: Bool {
        switch self {
        case .replicasSilent, .replicasBehind, .replicasFew: true
        default: false
        }
    }
}

extension StreamProblem: CustomStringConvertible {
    /// What is wrong, the value, and what is expected.
    public var description: String {
        switch self {
        case .subjects(let found, let expected):
            "subjects are \(found.map(Self.shown).joined(separator: ", ")): expected \(expected) alone"
        case .replicas(let found, let expected): "num_replicas is \(found): expected \(expected)"
        case .storage(let found): "storage is \(Self.shown(found)): expected file"
        case .retention(let found): "retention is \(Self.shown(found)): expected limits"
        case .discard(let found):
            "discard is \(Self.shown(found)): expected new, since old records are needed until nodes have applied them"
        case .limit(let name, let found):
            "\(name) is \(found): expected no limit, since it removes records that nodes need"
        case .maximumBytes(let found, let expected):
            "max_bytes is \(found): expected \(expected == -1 ? "no limit (-1)" : "\(expected)")"
        case .messageSize(let found, let expected): "max_msg_size is \(found): expected \(expected) or more"
        case .duplicateWindow(let found):
            "duplicate_window is \(found / 1_000_000) ms: expected 100 ms, the shortest that JetStream has"
        case .flag(let name, let found): "\(name) is \(found): expected \(found ? "false" : "true")"
        case .copied(let name): "the stream has \(name): expected none"
        case .persistence(let found): "persist_mode is \(Self.shown(found)): expected default"
        case .replicasSilent(let names):
            "the leader receives nothing from the replica on \(names.map(Self.shown).joined(separator: ", "))"
        case .replicasBehind(let names):
            "the replica on \(names.map(Self.shown).joined(separator: ", ")) is behind"
        case .replicasFew(let found, let expected):
            "the stream has \(found) replicas: expected \(expected)"
        case .missing:
            "it does not exist: it was deleted, or the servers of NATS have lost their disks"
        }
    }

    private static func shown(_ text: String) -> String {
        Printable.text(text, limit: Limits.NATS.errorCharacters)
    }
}
