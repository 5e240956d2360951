import Basics
import ClusterLog
import Testing
import Wire

@testable import NATSClient

@Suite("followers of a stream") struct FollowerTests {
    private func batch(_ number: Int, after position: UInt64) -> String {
        "$JS.API.DIRECT.GET.CCS_5 _INBOX.x.\(number) {\"seq\":\(position + 1),\"next_by_subj\":\"ccs.5\","
            + "\"batch\":256,\"max_bytes\":1048576}"
    }

    private func following(_ position: UInt64 = 0) -> MachineRun {
        let run = MachineRun()
        _ = (run.sent(), run.reported())
        run.machine.follow(5, after: LogPosition(position), now: run.now)
        #expect(run.sent() == [batch(1, after: position)])
        return run
    }

    @Test("batches follow one another at once while the replica has more")
    func batches() {
        let run = following(3)
        run.record(1, 4, behind: 2)
        run.record(1, 5, behind: 1)
        run.end(1, status: 204, behind: 1)
        #expect(run.reported() == ["followed 5 4 [4]", "followed 5 5 [5]"])
        #expect(run.sent() == [batch(2, after: 5)])
        run.record(2, 6)
        #expect(run.machine.followers[5]?.behind == 0)
        run.end(2, status: 204)
        #expect(run.reported() == ["followed 5 6 [6]", "caught up 5 6"] && run.sent() == [])
    }

    @Test("at the end the wait doubles to its limit, on a grid, and a record makes it shorter again")
    func waits() {
        let run = following()
        var waits: [Int64] = []
        for number in 1...7 {
            run.end(number, status: 404)
            let wait = run.machine.nextTick.milliseconds(since: run.now)
            waits.append(wait)
            run.pass(wait - 1)
            #expect(run.sent() == [])
            run.pass(1)
            #expect(run.sent() == [batch(number + 1, after: 0)])
        }
        // From 1,000 ms on: to 1,010, and to multiples of 20, 40, 80 and 160.
        #expect(waits == [10, 10, 20, 80, 160, 160, 160])
        #expect(run.reported() == ["caught up 5 0"])
        run.record(8, 1)
        run.end(8, status: 204)
        #expect(run.machine.nextTick.milliseconds(since: run.now) == 40)
        // It was not behind: nothing new to report.
        #expect(run.reported() == ["followed 5 1 [1]"])
    }

