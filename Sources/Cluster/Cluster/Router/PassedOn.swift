import Basics
import Delivery

/// Requests of sessions of other nodes that this node has passed on to what it took for the owner. It does not see their answers.
///
/// One that comes back is older than what its node has sent here since: that node has not noticed that another one owned the partition for
/// a while. So it goes first, and is refused if the partition has a later one.
struct PassedOn: Sendable {
    /// How an event has come to this node.
    enum Return {
        /// For the first time.
        case none
        /// It was here, and nothing has overtaken it.
        case inOrder
        /// It was here, and the partition has a later one of its node.
        case overtaken
    }

    private struct Way: Hashable {
        var partition: Int
        var source: UInt16
    }

    private struct Requests {
        var keys: Set<PendingKey> = []
        /// When their node has given up the last of them.
        var until: Instant
        var isOvertaken = false
    }

    private var requests: [Way: Requests] = [:]
    private(set) var count = 0

    /// Tracks an event that this node passes on. Returns `false` if too many are.
    mutating func pass(_ event: borrowing Event, of partition: Int, from node: NodeNumber, _ now: Instant)
        -> Bool
    {
        for request in event.openRequests {
            guard let way = way(request.key, partition), way.source != node.number else { continue }
            guard count < Limits.ClusterHost.heldEvents else { return false }
            let until = now.advanced(milliseconds: Limits.NodeProtocol.answerMilliseconds)
            requests[way, default: Requests(until: until)].until = until
            if requests[way]?.keys.insert(request.key).inserted == true { count += 1 }
        }
        return true
    }

    /// Whether an event that another node has sent was here before. It is no longer on its way.
    mutating func receive(_ event: borrowing Event, of partition: Int) -> Return {
        guard count > 0 else { return .none }
        var result = Return.none
        for request in event.openRequests {
            guard let way = way(request.key, partition), requests[way]?.keys.remove(request.key) != nil else {
                continue
            }
            count -= 1
            result = requests[way]?.isOvertaken == true ? .overtaken : .inOrder
            if requests[way]?.keys.isEmpty == true { requests[way] = nil }
        }
        return result
    }

    /// The partition gets an event, ahead of all that are on their way.
    mutating func deliver(_ event: borrowing Event, of partition: Int) {
        guard count > 0 else { return }
        for request in event.openRequests {
            if let way = way(request.key, partition) { requests[way]?.isOvertaken = true }
        }
    }

    /// Forgets what its nodes have given up.
    mutating func expire(_ now: Instant) {
        guard count > 0 else { return }
        requests = requests.filter { $0.value.until > now }
        count = requests.values.reduce(0) { $0 + $1.keys.count }
    }

    private func way(_ key: PendingKey, _ partition: Int) -> Way? {
        key.session.map { Way(partition: partition, source: $0.node) }
    }
}
