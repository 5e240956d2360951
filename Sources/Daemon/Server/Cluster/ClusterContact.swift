import Basics
import Cluster
import Delivery
import Synchronization

/// Whether a node is in contact with the log; any thread may ask.
final class ClusterContact: Sendable {
    /// Since when there is no connection: nanoseconds of the monotonic clock; `never` while there is one.
    private let lostAt = Atomic<Int64>(.min)
    /// Since when nothing has proved that the log works; `never` while it does.
    private let unprovedAt = Atomic<Int64>(never)
    private static let never = Int64.max
    /// Another reason for which it accepts no work.
    private let trouble = Mutex<String?>(nil)
    /// Until when this node counts as having all that is confirmed of each partition.
    private let known: Mutex<[KnownSpan]>

    /// The contact of a node of a cluster with this many partitions: none yet.
    init(partitions: Int) { known = Mutex(Array(repeating: KnownSpan(), count: partitions)) }

    /// Notes until when this node counts as having all that is confirmed of each partition.
    func note(known ends: [Instant], _ now: Instant) {
        known.withLock { known in
            for partition in known.indices { known[partition].extend(until: ends[partition], now: now) }
        }
    }

    /// Whether the record of a sender that was read at `start` or later was as it is: with all that is confirmed of its partition.
    func isCurrent(_ sender: SenderID, from start: Instant, to now: Instant) -> Bool {
        span(of: sender).covers(from: start, to: now)
    }

    /// Whether a session of a sender that has logged in may send.
    func coversSessions(of sender: SenderID, _ now: Instant) -> Bool {
        span(of: sender).coversSessions(now)
    }

    private func span(of sender: SenderID) -> KnownSpan {
        known.withLock { $0[PartitionKey.sender(sender).partition(of: $0.count)] }
    }

    /// Whether all senders that were read at `start` or later were as they are.
    func areSendersCurrent(from start: Instant, to now: Instant) -> Bool {
        known.withLock { $0.allSatisfy { $0.covers(from: start, to: now) } }
    }

    /// Notes that there is a connection.
    func connected() { lostAt.store(Self.never, ordering: .relaxed) }

    /// Notes that the connection is lost.
    func disconnected(_ now: Instant) { lostAt.store(now.nanoseconds, ordering: .relaxed) }

    /// Notes since when nothing has proved that the log works (`LogHealth`); `nil` while it does.
    func note(unprovedSince since: Instant?) {
        unprovedAt.store(since?.nanoseconds ?? Self.never, ordering: .relaxed)
    }

    /// Notes why the node accepts no work although there is a connection; `nil` if it does.
    func note(trouble: String?) { self.trouble.withLock { $0 = trouble } }

    /// Why the node accepts no work. `nil` while the log answers, and for a moment afterwards: another server of the log usually answers
    /// within that.
    func problem(_ now: Instant) -> String? {
        lostProblem(now) ?? trouble.withLock { $0 }
    }

    private func lostProblem(_ now: Instant) -> String? {
        let since = Instant(nanoseconds: lostAt.load(ordering: .relaxed))
        guard since != .distantPast else { return "there is no connection to the log of the cluster yet" }
        if let lost = overdue(since, now) {
            return "there has been no connection to the log of the cluster for \(lost / 1_000) s"
        }
        let unproved = Instant(nanoseconds: unprovedAt.load(ordering: .relaxed))
        return overdue(unproved, now).map {
            "the log of the cluster has confirmed nothing for \($0 / 1_000) s"
        }
    }

    /// The milliseconds since a time, if they are too many.
    private func overdue(_ since: Instant, _ now: Instant) -> Int64? {
        guard since.nanoseconds != Self.never else { return nil }
        let milliseconds = now.milliseconds(since: since)
        return milliseconds >= Limits.ClusterHost.readyMilliseconds ? milliseconds : nil
    }
}
