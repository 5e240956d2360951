import Basics
import ClusterLog

/// A request that waits for its answer.
enum OpenRequest: Hashable {
    case append(Int, FrameName)
    case read(Int, LogPosition)
    /// The same of any replica, while no leader of JetStream lets the stream's leader answer.
    case readDirectly(Int, LogPosition)
    /// Records for a follower; its state has the deadline.
    case batch(Int)
    /// The first record at or after a follower's next position, from the leader.
    case first(Int)
    case purge(Int, upTo: LogPosition)
    case create(Int)
    case examine(Int)

    /// How long the answer may take.
    var patience: Patience? {
        switch self {
        case .append: .append
        case .read, .readDirectly, .first: .read
        case .batch: nil
        case .purge, .create, .examine: .manage
        }
    }

    /// The kinds of deadlines.
    enum Patience: Int, CaseIterable {
        case append
        case read
        case manage

        var milliseconds: Int64 {
            switch self {
            case .append: Limits.JetStream.appendMilliseconds
            case .read: Limits.JetStream.readMilliseconds
            case .manage: Limits.JetStream.manageMilliseconds
            }
        }
    }
}

/// The requests that wait for their answers, by the number in the subject of the answer. Numbers are never used again.
struct RequestTable {
    /// The requests of one kind in the order of their deadlines; those that are answered leave it later.
    private struct Queue {
        var entries: [(number: UInt64, deadline: Instant)] = []
        var start = 0
    }

    private var open: [UInt64: OpenRequest] = [:]
    private var queues = [Queue](repeating: Queue(), count: OpenRequest.Patience.allCases.count)
    private var last: UInt64 = 0

    /// Number of open requests.
    var count: Int { open.count }

    /// Number of entries in the queues of deadlines.
    var queuedCount: Int { queues.reduce(0) { $0 + $1.entries.count } }

    /// Adds a request. Returns its number, or `nil` if too many are open.
    mutating func add(_ request: OpenRequest, now: Instant) -> UInt64? {
        guard open.count < Limits.JetStream.openRequests else { return nil }
        last += 1
        open[last] = request
        if let patience = request.patience {
            let deadline = now.advanced(milliseconds: patience.milliseconds)
            queues[patience.rawValue].entries.append((last, deadline))
        }
        return last
    }

    /// The request of a number, or `nil` if it is answered or was given up.
    subscript(number: UInt64) -> OpenRequest? { open[number] }

    /// Removes a request.
    mutating func remove(_ number: UInt64) {
        guard let request = open.removeValue(forKey: number), let patience = request.patience else { return }
        skipAnswered(patience.rawValue)
    }

    /// Removes and returns the requests whose deadlines have passed.
    mutating func removeExpired(now: Instant) -> [OpenRequest] {
        var expired: [OpenRequest] = []
        for at in queues.indices {
            skipAnswered(at)
            while queues[at].start < queues[at].entries.count {
                let (number, deadline) = queues[at].entries[queues[at].start]
                guard deadline <= now else { break }
                if let request = open.removeValue(forKey: number) { expired.append(request) }
                skipAnswered(at)
            }
        }
        return expired
    }

    /// Removes and returns all requests in the order of their numbers.
    mutating func removeAll() -> [OpenRequest] {
        let requests = open.sorted { $0.key < $1.key }.map(\.value)
        open = [:]
        for at in queues.indices { queues[at] = Queue() }
        return requests
    }

    /// The first deadline.
    var nextDeadline: Instant {
        queues.reduce(.distantFuture) { earliest, queue in
            queue.start < queue.entries.count ? min(earliest, queue.entries[queue.start].deadline) : earliest
        }
    }

    /// Skips answered requests at the start of a queue, and frees their memory when it is half of the queue.
    private mutating func skipAnswered(_ at: Int) {
        while queues[at].start < queues[at].entries.count,
            open[queues[at].entries[queues[at].start].number] == nil
        {
            queues[at].start += 1
        }
        guard queues[at].start > 32, queues[at].start * 2 >= queues[at].entries.count else { return }
        queues[at].entries.removeFirst(queues[at].start)
        queues[at].start = 0
    }
}
