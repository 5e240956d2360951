import Basics
import Cluster
import ClusterLog
import NodeLinks

/// The copy of another node's store that this node waits for, if it is behind a purged log.
struct CopyState {
    enum Stage {
        /// None is under way.
        case idle
        /// A node was asked.
        case asked(NodeNumber, UInt64, since: Instant)
        /// A copy arrives.
        case receiving(NodeNumber, LinkStreamID, StoreTaker)
        /// It is complete: the process ends, and the next one uses it.
        case complete(NodeNumber)
    }

    private(set) var stage = Stage.idle
    /// How much has arrived, and how much the copy has.
    private(set) var received: UInt64 = 0
    private(set) var total: UInt64 = 0
    /// What the copy must have of each log.
    private(set) var least: [LogPosition] = []
    /// Why the last copy has failed.
    private(set) var problem: String?
    /// When a node may be asked. `nil` if no copy is needed.
    private var due: Instant?
    /// The nodes that gave none, and until when they are not asked.
    private var paused: [NodeNumber: Instant] = [:]

    /// Whether others may rely on no more than what is durable now, since the store is being replaced.
    var isUnderWay: Bool { if case .idle = stage { false } else { true } }

    /// Whether it is time to ask a node. The first time, some moments after a copy was first needed.
    mutating func isDue(_ now: Instant) -> Bool {
        guard case .idle = stage else { return false }
        let due = due ?? now.advanced(milliseconds: Limits.StoreCopy.delayMilliseconds)
        self.due = due
        return due <= now
    }

    /// The nodes that are not to be asked now.
    mutating func excluded(_ now: Instant) -> Set<NodeNumber> {
        paused = paused.filter { $0.value > now }
        return Set(paused.keys)
    }

    /// No node has what is needed.
    mutating func foundNone(_ now: Instant) {
        problem = problem ?? "no other node that runs has all records that are needed"
        due = now.advanced(milliseconds: Limits.StoreCopy.retryMilliseconds)
    }

    mutating func ask(_ node: NodeNumber, number: UInt64, _ least: [LogPosition], _ now: Instant) {
        stage = .asked(node, number, since: now)
        self.least = least
    }

    mutating func begin(_ node: NodeNumber, _ stream: LinkStreamID, _ taker: StoreTaker, bytes: UInt64) {
        stage = .receiving(node, stream, taker)
        (received, total) = (0, bytes)
    }

    mutating func stored(_ count: Int) { received += UInt64(count) }

    mutating func complete(_ node: NodeNumber) { stage = .complete(node) }

    /// The copy has failed: another node is asked soon, and this one later.
    mutating func fail(_ node: NodeNumber, _ problem: String, _ now: Instant) {
        stage = .idle
        self.problem = problem
        paused[node] = now.advanced(milliseconds: Limits.StoreCopy.pauseMilliseconds)
        due = now.advanced(milliseconds: Limits.StoreCopy.retryMilliseconds)
    }

    /// The node that was asked with this number.
    func asked(_ node: NodeNumber, _ number: UInt64) -> Bool {
        if case .asked(node, number, _) = stage { true } else { false }
    }

    /// Who receives the content of a stream.
    func taker(of stream: LinkStreamID, from node: NodeNumber) -> StoreTaker? {
        if case .receiving(node, stream, let taker) = stage { taker } else { nil }
    }

    /// Whether the node that was asked has not answered in time.
    func isUnanswered(_ now: Instant) -> NodeNumber? {
        guard case .asked(let node, _, let since) = stage,
            now.milliseconds(since: since) >= Limits.StoreCopy.answerMilliseconds
        else { return nil }
        return node
    }

    /// What happens about it, for operators.
    var words: String {
        switch stage {
        case .idle:
            problem.map {
                "nothing yet: it asks the other nodes again and again for a copy of their store (\($0))"
            }
                ?? "nothing: it will copy the store of another node"
        case .asked(let node, _, _): "nothing: it has asked node \(node.number) for a copy of its store"
        case .receiving(let node, _, _):
            "nothing: it copies the store of node \(node.number), \(received >> 20) of \(total >> 20) MiB are here"
        case .complete(let node):
            "nothing: it has copied the store of node \(node.number), and restarts with it"
        }
    }
}
