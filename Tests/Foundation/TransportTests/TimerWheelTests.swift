import Basics
import Testing

@testable import Transport

@Suite struct TimerWheelTests {
    private func instant(_ milliseconds: Int64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }

    /// Runs random operations on a wheel and on a plain table, and returns the differences.
    private func compare(seed: UInt64, distort: (Instant) -> Instant = { $0 }) -> [String] {
        var random = SeededRandom(seed: seed)
        var clock = Int64.random(in: 0...1_000_000_000_000, using: &random)
        var wheel = TimerWheel<Int>(start: instant(clock))
        var model: [Int: (due: Int64, id: TimerID)] = [:]
        var differences: [String] = []
        for number in 0..<3_000 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<5:
                let reach = Int64(1) << Int64.random(in: 0...38, using: &random)
                let due = clock + Int64.random(in: -5...reach, using: &random)
                let id = wheel.insert(at: distort(instant(due)), number)
                model[number] = (due, id)
            case 5, 6:
                guard let (key, entry) = model.randomElement(using: &random) else { continue }
                if wheel.remove(entry.id) != key { differences.append("remove of \(key)") }
                if wheel.remove(entry.id) != nil { differences.append("second remove of \(key)") }
                model[key] = nil
            default:
                let step = Int64(1) << Int64.random(in: 0...36, using: &random)
                clock += Int64.random(in: 0...step, using: &random)
                if let first = model.values.map(\.due).min(), let look = wheel.nextAdvance,
                    look > instant(max(first, 0)),
                    first > clock
                {
                    differences.append("advances too late")
                }
                var due: [Int] = []
                wheel.advance(to: instant(clock), due: &due)
                let expected = model.filter { $0.value.due <= clock }
                if Set(due) != Set(expected.keys) || due.count != expected.count {
                    differences.append("due at \(clock): \(due.count) instead of \(expected.count)")
                }
                for key in due { model[key] = nil }
            }
            if wheel.count != model.count { differences.append("count") }
            if (wheel.nextAdvance == nil) != model.isEmpty { differences.append("nextAdvance") }
        }
        return differences
    }

    @Test(
        "a timer wheel fires the same timers as a plain table when operations are random",
        arguments: 1...60 as ClosedRange<UInt64>
    )
    func model(seed: UInt64) {
        #expect(compare(seed: seed).isEmpty)
    }

    @Test("a cancelled timer cannot cancel the one that has its entry now")
    func reusedPlace() {
        var wheel = TimerWheel<Int>(start: instant(0))
        let first = wheel.insert(at: instant(10), 1)
        #expect(wheel.remove(first) == 1)
        let second = wheel.insert(at: instant(10), 2)
        #expect(wheel.remove(first) == nil)
        var due: [Int] = []
        wheel.advance(to: instant(10), due: &due)
        #expect(due == [2])
        _ = wheel.insert(at: instant(20), 3)
        #expect(wheel.remove(second) == nil && wheel.count == 1)
    }

    @Test("canary: the comparison detects a wheel that fires two milliseconds late")
    func canary() {
        let differences = compare(seed: 1) { Instant(nanoseconds: $0.nanoseconds + 2_000_000) }
        #expect(!differences.isEmpty)
    }

    @Test("a timer never fires early, and at most a millisecond late")
    func precision() {
        var wheel = TimerWheel<Int>(start: Instant(nanoseconds: 0))
        _ = wheel.insert(at: Instant(nanoseconds: 5_000_001), 1)
        var due: [Int] = []
        wheel.advance(to: Instant(nanoseconds: 5_999_999), due: &due)
        #expect(due.isEmpty)
        wheel.advance(to: Instant(nanoseconds: 6_000_000), due: &due)
        #expect(due == [1])
    }

    @Test("a far timer is reached in a few advances when sleeping until nextAdvance")
    func looks() {
        var wheel = TimerWheel<Int>(start: Instant(nanoseconds: 0))
        _ = wheel.insert(at: instant(28 * 86_400_000 + 12_345), 1)
        var due: [Int] = []
        var looks = 0
        while due.isEmpty, let look = wheel.nextAdvance {
            wheel.advance(to: look, due: &due)
            looks += 1
        }
        #expect(looks <= 6)
        #expect(due == [1])
    }

    @Test("timers of the reactor fire unless they are cancelled")
    func reactor() throws {
        let reactor = try Reactor(index: 0)
        defer { reactor.end() }
        var fired: [Int] = []
        let begin = reactor.now.monotonic
        reactor.schedule(at: begin.advanced(milliseconds: 20)) { _ in fired.append(2) }
        reactor.schedule(at: begin.advanced(milliseconds: 5)) { _ in fired.append(1) }
        let taken = reactor.schedule(at: begin.advanced(milliseconds: 10)) { _ in fired.append(9) }
        reactor.cancel(taken)
        reactor.schedule(at: .distantFuture) { _ in fired.append(9) }
        #expect(reactor.turns { fired.count == 2 })
        #expect(fired == [1, 2])
    }
}
