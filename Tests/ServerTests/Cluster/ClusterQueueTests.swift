import Basics
import Cluster
import ClusterLog
import Delivery
import Synchronization
import Testing

@testable import Server

/// What waits on the thread of the cluster: for an owner, for its answer, or for the store of this node.
@Suite("Queues of a cluster") struct ClusterQueueTests {
    private let start = Instant(nanoseconds: 1_000_000_000)
    private let two = NodeNumber(2)
    private let three = NodeNumber(3)

    /// The outcomes of batches, in the order of their reports.
    private final class Outcomes: Sendable {
        private let all = Mutex<[String]>([])
        var words: [String] { all.withLock { $0 } }

        func report(_ name: String) -> @Sendable (CommitOutcome) -> Void {
            { outcome in
                let word = outcome.hasFailed ? "failed" : "written"
                self.all.withLock { $0.append("\(name) \(word)") }
            }
        }
    }

    /// The number of a change that was taken.
    private func number(_ added: UInt64?) -> UInt64 {
        #expect(added != nil)
        return added ?? 0
    }

    @Test("a change is reported once this node has applied it, and not by another node's answer")
    func written() {
        let outcomes = Outcomes()
        var writes = ControlWrites()
        let first = number(writes.add(for: two, of: 4, now: start, outcomes.report("a")))
        let second = number(writes.add(for: three, of: 4, now: start, outcomes.report("b")))
        writes.written(first, at: LogPosition(9), by: three, now: start)
        writes.fail(second, at: two)
        writes.applied(LogPosition(20), of: 4)
        #expect(outcomes.words == [], "the answers are of other nodes")
        writes.written(first, at: LogPosition(9), by: two, now: start)
        writes.written(first, at: LogPosition(9), by: two, now: start)
        writes.applied(LogPosition(8), of: 4)
        writes.applied(LogPosition(30), of: 5)
        #expect(outcomes.words == [])
        writes.applied(LogPosition(9), of: 4)
        writes.applied(LogPosition(10), of: 4)
        #expect(outcomes.words == ["a written"])
        writes.lose(three)
        #expect(outcomes.words == ["a written", "b failed"])
    }

    @Test(
        "a change without an answer fails in time, and one that counts is reported although this node is behind"
    )
    func overdue() {
        let outcomes = Outcomes()
        var writes = ControlWrites()
        let first = number(writes.add(for: two, of: 4, now: start, outcomes.report("a")))
        _ = writes.add(for: two, of: 4, now: start, outcomes.report("b"))
        writes.written(first, at: LogPosition(9), by: two, now: start)
        writes.endOverdue(start.advanced(milliseconds: Limits.ClusterHost.heldMilliseconds - 1))
        #expect(outcomes.words == [])
        writes.endOverdue(start.advanced(milliseconds: Limits.ClusterHost.heldMilliseconds))
        #expect(outcomes.words == ["a written"])
        writes.endOverdue(start.advanced(milliseconds: Limits.NodeProtocol.answerMilliseconds))
        #expect(outcomes.words == ["a written", "b failed"])
    }

    @Test("the numbers of changes differ from process to process")
    func numbers() {
        var (one, other) = (ControlWrites(), ControlWrites())
        let first = number(one.add(for: two, of: 1, now: start) { _ in })
        let second = number(one.add(for: two, of: 1, now: start) { _ in })
        let third = number(other.add(for: two, of: 1, now: start) { _ in })
        #expect(second == first &+ 1 && third != first)
    }

    @Test("an event that is held again keeps the end of its wait")
    func held() {
        var held = HeldEvents()
        let event = Event.forgetDevice(
            DeviceID(1), Requester(connection: ConnectionID(reactor: 0, slot: 0, generation: 1), requestID: 1)
        )
        let until = start.advanced(milliseconds: 100)
        let isHeld = held.add(event, of: 3, until: until)
        let taken = held.take(3)
        #expect(isHeld && taken.map(\.until) == [until] && held.count == 0)
        for entry in taken { _ = held.add(entry.event, of: 3, until: entry.until) }
        let early = held.takeOverdue(until.advanced(milliseconds: -1))
        let late = held.takeOverdue(until)
        #expect(early.isEmpty && late.count == 1 && held.count == 0)
    }
}
