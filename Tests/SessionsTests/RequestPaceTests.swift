import Basics
import Testing

@testable import Sessions

/// How long a request may take, by itself.
@Suite struct RequestPaceTests {
    private let start = Instant(nanoseconds: 1_000_000_000)
    private let rate = Limits.HTTP.bodyBytesPerSecond

    private func after(_ seconds: Int) -> Instant { start.advanced(seconds: seconds) }

    @Test("Bytes of the body that came with its first ones earn no time; each that comes later does")
    func firstBytes() {
        var pace = RequestPace(now: start)
        #expect(pace.late == .distantFuture, "no body has begun")
        pace.note(body: 10 * rate, now: start)
        #expect(pace.late == after(Limits.HTTP.bodyGraceSeconds))
        pace.note(body: 11 * rate, now: after(1))
        #expect(pace.late == after(Limits.HTTP.bodyGraceSeconds + 1))
        #expect(pace.verdict(now: pace.late).reason == .slowRequest)
        #expect(pace.verdict(now: pace.whole).reason == .requestDeadline)
    }

    @Test("So it is for a body that goes on after it had to wait")
    func goesOn() {
        var pace = RequestPace(now: start, already: 10 * rate)
        pace.note(body: 10 * rate, now: start)
        #expect(pace.late == after(Limits.HTTP.bodyGraceSeconds))
        pace.note(body: 12 * rate, now: after(1))
        #expect(pace.late == after(Limits.HTTP.bodyGraceSeconds + 2))
        #expect(pace.deadline == min(pace.whole, pace.late))
    }
}
