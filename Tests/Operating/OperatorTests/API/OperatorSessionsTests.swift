import Basics
import Operator
import Testing

/// Sessions of browsers end in time, and their number is limited.
@Suite("Sessions of operators") struct OperatorSessionsTests {
    private let start = Instant(nanoseconds: 1_000_000_000)

    private func after(_ seconds: Int) -> Instant { start.advanced(seconds: seconds) }

    @Test("a session ends without requests, and after its lifetime with them")
    func ends() {
        var sessions = OperatorSessions()
        sessions.open([1], name: "alice", token: [9], now: start)
        let idle = Limits.OperatorAPI.sessionIdleSeconds
        #expect(sessions.use([1], now: after(idle - 1))?.name == "alice")
        #expect(sessions.use([1], now: after(2 * idle - 2))?.token == [9])
        #expect(sessions.use([1], now: after(3 * idle)) == nil)
        #expect(sessions.use([1], now: after(idle)) == nil, "an ended session does not return")
        sessions.open([2], name: "alice", token: [9], now: start)
        var now = 0
        while now + idle - 1 < Limits.OperatorAPI.sessionSeconds {
            now += idle - 1
            #expect(sessions.use([2], now: after(now)) != nil)
        }
        #expect(sessions.use([2], now: after(Limits.OperatorAPI.sessionSeconds)) == nil)
    }

    @Test("a session is ended by itself, or with all of its operator; an unknown one is none")
    func removal() {
        var sessions = OperatorSessions()
        for number in 1...3 {
            sessions.open([UInt8(number)], name: number == 3 ? "bob" : "alice", token: [], now: start)
        }
        sessions.end([1])
        #expect(sessions.use([1], now: start) == nil && sessions.use([7], now: start) == nil)
        #expect(sessions.count(of: "alice", now: start) == 1)
        sessions.endAll(of: "alice")
        #expect(sessions.use([2], now: start) == nil && sessions.use([3], now: start)?.name == "bob")
    }

    @Test("at the limit of an operator the session that was not used for the longest time ends")
    func perOperator() {
        var sessions = OperatorSessions()
        sessions.open([200], name: "bob", token: [], now: start)
        for number in 0..<Limits.OperatorAPI.sessionsPerOperator {
            sessions.open([UInt8(number)], name: "alice", token: [], now: after(number))
        }
        #expect(sessions.use([0], now: after(100)) != nil)
        sessions.open([100], name: "alice", token: [], now: after(101))
        #expect(sessions.use([1], now: after(101)) == nil && sessions.use([0], now: after(101)) != nil)
        #expect(sessions.use([200], now: after(101)) != nil, "other operators keep theirs")
        #expect(sessions.count(of: "alice", now: after(101)) == Limits.OperatorAPI.sessionsPerOperator)
    }

    @Test("there are never more sessions than the limit")
    func all() {
        var sessions = OperatorSessions()
        for number in 0..<(Limits.OperatorAPI.sessions + 50) {
            sessions.open(
                [UInt8(number / 256), UInt8(number % 256)], name: "operator-\(number)", token: [],
                now: after(number))
            #expect(sessions.count <= Limits.OperatorAPI.sessions)
        }
        #expect(sessions.use([0, 0], now: after(400)) == nil)
    }
}
