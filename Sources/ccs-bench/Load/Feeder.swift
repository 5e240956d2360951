import Basics

/// Gives lanes messages to send, as the pacing says.
final class Feeder {
    private let counters: LoadCounters
    private var lanes: [any Lane] = []
    private var pacing = Pacing.window
    private var arrivals: Arrivals?
    /// When those were due that no lane had room for; the first is at `head`.
    private var backlog: [Int64] = []
    private var head = 0
    private var turn = 0
    private var isFeeding = false
    /// Messages that may still be sent.
    private var left = Int.max
    /// Far more than a server that keeps up leaves: beyond it messages are left out, and counted.
    private static let backlogLimit = 1_000_000

    init(_ counters: LoadCounters) { self.counters = counters }

    /// Takes one more lane, before it begins.
    func add(_ lane: any Lane) { lanes.append(lane) }

    /// Begins to feed; at most `limit` messages.
    func begin(_ pacing: Pacing, limit: Int = .max, seed: UInt64, now: Now) {
        self.pacing = pacing
        left = limit
        isFeeding = true
        backlog = []
        head = 0
        switch pacing {
        case .window: for lane in lanes { fill(lane, now.monotonic.nanoseconds) }
        case .rate(let rate):
            arrivals = Arrivals(perSecond: rate, seed: seed, from: now.monotonic.nanoseconds)
        }
    }

    /// Feeds no more; what no lane had room for is never sent.
    func end() {
        isFeeding = false
        arrivals = nil
    }

    /// A lane has been answered: it may have room.
    func answered(_ lane: any Lane, now: Now) {
        guard isFeeding else { return }
        let time = now.monotonic.nanoseconds
        if arrivals == nil { fill(lane, time) } else if head < backlog.count { spend() }
    }

    /// Sends what is due.
    func feed(_ now: Now) {
        guard isFeeding, arrivals != nil else { return }
        let time = now.monotonic.nanoseconds
        while let due = arrivals?.next(by: time) {
            counters.lag.note(time - due)
            if backlog.count - head < Self.backlogLimit { backlog.append(due) } else { counters.leftOut += 1 }
        }
        spend()
    }

    /// When the next message is due, nanoseconds of the monotonic clock; nil: nobody knows.
    var upcoming: Int64? { isFeeding ? arrivals?.upcoming : nil }

    /// Messages that were due and that no lane had room for yet.
    var waiting: Int { backlog.count - head }

    private func fill(_ lane: any Lane, _ time: Int64) {
        guard lane.outstanding < lane.window, left > 0 else { return }
        while lane.outstanding < lane.window, left > 0 { send(on: lane, dueAt: time) }
        lane.flush()
    }

    /// Sends of the backlog what the lanes have room for, each lane in turn.
    private func spend() {
        while head < backlog.count, left > 0, let lane = laneWithRoom() {
            send(on: lane, dueAt: backlog[head])
            head += 1
            lane.flush()
        }
        if head == backlog.count {
            backlog.removeAll(keepingCapacity: true)
            head = 0
        } else if head > 65_536 {
            backlog.removeFirst(head)
            head = 0
        }
    }

    private func send(on lane: any Lane, dueAt time: Int64) {
        lane.send(dueAt: time)
        counters.sent += 1
        left -= 1
    }

    private func laneWithRoom() -> (any Lane)? {
        for _ in lanes.indices {
            turn = turn + 1 < lanes.count ? turn + 1 : 0
            if lanes[turn].outstanding < lanes[turn].window { return lanes[turn] }
        }
        return nil
    }
}
