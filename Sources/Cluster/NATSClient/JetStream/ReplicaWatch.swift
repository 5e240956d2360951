import Basics

/// Watches the replicas of a stream, look by look. What is seen once may be the restart of a server or the work of a moment; what is
/// seen in several looks in a row has made the stream less safe than it was configured.
public struct ReplicaWatch: Hashable, Sendable {
    private enum Finding: Hashable {
        /// The replica with this name sends the leader nothing.
        case silent(String)
        case behind(String)
        /// There are fewer replicas than configured.
        case few(Int, expected: Int)

        /// How many looks in a row must find it.
        var looks: Int {
            switch self {
            case .silent, .few: Limits.JetStream.silentLooks
            case .behind: Limits.JetStream.behindLooks
            }
        }
    }

    /// In how many looks in a row each was found.
    private var looks: [Finding: Int] = [:]

    /// Creates a watch that has seen nothing.
    public init() {}

    /// A look at the stream. Returns what is wrong with its replicas for long.
    public mutating func look(_ info: StreamInfo) -> [StreamProblem] {
        // A replica without a leader has no news of the others.
        guard !info.leader.isEmpty else { return problems }
        var found: [Finding] = []
        for replica in info.replicas {
            if replica.isSilent { found.append(.silent(replica.name)) }
            if replica.isBehind { found.append(.behind(replica.name)) }
        }
        let count = info.replicas.count + 1
        if count < info.configuredReplicas { found.append(.few(count, expected: info.configuredReplicas)) }
        looks = found.reduce(into: [:]) { $0[$1] = (looks[$1] ?? 0) + 1 }
        return problems
    }

    private var problems: [StreamProblem] {
        let lasting = looks.filter { $0.value >= $0.key.looks }.keys
        let silent = lasting.compactMap { if case .silent(let name) = $0 { name } else { nil } }
        let behind = lasting.compactMap { if case .behind(let name) = $0 { name } else { nil } }
        let few = lasting.compactMap { finding -> StreamProblem? in
            if case .few(let count, let expected) = finding {
                .replicasFew(count, expected: expected)
            } else {
                nil
            }
        }
        return (silent.isEmpty ? [] : [.replicasSilent(silent.sorted())])
            + (behind.isEmpty ? [] : [.replicasBehind(behind.sorted())]) + few
    }
}
