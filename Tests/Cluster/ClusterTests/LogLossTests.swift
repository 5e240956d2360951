import Basics
import Cluster
import ClusterLog
import Testing

@Suite("records that a log has lost")
struct LogLossTests {
    private func at(_ position: UInt64) -> LogPosition { LogPosition(position) }

    private func look(
        _ loss: inout LogLoss, applied: UInt64 = 10, ends: UInt64, majorityAge: Int64? = 0
    ) -> Bool {
        loss.look(applied: at(applied))
        return loss.answered(last: at(ends), majorityAge: majorityAge)
    }

    @Test("they are lost once a leader with a majority has said so twice in a row")
    func twice() {
        var loss = LogLoss()
        #expect(!look(&loss, ends: 9) && loss.isSuspected)
        #expect(!look(&loss, ends: 10) && loss.state == .whole, "it was the old position of a new leader")
        #expect(!look(&loss, ends: 9))
        #expect(look(&loss, ends: 9) && loss.lostAfter == at(9))
        #expect(!look(&loss, ends: 8) && loss.lostAfter == at(8), "that is said once")
        #expect(!look(&loss, ends: 11) && loss.state == .whole)
    }

    @Test("a server that is cut off proves nothing, however often it is asked, and ends no alarm")
    func cutOff() {
        var loss = LogLoss()
        for age in [nil, Limits.ClusterHost.majorityMilliseconds, 20_000] as [Int64?] {
            for _ in 0..<5 { #expect(!look(&loss, ends: 3, majorityAge: age)) }
        }
        #expect(loss.state == .whole)
        loss.suspect(after: at(3))
        for _ in 0..<5 { #expect(!look(&loss, ends: 3, majorityAge: nil)) }
        #expect(loss.isSuspected && loss.lostAfter == nil)
        #expect(!look(&loss, ends: 10) && loss.state == .whole)
        loss = LogLoss()
        _ = look(&loss, ends: 9)
        #expect(look(&loss, ends: 9))
        #expect(!look(&loss, ends: 12, majorityAge: nil) && loss.lostAfter == at(9))
    }

    @Test("the end that an answer has is compared with what was applied when it was asked for")
    func order() {
        var loss = LogLoss()
        loss.look(applied: at(10))
        loss.look(applied: at(20))
        #expect(!loss.answered(last: at(12), majorityAge: 0) && loss.state == .whole)
        loss.failed()
        #expect(!loss.answered(last: at(1), majorityAge: 0) && loss.state == .whole, "nothing was asked")
    }

    @Test("a repair that has appended records proves that they were lost, unless that is known")
    func repair() {
        var loss = LogLoss()
        loss.suspect(after: at(3))
        #expect(loss.isProved(byRepair: 2) && !loss.isProved(byRepair: 0))
        loss.repaired()
        #expect(loss.state == .whole)
        _ = look(&loss, ends: 9)
        _ = look(&loss, ends: 9)
        #expect(!loss.isProved(byRepair: 2))
    }
}
