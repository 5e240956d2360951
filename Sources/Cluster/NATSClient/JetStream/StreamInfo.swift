import Basics
public import ClusterLog
import Wire

/// The state and the configuration of a stream, as its leader reports them.
public struct StreamInfo: Hashable, Sendable {
    /// One of the other replicas.
    public struct Replica: Hashable, Sendable {
        /// The name of its server.
        public var name: String
        /// Whether it has what the leader has.
        public var isCurrent: Bool
        /// Whether the leader has lost it.
        public var isOffline: Bool
        /// How many operations it is behind.
        public var lag: Int
        /// Milliseconds since the leader last received something from it. `nil` if it never has.
        public var heardMilliseconds: Int64?

        /// Whether the leader has received nothing from it for so long that its server is down, cut off or gone for good.
        var isSilent: Bool {
            guard !isOffline, !isCurrent else { return isOffline }
            return (heardMilliseconds ?? .max) >= Limits.JetStream.silentReplicaMilliseconds
        }

        /// Whether it has so much less than the leader that this is not only the last moment's work.
        var isBehind: Bool { !isCurrent && !isSilent && lag > Limits.JetStream.replicaLag }
    }

    /// The position of the first record; the one after the last if there is none.
    public var first: LogPosition
    /// The position of the last record that was ever stored.
    public var last: LogPosition
    /// How many records there are.
    public var records: Int
    /// Their bytes.
    public var bytes: Int
    /// The name of the server that leads the stream; empty if none does.
    public var leader: String
    /// The other replicas.
    public var replicas: [Replica]
    private let config: Config

    /// Reads the answer to a request to create or to describe a stream. Returns `nil` if it is incomplete.
    init?(_ answer: JSONValue) {
        guard let state = answer["state"], let config = answer["config"],
            let first = state["first_seq"]?.integer, let last = state["last_seq"]?.integer,
            first >= 0, last >= 0
        else { return nil }
        self.first = LogPosition(UInt64(first))
        self.last = LogPosition(UInt64(last))
        records = state["messages"]?.integer ?? 0
        bytes = state["bytes"]?.integer ?? 0
        leader = answer["cluster"]?["leader"]?.text ?? ""
        replicas = (answer["cluster"]?["replicas"]?.elements ?? []).map {
            let heard = $0["active"]?.integer ?? 0
            return Replica(
                name: $0["name"]?.text ?? "", isCurrent: $0["current"]?.boolean ?? false,
                isOffline: $0["offline"]?.boolean ?? false, lag: $0["lag"]?.integer ?? 0,
                // 0 stands for a replica that never sent anything, unless it is current.
                heardMilliseconds: heard > 0 || $0["current"]?.boolean == true
                    ? Int64(max(0, heard) / 1_000_000) : nil)
        }
        self.config = Config(config)
    }

    /// Returns what is wrong with the configuration. What is wrong with its replicas is found by `ReplicaWatch`.
    public func problems(_ settings: StreamSettings, subject: String) -> [StreamProblem] {
        config.problems(settings, subject: subject)
    }

    /// How many replicas there are to be.
    var configuredReplicas: Int { config.replicas }

    /// Milliseconds since a majority of the replicas was certainly together with the one that has answered. `nil` if that is unknown.
    ///
    /// A leader that is cut off from the others goes on to answer for up to 20 s: the end of the stream in its answers is of the
    /// time when it last had a majority.
    public var majorityAge: Int64? {
        let others = config.replicas / 2
        guard others > 0 else { return 0 }
        // A replica without a leader answers as well, from what it has.
        guard !leader.isEmpty else { return nil }
        let ages = replicas.filter { $0.isCurrent && !$0.isOffline }.compactMap(\.heardMilliseconds).sorted()
        return ages.count >= others ? ages[others - 1] : nil
    }

    /// What is checked of the configuration.
    private struct Config: Hashable {
        private var words: [String: String] = [:]
        private var numbers: [String: Int] = [:]
        private var flags: [String: Bool] = [:]
        private var subjects: [String]
        private var copies: [String]

        var replicas: Int { numbers["num_replicas"] ?? 0 }

        /// Numbers that limit the records, and what they must be.
        private static let limits = ["max_msgs": -1, "max_age": 0, "max_msgs_per_subject": -1]
        private static let expected = [
            "allow_direct": true, "deny_purge": false, "allow_rollup_hdrs": false, "sealed": false,
            "no_ack": false, "allow_msg_ttl": false, "allow_msg_counter": false, "deny_delete": true,
            "discard_new_per_subject": false, "mirror_direct": false, "allow_msg_schedules": false,
            "allow_atomic": false,
        ]

        init(_ object: JSONValue) {
            for member in object.members ?? [] {
                switch member.value {
                case .string(let text): words[member.key] = text
                case .integer(let number): numbers[member.key] = number
                case .boolean(let flag): flags[member.key] = flag
                default: break
                }
            }
            subjects = (object["subjects"]?.elements ?? []).compactMap(\.text)
            copies = ["mirror", "sources", "republish", "subject_transform"].filter {
                object[$0] != nil && object[$0] != .null
            }
        }

        func problems(_ settings: StreamSettings, subject: String) -> [StreamProblem] {
            var problems: [StreamProblem] = []
            func check(_ isGood: Bool, _ problem: @autoclosure () -> StreamProblem) {
                if !isGood { problems.append(problem()) }
            }
            func word(_ key: String) -> String { words[key] ?? "" }
            func number(_ key: String, _ absent: Int = 0) -> Int { numbers[key] ?? absent }
            check(subjects == [subject], .subjects(subjects, expected: subject))
            check(replicas == settings.replicas, .replicas(replicas, expected: settings.replicas))
            check(word("storage") == "file", .storage(word("storage")))
            check(word("retention") == "limits", .retention(word("retention")))
            check(word("discard") == "new", .discard(word("discard")))
            let persistence = words["persist_mode"] ?? "default"
            check(persistence == "default", .persistence(persistence))
            for (name, none) in Self.limits.sorted(by: { $0.key < $1.key }) {
                check(number(name, none) == none, .limit(name, number(name, none)))
            }
            let bytes = number("max_bytes", -1)
            let wanted = settings.maximumBytes ?? -1
            check(bytes == wanted, .maximumBytes(bytes, expected: wanted))
            let size = number("max_msg_size", -1)
            let least = Limits.ClusterLog.frameBytes
            check(size == -1 || size >= least, .messageSize(size, expected: least))
            let window = number("duplicate_window")
            check(
                window <= Limits.JetStream.duplicateNanoseconds, .duplicateWindow(nanoseconds: window))
            for (name, expected) in Self.expected.sorted(by: { $0.key < $1.key }) {
                let flag = flags[name] ?? false
                check(flag == expected, .flag(name, is: flag))
            }
            problems += copies.map { .copied($0) }
            return problems
        }
    }
}
