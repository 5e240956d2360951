import Basics

/// Gives messages to lanes according to the pacing.
final class Feeder {
    private let counters: LoadCounters
    private var lanes: [any Lane] = []
    private var pacing = Pacing.window
    private var arrivals: Arrivals?
    /// When the waiting messages were due that no lane had room for; the first is at `head`.
    private var backlog: [Int64] = []
    private var head = 0
    private var turn = 0
    private var isFeeding = false
    /// Messages that may still be sent.
    private var left = Int.max
    /// Far more than a server leaves that keeps up; beyond it messages are skipped and counted.
    private static let backlogLimit = 1_000_000

    init(_ counters: LoadCounters) { self.counters = counters }

    /// Adds a lane, before the start.
    func add(_ lane: any Lane) { lanes.append(lane) }

    /// Starts to feed at most `limit` messages.
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

    /// Stops feeding; waiting messages are never sent.
    func end() {
        isFeeding = false
        arrivals = nil
    }

    /// Uses a lane that may have room after an acknowledgement.
    func answered(_ lane: any Lane, now: Now) {
        guard isFeeding else { return }
        let time = now.monotonic.nanoseconds
        if arrivals == nil { fill(lane, time) } else if head < backlog.count { spend() }
    }

    /// Sends messages that are due.
    func feed(_ now: Now) {
        guard isFeeding, arrivals != nil else { return }
        let time = now.monotonic.nanoseconds
        while let due = arrivals?.next(by: time) {
            counters.lag.record(time - due)
            if backlog.count - head < Self.backlogLimit { backlog.append(due) } else { counters.leftOut += 1 }
        }
        spend()
    }

    /// When the next message is due, in nanoseconds of the monotonic clock; `nil` in a closed loop.
    var upcoming: Int64? { isFeeding ? arrivals?.upcoming : nil }

    /// Messages that are due and that no lane had room for yet.
    var waiting: Int { backlog.count - head }

    private func fill(_ lane: any Lane, _ time: Int64) {
        guard lane.outstanding < lane.window, left > 0 else { return }
        while lane.outstanding < lane.window, left > 0 { send(on: lane, dueAt: time) }
        lane.flush()
    }

    /// Sends waiting messages as far as lanes have room, each lane in turn.
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