    @Test("a question without an answer is repeated after a second; the failure is reported once")
    func timeouts() {
        let run = following()
        run.record(1, 1, behind: 1)
        run.pass(999)
        run.record(1, 2, behind: 1)
        run.pass(999)
        #expect(run.sent() == [] && run.reported() == ["followed 5 1 [1]", "followed 5 2 [2]"])
        run.pass(1)
        #expect(run.sent() == [batch(2, after: 2)])
        run.record(1, 3)
        run.pass(1_000)
        #expect(run.sent() == [batch(3, after: 2)])
        #expect(run.reported() == ["follow failed 5: no answer in time"])
        run.record(3, 3)
        run.end(3, status: 204)
        run.pass(10)
        run.pass(1_000)
        #expect(
            run.reported() == ["followed 5 3 [3]", "caught up 5 3", "follow failed 5: no answer in time"])
    }

    @Test("a gap is checked with the leader: a record lost on the way is not skipped, a removed one ends it")
    func gaps() {
        let run = following()
        run.record(1, 1, behind: 2)
        run.record(1, 3, behind: 1)
        let request = "{\"seq\":2,\"next_by_subj\":\"ccs.5\"}"
        #expect(run.sent() == ["$JS.API.STREAM.MSG.GET.CCS_5 _INBOX.x.2 \(request)"])
        run.record(1, 4)
        run.answer(2, "{\"message\":{\"seq\":2,\"data\":\"Ag==\"}}")
        #expect(run.reported() == ["followed 5 1 [1]", "followed 5 2 [2]"])
        #expect(run.sent() == [batch(3, after: 2)])
        run.record(3, 9)
        _ = run.sent()
        run.answer(4, "{\"message\":{\"seq\":8,\"data\":\"Ag==\"}}")
        #expect(run.reported() == ["follow failed 5: the record was removed; the stream goes on at 8"])
        run.pass(10_000)
        #expect(run.sent() == [] && run.machine.followers.isEmpty && run.machine.requests.count == 0)
    }

    @Test("a leader that does not confirm a gap is asked again later")
    func staleLeader() {
        let run = following()
        run.record(1, 3)
        run.answer(2, "{\"error\":{\"code\":404,\"err_code\":10037,\"description\":\"no message found\"}}")
        run.pass(10)
        #expect(run.sent().last == batch(3, after: 0))
        run.record(3, 3)
        run.pass(Limits.JetStream.readMilliseconds)
        run.pass(20)
        #expect(run.sent().last == batch(5, after: 0))
        #expect(run.reported() == ["follow failed 5: no answer in time"])
    }

    @Test("old records are not reported again, and unreadable ones are a failure")
    func oldRecords() {
        let run = following(5)
        run.record(1, 4)
        run.record(1, 5)
        run.record(1, 6)
        run.record(1, 6)
        #expect(run.reported() == ["followed 5 6 [6]"] && run.sent() == [])
        run.answer(1, "no header")
        #expect(run.reported() == ["follow failed 5: unreadable answer"])
        run.pass(10)
        #expect(run.sent() == [batch(2, after: 6)])
    }

    @Test("without a replica that answers, the question is repeated slowly")
    func noResponder() {
        let run = following()
        // The first moment of the grid after 1,000 ms is 1,120.
        for (number, wait) in [(1, 120), (2, 160), (3, 160)] as [(Int, Int64)] {
            run.end(number, status: 503)
            #expect(run.machine.nextTick.milliseconds(since: run.now) == wait)
            run.pass(wait)
        }
        run.end(4, status: 408)
        #expect(run.reported() == ["follow failed 5: no server answers for the stream"])
        #expect(run.sent().count == 3)
    }

    @Test("a follower reports again that it has caught up, after a failure in between")
    func caughtUpAgain() {
        let run = following()
        run.end(1, status: 404)
        #expect(run.reported() == ["caught up 5 0"])
        run.pass(10)
        run.end(2, status: 503)
        #expect(run.reported() == ["follow failed 5: no server answers for the stream"])
        run.pass(160)
        run.end(3, status: 404)
        #expect(run.reported() == ["caught up 5 0"])
    }

    @Test("a follower goes on after a lost connection where it was")
    func reconnects() {
        let run = following()
        run.record(1, 1, behind: 5)
        run.disconnect()
        run.pass(10_000)
        #expect(run.sent() == [])
        run.record(1, 2)
        run.connect()
        #expect(run.sent() == ["SUB _INBOX.x.* 1", batch(2, after: 1)])
        #expect(
            run.reported() == ["followed 5 1 [1]", "disconnected did not answer two pings", "connected s"])
        // One that begins without a connection waits for it.
        run.disconnect()
        run.machine.follow(6, after: LogPosition(2), now: run.now)
        run.connect()
        #expect(run.sent().count == 3)
    }

    @Test("a paused follower gets the rest of its batch and no more; one that has stopped gets nothing")
    func pauses() {
        let run = following()
        run.machine.pauseFollowing(5)
        run.record(1, 1, behind: 9)
        run.end(1, status: 204, behind: 9)
        run.pass(10_000)
        #expect(run.reported() == ["followed 5 1 [1]"] && run.sent() == [])
        run.machine.resumeFollowing(5, now: run.now)
        #expect(run.sent() == [batch(2, after: 1)])
        run.record(2, 2)
        run.end(2, status: 204)
        run.machine.pauseFollowing(5)
        run.pass(10_000)
        run.machine.resumeFollowing(5, now: run.now)
        run.machine.resumeFollowing(5, now: run.now)
        #expect(run.sent() == [batch(3, after: 2)])
        _ = run.reported()
        run.machine.stopFollowing(5)
        run.record(3, 3)
        run.pass(10_000)
        #expect(run.reported() == [] && run.sent() == [] && run.machine.requests.count == 0)
        run.machine.follow(5, after: LogPosition(7), now: run.now)
        #expect(run.sent() == [batch(4, after: 7)])
        run.machine.follow(5, after: LogPosition(8), now: run.now)
        #expect(run.machine.requests.count == 1)
    }
}
