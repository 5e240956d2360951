import Basics
import Testing

@testable import Sessions

/// The deadlines of a request, in isolation.
@Suite struct RequestPaceTests {
    private let start = Instant(nanoseconds: 1_000_000_000)
    private let rate = Limits.HTTP.bodyBytesPerSecond

    private func after(_ seconds: Int) -> Instant { start.advanced(seconds: seconds) }

    @Test("Bytes of the body that arrive with its first ones earn no time, and each later one does")
    func firstBytes() {
        var pace = RequestPace(now: start)
        #expect(pace.bodyDeadline == .distantFuture, "no body has started")
        pace.record(body: 10 * rate, now: start)
        #expect(pace.bodyDeadline == after(Limits.HTTP.bodyGraceSeconds))
        pace.record(body: 11 * rate, now: after(1))
        #expect(pace.bodyDeadline == after(Limits.HTTP.bodyGraceSeconds + 1))
        #expect(pace.verdict(now: pace.bodyDeadline).reason == .slowRequest)
        #expect(pace.verdict(now: pace.requestDeadline).reason == .requestDeadline)
    }

    @Test("The same holds for a body whose reading resumes")
    func goesOn() {
        var pace = RequestPace(now: start, already: 10 * rate)
        pace.record(body: 10 * rate, now: start)
        #expect(pace.bodyDeadline == after(Limits.HTTP.bodyGraceSeconds))
        pace.record(body: 12 * rate, now: after(1))
        #expect(pace.bodyDeadline == after(Limits.HTTP.bodyGraceSeconds + 2))
        #expect(pace.deadline == min(pace.requestDeadline, pace.bodyDeadline))
    }
}
