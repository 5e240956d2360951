import Basics
import ClusterLog
import Testing

/// An owner under test, with a clock and the effects of the last event. It answers when the owner verifies its last record.
struct OwnerDesk {
    static let log = LogReaderTests.log
    static let claim = Claim(77)

    var owner: LogOwner
    var effects: [OwnerEffect] = []
    private(set) var milliseconds: Int64 = 1_000
    /// What the owner has confirmed, by position.
    private var records: [LogPosition: LogRecord] = [:]
    /// Whether the owner's questions for them are answered and left out of the effects.
    var isVerified = true

    init(after reader: LogReader = LogReader()) {
        owner = LogOwner(
            claim: Self.claim, after: reader, in: Self.log, now: Self.time(1_000), effects: &effects)
    }

    private static func time(_ milliseconds: Int64) -> Now {
        Now(monotonic: Instant(nanoseconds: milliseconds * 1_000_000), wall: 1_700_000_000_000)
    }

    var now: Now { Self.time(milliseconds) }

    /// Handles an event. Returns its effects.
    @discardableResult
    mutating func handle(_ event: OwnerEvent) -> [OwnerEffect] {
        effects = []
        let frames = owner.unconfirmedFrames
        if case .record(let record, let position) = event { records[position] = record }
        owner.handle(event, now: now, effects: &effects)
        for effect in effects {
            let confirmed: (claim: Claim, number: UInt64, position: LogPosition?) =
                switch effect {
                case .confirmed(let name, let position): (name.claim, name.number, position)
                case .took: (Self.claim, 1, owner.mark)
                default: (Self.claim, 0, nil)
                }
            guard let position = confirmed.position else { continue }
            records[position] = frames.first { $0.0.number == confirmed.number }.map { .frame($0.0) }
        }
        guard isVerified, case .read(let position) = effects.last, position <= owner.reader.position,
            let record = records[position]
        else { return effects }
        let before = effects.dropLast()
        return before + handle(.record(record, at: position))
    }

    /// Lets time pass and ticks.
    @discardableResult
    mutating func wait(_ span: Int64) -> [OwnerEffect] {
        milliseconds += span
        return handle(.tick)
    }

    mutating func make(_ content: UInt8 = 1) -> UInt64 {
        effects = []
        let entries = [content]
        return owner.make(entries.raw, now: now, effects: &effects).number
    }

    /// The record of an unconfirmed frame.
    func record(_ number: UInt64) -> LogRecord {
        guard let frame = owner.frame(FrameName(claim: Self.claim, number: number)) else { return .foreign }
        return FrameHeader.read(bytes: frame, in: Self.log)
    }

    /// An owner whose mark is at position 1.
    static var owning: OwnerDesk {
        var desk = OwnerDesk()
        desk.handle(.stored(FrameName(claim: claim, number: 1), at: LogPosition(1)))
        return desk
    }
}

@Suite("the rule of the owner")
struct LogOwnerTests {
    private static func frame(_ number: UInt64) -> FrameName {
        FrameName(claim: OwnerDesk.claim, number: number)
    }
    private func at(_ number: UInt64) -> LogPosition { LogPosition(number) }
    private var rival: Term { Term(Epoch(2), Claim(5)) }

    @Test("a claim appends its mark without a condition, in the epoch after the last one")
    func claims() {
        let reader = LogReader(term: Term(Epoch(4), Claim(1)), number: 9, position: at(30))
        let desk = OwnerDesk(after: reader)
        #expect(desk.effects == [.append(Self.frame(1))])
        #expect(desk.owner.term == Term(Epoch(5), OwnerDesk.claim) && desk.owner.state == .claiming)
        #expect(!desk.owner.canMake)
    }

