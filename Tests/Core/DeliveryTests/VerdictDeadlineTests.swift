import Basics
import Testing

@testable import Delivery

/// The list of submissions that wait for Apple's verdict.
@Suite("verdict deadlines") struct VerdictDeadlineTests {
    private static func name(_ device: Int) -> RegistrationName {
        RegistrationName(device: DeviceID(UInt64(device)), number: RegistrationNumber(1))
    }

    private static func at(_ second: Int) -> Instant { Instant(nanoseconds: 0).advanced(seconds: second) }

    /// Adds submission `number`, which is due in that second.
    private static func add(
        _ number: Int, to deadlines: inout VerdictDeadlines
    ) -> VerdictDeadlines.Handle {
        deadlines.add(name(number), SequenceNumber(UInt64(number)), due: at(number))
    }

    /// Removes what is due by a second. Returns the numbers.
    private static func overdue(_ second: Int, _ deadlines: inout VerdictDeadlines) -> [Int] {
        var numbers: [Int] = []
        while let found = deadlines.popOverdue(at(second)) {
            #expect(found.name.device.number == found.sequence.number)
            numbers.append(Int(found.sequence.number))
        }
        return numbers
    }

    @Test("submissions are overdue in the order of their deadlines, and not before")
    func order() {
        var deadlines = VerdictDeadlines()
        for number in 1...3 { _ = Self.add(number, to: &deadlines) }
        #expect(Self.overdue(0, &deadlines).isEmpty && deadlines.count == 3)
        #expect(Self.overdue(2, &deadlines) == [1, 2] && deadlines.count == 1)
        #expect(Self.overdue(9, &deadlines) == [3] && deadlines.count == 0)
    }

    @Test("a removed submission is never overdue, wherever it stood", arguments: 1...4)
    func removal(number: Int) {
        var deadlines = VerdictDeadlines()
        let handles = (1...4).map { Self.add($0, to: &deadlines) }
        deadlines.remove(handles[number - 1])
        #expect(deadlines.count == 3)
        #expect(Self.overdue(9, &deadlines) == (1...4).filter { $0 != number })
    }

    @Test("a second removal changes nothing, even if the entry is used again")
    func again() {
        var deadlines = VerdictDeadlines()
        let first = Self.add(1, to: &deadlines)
        deadlines.remove(first)
        _ = Self.add(2, to: &deadlines)
        deadlines.remove(first)
        #expect(deadlines.count == 1, "canary: the entry of the first is used by the second")
        #expect(Self.overdue(9, &deadlines) == [2])
    }

    @Test("any order of additions and removals leaves those that were not removed")
    func random() {
        var random = SeededRandom(seed: 5)
        var deadlines = VerdictDeadlines()
        var waiting: [(number: Int, handle: VerdictDeadlines.Handle)] = []
        for number in 1...2_000 {
            waiting.append((number, Self.add(number, to: &deadlines)))
            while waiting.count > Int.random(in: 1...20, using: &random) {
                let at = Int.random(in: waiting.indices, using: &random)
                deadlines.remove(waiting.remove(at: at).handle)
            }
            #expect(deadlines.count == waiting.count)
        }
        #expect(Self.overdue(2_000, &deadlines) == waiting.map(\.number))
    }

    @Test("a submission stops waiting with its answer, whichever that is")
    func answered() {
        let bench = Harness.withApple()
        func waiting() -> Int { bench.partitions[0].core.devices.gateway.verdicts.count }
        let outcomes: [GatewayOutcome] = [
            .accepted(.production), .refused(APNsRefusal(.invalid)),
            .later(milliseconds: 1, APNsRefusal(.unavailable)),
        ]
        for (at, outcome) in outcomes.enumerated() {
            bench.submitApple(UInt32(at + 1), lifetime: 0)
            bench.settle()
            #expect(waiting() == 1, "canary: it waits before \(outcome)")
            bench.answer(outcome)
            #expect(waiting() == 0, "\(outcome)")
        }
    }
}
