import Basics
import Testing

@testable import TestBench

/// Answers that fail, or come late, twice, for others, or never.
@Suite("Answers that virtual devices wait for")
struct AnswerFormTests {
    private static func at(_ seconds: Int) -> Instant { Instant(nanoseconds: 0).advanced(seconds: seconds) }

    @Test("a heartbeat is answered once, by its own answer, or is overdue; the next ones have theirs")
    func heartbeats() {
        var trips = RoundTrips()
        var log: [String] = []
        func begin(_ name: String, until seconds: Int = 10) {
            trips.begin(until: Self.at(seconds)) { log.append("\(name) \($0)") }
        }
        func answer() { for completed in trips.answer() { completed(true) } }
        func overdue(_ seconds: Int) { for completed in trips.overdue(Self.at(seconds)) { completed(false) } }
        func taken() -> [String] {
            defer { log = [] }
            return log
        }
        // For a stranger, and twice.
        answer()
        begin("a")
        answer()
        answer()
        #expect(taken() == ["a true"])
        begin("b")
        begin("c")
        #expect(taken() == [], "the answers before were not theirs")
        answer()
        #expect(taken() == ["b true"])
        // Never, and late: the answer of c is not that of d.
        overdue(10)
        overdue(11)
        #expect(taken() == ["c false"])
        begin("d", until: 20)
        answer()
        #expect(taken() == [])
        answer()
        #expect(taken() == ["d true"])
        begin("e", until: 30)
        for completed in trips.end() { completed(false) }
        for completed in trips.end() { completed(false) }
        overdue(99)
        answer()
        #expect(taken() == ["e false"])
        begin("f", until: 120)
        answer()
        #expect(taken() == ["f true"], "a new connection begins anew")
    }

    @Test(
        "a request that waits for a login is answered once: by the login, by the next request, or by its time"
    )
    func logins() {
        var login = PendingLogin()
        var log: [String] = []
        func wait(_ name: String, until seconds: Int) {
            login.wait(until: Self.at(seconds)) { log.append(name) }
        }
        login.end()
        wait("a", until: 10)
        wait("b", until: 10)
        #expect(log == ["a"])
        login.endIfOverdue(Self.at(9))
        #expect(log == ["a"])
        login.endIfOverdue(Self.at(10))
        login.endIfOverdue(Self.at(11))
        login.end()
        #expect(log == ["a", "b"])
    }
}