    @Test("the partition is owned once everything up to the mark is applied")
    func takes() {
        let last = Term(Epoch(4), Claim(1))
        var desk = OwnerDesk(after: LogReader(term: last, number: 9, position: at(30)))
        #expect(desk.handle(.stored(Self.frame(1), at: at(33))) == [.read(at(31))])
        #expect(
            desk.handle(.record(LogReaderTests.frame(last, 10), at: at(31))) == [
                .apply(at(31)), .read(at(32)),
            ])
        #expect(!desk.owner.canMake)
        // What is at 32 is void. The mark is known to be at 33.
        let taken = desk.handle(.record(.foreign, at: at(32)))
        #expect(taken == [.took(desk.owner.term)])
        #expect(desk.owner.state == .owning && desk.owner.canMake && desk.owner.voids == 1)
        #expect(desk.owner.reader.position == at(33))
    }

    @Test("the first mark of an epoch takes the partition, also from a claim whose own mark is stored")
    func loses() {
        var desk = OwnerDesk()
        #expect(desk.handle(.stored(Self.frame(1), at: at(2))) == [.read(at(1))])
        let other = Term(Epoch(1), Claim(5))
        #expect(desk.handle(.record(LogReaderTests.frame(other, 1), at: at(1))) == [.lost(to: other)])
        #expect(desk.owner.state == .lost(to: other) && desk.owner.reader.term == other)
        #expect(desk.handle(.stored(Self.frame(1), at: at(2))) == [] && desk.owner.nextTick == .distantFuture)
        #expect(desk.handle(.disconnected) == [] && desk.handle(.connected) == [])
    }

    @Test("a mark that is read before its answer takes the partition")
    func readMark() {
        var desk = OwnerDesk()
        #expect(desk.wait(500) == [.read(at(1))])
        let mark = desk.record(1)
        #expect(desk.handle(.record(mark, at: at(1))) == [.took(desk.owner.term)])
        #expect(desk.handle(.stored(Self.frame(1), at: at(1))) == [])
    }

    @Test("frames are confirmed in order, several at a time, when their positions follow each other")
    func confirms() {
        var desk = OwnerDesk.owning
        #expect([desk.make(), desk.make(), desk.make()] == [2, 3, 4])
        #expect(desk.handle(.stored(Self.frame(3), at: at(3))) == [])
        #expect(
            desk.handle(.stored(Self.frame(2), at: at(2)))
                == [.confirmed(Self.frame(2), at: at(2)), .confirmed(Self.frame(3), at: at(3))])
        #expect(
            desk.owner.unconfirmed == 1 && desk.owner.frame(Self.frame(3)) == nil
                && desk.owner.frame(Self.frame(4)) != nil)
    }

    @Test("a position that does not follow is a doubt: what is between decides")
    func doubts() {
        var desk = OwnerDesk.owning
        _ = desk.make()
        #expect(desk.handle(.stored(Self.frame(2), at: at(3))) == [.read(at(2))])
        #expect(!desk.owner.canMake)
        #expect(desk.handle(.record(.foreign, at: at(2))) == [.confirmed(Self.frame(2), at: at(3))])
        #expect(desk.owner.canMake)
        _ = desk.make()
        #expect(desk.handle(.stored(Self.frame(3), at: at(5))) == [.read(at(4))])
        #expect(desk.handle(.record(LogReaderTests.frame(rival, 1), at: at(4))) == [.lost(to: rival)])
        #expect(desk.owner.unconfirmed == 0)
    }

    @Test("a refused frame, and one without an answer, are looked for")
    func unanswered() {
        var desk = OwnerDesk.owning
        _ = desk.make()
        #expect(desk.wait(499) == [] && desk.wait(1) == [.read(at(2))])
        let frame = desk.record(2)
        #expect(desk.handle(.record(frame, at: at(2))) == [.confirmed(Self.frame(2), at: at(2))])
        _ = desk.make()
        #expect(desk.handle(.refused(Self.frame(2))) == [])
        #expect(desk.handle(.refused(Self.frame(3))) == [.read(at(3))])
    }

    @Test(
        "where the log ends, all unconfirmed frames are appended again with the same bytes; the waits double")
    func repeats() {
        var desk = OwnerDesk.owning
        _ = (desk.make(1), desk.make(2))
        let bytes = [desk.owner.frame(Self.frame(2)), desk.owner.frame(Self.frame(3))]
        var waits: [Int64] = []
        for _ in 0..<5 {
            let wait = desk.owner.nextTick.milliseconds(since: desk.now.monotonic)
            waits.append(wait)
            #expect(desk.wait(wait) == [.read(at(2))])
            #expect(desk.handle(.end(at(1))) == [.append(Self.frame(2)), .append(Self.frame(3))])
        }
        #expect(waits == [500, 1_000, 2_000, 4_000, 4_000])
        #expect([desk.owner.frame(Self.frame(2)), desk.owner.frame(Self.frame(3))] == bytes)
        desk.handle(.stored(Self.frame(2), at: at(2)))
        #expect(desk.owner.nextTick.milliseconds(since: desk.now.monotonic) == 500)
    }

    @Test("an end that misses what is stored is out of date: nothing is appended")
    func stale() {
        var desk = OwnerDesk.owning
        _ = (desk.make(), desk.make())
        #expect(desk.handle(.refused(Self.frame(2))) == [.read(at(2))])
        desk.handle(.stored(Self.frame(3), at: at(3)))
        #expect(desk.handle(.end(at(1))) == [])
        #expect(desk.wait(99) == [] && desk.wait(1) == [.read(at(2))])
        #expect(desk.handle(.readFailed) == [] && desk.wait(100) == [.read(at(2))])
        // No answer at all.
        #expect(desk.wait(500) == [.read(at(2))])
        #expect(desk.handle(.end(at(0))) == [] && desk.wait(100) == [.read(at(2))])
        // An end before what was read, without any answer.
        var other = OwnerDesk.owning
        _ = other.make()
        #expect(other.wait(500) == [.read(at(2))] && other.handle(.end(at(0))) == [])
        #expect(other.wait(100) == [.read(at(2))])
    }

    @Test("answers to the frames of an earlier claim mean nothing")
    func otherClaim() {
        var desk = OwnerDesk.owning
        _ = desk.make()
        let other = FrameName(claim: Claim(1), number: 2)
        #expect(desk.handle(.stored(other, at: at(2))) == [] && desk.handle(.refused(other)) == [])
        #expect(desk.owner.frame(other) == nil)
    }

    @Test("copies that appear late are void and do no harm")
    func late() {
        var desk = OwnerDesk.owning
        _ = desk.make()
        let frame = desk.record(2)
        desk.wait(500)
        desk.handle(.end(at(1)))
        #expect(desk.handle(.stored(Self.frame(2), at: at(2))) == [.confirmed(Self.frame(2), at: at(2))])
        #expect(desk.handle(.stored(Self.frame(2), at: at(3))) == [])
        _ = desk.make()
        #expect(desk.handle(.stored(Self.frame(3), at: at(4))) == [.read(at(3))])
        #expect(desk.handle(.record(frame, at: at(3))) == [.confirmed(Self.frame(3), at: at(4))])
    }

    @Test("a copy that was read as void is not taken for the one that counts when its answer arrives")
    func voidCopy() {
        var desk = OwnerDesk.owning
        _ = (desk.make(), desk.make())
        #expect(desk.handle(.refused(Self.frame(2))) == [.read(at(2))])
        // The second frame was stored without the first.
        let second = desk.record(3)
        #expect(desk.handle(.record(second, at: at(2))) == [.read(at(3))])
        #expect(desk.handle(.end(at(2))) == [.append(Self.frame(2)), .append(Self.frame(3))])
        #expect(desk.handle(.stored(Self.frame(3), at: at(2))) == [])
        #expect(desk.handle(.stored(Self.frame(2), at: at(3))) == [.confirmed(Self.frame(2), at: at(3))])
        #expect(desk.handle(.stored(Self.frame(3), at: at(4))) == [.confirmed(Self.frame(3), at: at(4))])
    }

    @Test("without a connection nothing is asked for; with one again, the log is read")
    func connection() {
        var desk = OwnerDesk.owning
        _ = desk.make()
        #expect(desk.handle(.disconnected) == [] && desk.wait(100_000) == [])
        #expect(!desk.owner.canMake && desk.owner.nextTick == .distantFuture)
        #expect(desk.handle(.connected) == [.read(at(2))])
        #expect(desk.handle(.end(at(1))) == [.append(Self.frame(2))])
    }

    @Test("a log that stores a frame at a position that was taken has lost records")
    func shortened() {
        let reader = LogReader(term: Term(Epoch(4), Claim(1)), number: 9, position: at(30))
        var desk = OwnerDesk(after: reader)
        #expect(desk.handle(.stored(Self.frame(1), at: at(29))) == [.shortened(to: at(29))])
        #expect(desk.owner.state == .shortened && desk.wait(10_000) == [])
    }

    @Test("in doubt, an owner first looks whether the log still has its last record")
    func verifies() {
        var desk = OwnerDesk.owning
        desk.isVerified = false
        let mark = LogRecord.frame(
            FrameHeader(term: desk.owner.term, number: 1, time: desk.now.wall, previous: 0))
        _ = desk.make()
        #expect(desk.wait(500) == [.read(at(1))] && !desk.owner.canMake)
        // An answer to an earlier question, one that is out of date, and none.
        #expect(desk.handle(.end(at(1))) == [] && desk.handle(.record(.foreign, at: at(2))) == [])
        #expect(desk.handle(.end(at(0))) == [] && desk.wait(100) == [.read(at(1))])
        #expect(desk.wait(500) == [.read(at(1))])
        var purged = desk
        #expect(desk.handle(.record(mark, at: at(1))) == [.read(at(2))])
        #expect(desk.handle(.end(at(1))) == [.append(Self.frame(2))])
        #expect(purged.handle(.removed(first: at(2))) == [.read(at(2))])
    }

    @Test("an owner whose last record has become another one ends, since the log has lost it")
    func replaced() {
        var desk = OwnerDesk.owning
        desk.isVerified = false
        let frame = (desk.make(), desk.record(2)).1
        #expect(desk.wait(500) == [.read(at(1))])
        #expect(desk.handle(.record(frame, at: at(1))) == [.shortened(to: at(1))])
        #expect(desk.owner.unconfirmedFrames.map(\.0.number) == [2])
    }

    @Test("a claim does not take the partition where the log has lost what others have confirmed")
    func missing() {
        let last = Term(Epoch(4), Claim(1))
        var desk = OwnerDesk(after: LogReader(term: last, number: 9, position: at(30)))
        desk.handle(.stored(Self.frame(1), at: at(32)))
        let later = FrameHeader(term: last, number: 12, time: 1, confirmed: 10, previous: 3)
        #expect(desk.handle(.record(.frame(later), at: at(31))) == [.missing(before: at(32))])
        #expect(desk.owner.state == .missing && desk.owner.unconfirmed == 0 && desk.wait(10_000) == [])
    }

    @Test("a record that must not be skipped, or a changed frame, stops the owner")
    func halts() {
        for record in [LogRecord.damaged, .newer(version: 9)] {
            var desk = OwnerDesk.owning
            desk.wait(1_000)
            let problem: UnreadableRecord = record == .damaged ? .damaged : .newer(version: 9)
            #expect(desk.handle(.record(record, at: at(2))) == [.halted(.unreadable(problem, at: at(2)))])
        }
        var desk = OwnerDesk.owning
        _ = desk.make()
        desk.wait(500)
        let changed = LogRecord.frame(FrameHeader(term: desk.owner.term, number: 2, time: 0))
        #expect(desk.handle(.record(changed, at: at(2))) == [.halted(.inconsistent(at: at(2)))])
    }

    @Test("sixteen frames are unconfirmed at most")
    func bounded() {
        var desk = OwnerDesk.owning
        var made = 0
        while desk.owner.canMake {
            _ = desk.make()
            made += 1
        }
        #expect(made == Limits.ClusterLog.unconfirmedFrames)
    }
}
