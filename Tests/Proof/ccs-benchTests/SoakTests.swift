import Basics
import Testing
import Wire

@testable import ccs_bench

/// The verdict of a soak for given observations.
struct SoakTests {
    /// An hour at 100 messages a second each way in which nothing grows, with the noise of a busy machine.
    private static var good: SoakRecord {
        var record = SoakRecord(rate: 100)
        var random = SeededRandom(seed: 1)
        for at in 1...720 {
            var sample = SoakSample()
            sample.seconds = Double(at) * 5
            // Caches fill up in the first minutes.
            sample.residentKiB = 90_000 + min(at, 100) * 1_000 + Int(random.next() % 8_000)
            sample.down = SoakSample.Counts(sent: at * 500, accepted: at * 500, delivered: at * 500 - 7)
            sample.up = sample.down
            // In every third sample the machine had other work.
            let noise = at % 3 == 0 ? 200_000.0 : Double(random.next() % 500)
            sample.downTimes = SoakSample.Times(
                answerP50: 900, answerP99: 8_000, p50: 1_000 + noise, p99: 9_000 + noise)
            sample.upTimes = sample.downTimes
            record.samples.append(sample)
        }
        let counts = SoakSample.Counts(sent: 360_000, accepted: 360_000, delivered: 360_000, repeated: 3)
        record.down = SoakRecord.Side(counts: counts, audited: 360_000, auditedDelivered: 360_000)
        record.up = record.down
        record.socketsBefore = 2_059
        record.socketsAfter = 2_059
        record.auditHolds = true
        return record
    }

    @Test("an hour has no fault when nothing grows and the machine has other work")
    func sound() {
        let verdict = SoakVerdict(Self.good)
        #expect(verdict.faults.isEmpty, "\(verdict.faults)")
        #expect(abs(verdict.memorySlope) < 2_000, "the warm-up must be excluded: \(verdict.memorySlope)")
        #expect(verdict.text.contains("the conservation law holds"))
        #expect(
            verdict.json["downstream"]?["twice"]?.integer == 3,
            "repeated messages are reported and are not a fault")
    }

    @Test("Canary: a soak has a fault when one is planted", arguments: SoakPlant.allCases)
    func canary(_ plant: SoakPlant) {
        var record = Self.good
        plant.spoil(&record)
        let faults = SoakVerdict(record).faults
        #expect(faults.count == 1, "\(plant): \(faults)")
    }

    @Test("each fault of a soak has its own text")
    func faults() {
        let spoilt: [(String, (inout SoakRecord) -> Void)] = [
            ("lost downstream", { $0.down.counts.delivered -= 1 }),
            ("lost upstream", { $0.up.counts.delivered -= 1 }),
            ("refused upstream", { $0.up.refused = 1 }), ("not acknowledged", { $0.down.unanswered = 2 }),
            ("do not balance", { $0.auditHolds = false }), ("audit shows", { $0.up.audited -= 1 }),
            ("still stored", { $0.down.auditedPending = 1 }), ("1 sockets more", { $0.socketsAfter += 1 }),
            ("ended: device: idle", { $0.ended = ["device: idle"] }),
            ("the rate was not reached", { $0.samples[719].up.late = 201 }),
            ("no message was accepted", { $0.down = SoakRecord.Side() }), ("too few", { $0.samples = [] }),
        ]
        for (words, spoil) in spoilt {
            var record = Self.good
            spoil(&record)
            let faults = SoakVerdict(record).faults
            #expect(faults.contains { $0.contains(words) }, "\(words): \(faults)")
        }
    }

    @Test(
        "Canary: a leak of one byte for each message at 5,000 a second is detected within the noise of an hour"
    )
    func leak() {
        var record = Self.good
        for at in record.samples.indices { record.samples[at].residentKiB += at * 36_000_000 / 1_024 / 720 }
        #expect(SoakVerdict(record).faults.contains { $0.hasPrefix("memory grows by 3") })
    }

    @Test("memory is a fault in a short run when it grows beyond the store's cache and memtables")
    func short() {
        var record = Self.good
        record.samples = (1...60).map { at in
            var sample = SoakSample()
            sample.seconds = Double(at)
            sample.residentKiB = 90_000 + at * 2_000
            return sample
        }
        #expect(SoakVerdict(record).faults.isEmpty)
        for at in 0..<60 { record.samples[at].residentKiB += at * 1_000 }
        #expect(SoakVerdict(record).faults.count == 1)
    }

    @Test(
        "Canary: a latency is reported by name when it drifts",
        arguments: ["downstream p99", "upstream p50", "upstream p99"])
    func drift(_ name: String) {
        var record = Self.good
        for at in record.samples.indices {
            switch name {
            case "downstream p99": record.samples[at].downTimes.p99 += Double(at) * 200
            case "upstream p50": record.samples[at].upTimes.p50 += Double(at) * 200
            default: record.samples[at].upTimes.p99 += Double(at) * 200
            }
        }
        let faults = SoakVerdict(record).faults
        #expect(faults.count == 1 && faults[0].hasPrefix("\(name) drifts"), "\(faults)")
    }

    @Test(
        "Canary: a planted fault is detected when the machine is slow",
        arguments: SoakPlant.allCases, [0, 3e5, 1e6, 3e7])
    func plants(_ plant: SoakPlant, slow: Double) {
        var record = Self.good
        record.samples = Array(record.samples.prefix(9))
        for at in record.samples.indices {
            record.samples[at].seconds = Double(at + 1)
            // The slowest start.
            record.samples[at].downTimes.p50 += slow / Double(at + 1)
        }
        let before = SoakVerdict(record).faults
        #expect(before.isEmpty, "\(before)")
        plant.spoil(&record)
        #expect(!SoakVerdict(record).faults.isEmpty)
    }

    @Test("the slope is that of the least-squares line")
    func slope() {
        #expect(SoakVerdict.slope([]) == 0 && SoakVerdict.slope([(1, 5)]) == 0)
        #expect(SoakVerdict.slope([(1, 5), (1, 9)]) == 0, "points at one time have no slope")
        #expect(abs(SoakVerdict.slope([(0, 1), (1, 3), (2, 5)]) - 2) < 1e-9)
        #expect(abs(SoakVerdict.slope([(0, 0), (1, 3), (2, 0), (3, 3)]) - 0.6) < 1e-9)
    }

    @Test(
        "devices disconnect at the same times when the seed is the same, and never until messages are discarded"
    )
    func flapping() {
        var first = Flapping(seed: 7, seconds: 3_600)
        var second = Flapping(seed: 7, seconds: 3_600)
        var kinds = Set<Bool>()
        var longest: Int64 = 0
        for _ in 0..<1_000 {
            let leave = first.leave()
            #expect(leave == second.leave())
            #expect(Flapping.stays.contains(first.stay()) && second.stay() > 0)
            kinds.insert(leave.isOrderly)
            longest = max(longest, leave.awayMilliseconds)
        }
        #expect(kinds.count == 2 && longest > 10_000)
        #expect(Flapping.maximumUndelivered < Limits.Mailbox.storedMessages)
        var short = Flapping(seed: 7, seconds: 10)
        #expect(
            (0..<100).allSatisfy { _ in short.stay() <= 2_500 }, "some must reconnect in a short run as well")
    }

    @Test("the number at the end of an ID is parsed")
    func numbers() {
        #expect(SoakRun.number(Array("12-345".utf8)) == 345)
        #expect(SoakRun.number(Array("345".utf8)) == 345)
        #expect(SoakRun.number([]) == nil)
    }
}

/// The books of one direction.
struct BooksTests {
    @Test("a message is missing from its acceptance until its arrival, in either order")
    func accounts() {
        var books = Books()
        let first = books.open(dueAt: 10)
        let second = books.open(dueAt: 20)
        #expect(books.arrived(second) == 20)
        #expect(books.missing == 0 && books.delivered == 0, "arrived before it was accepted")
        #expect(books.accepted(first) == 10)
        #expect(books.missing == 1)
        #expect(books.accepted(second) == 20)
        #expect(books.accepted == 2 && books.delivered == 1 && books.missing == 1)
        #expect(books.arrived(first) == 10)
        #expect(books.missing == 0 && books.repeated == 0 && books.opened == 2)
    }

    @Test("a repeated arrival is counted without a time, and an unknown one is not counted")
    func again() {
        var books = Books()
        let number = books.open(dueAt: 10)
        books.arrived(number)
        #expect(books.arrived(number) == nil && books.repeated == 1)
        books.accepted(number)
        #expect(books.accepted(number) == nil && books.accepted == 1)
        for stranger in [nil, -1, 1] {
            #expect(books.arrived(stranger) == nil && books.accepted(stranger) == nil)
        }
        #expect(books.repeated == 1)
    }

    @Test(
        "a refused message is not missing, even if it counted as accepted, and one that arrived is not refused"
    )
    func refused() {
        var books = Books()
        let numbers = (0..<3).map { _ in books.open() }
        books.accepted(numbers[0])
        #expect(books.missing == 1 && books.unanswered == 2)
        books.refused(numbers[0])
        books.refused(numbers[1])
        #expect(books.missing == 0 && books.refused == 2 && books.unanswered == 1)
        #expect(books.accepted(numbers[1]) == nil && books.accepted == 0)
        books.arrived(numbers[2])
        books.refused(numbers[2])
        #expect(books.refused == 2)
        books.accepted(numbers[2])
        #expect(books.delivered == 1 && books.unanswered == 0)
    }

    @Test(
        "Canary: a lost message stays missing, and entries of others are dropped, when it is one among many")
    func dropped() {
        var books = Books()
        let count = 300_000
        for number in 0..<count {
            _ = books.open(dueAt: Int64(number))
            books.accepted(number)
            if number != 150_000 { books.arrived(number) }
        }
        #expect(books.missing == 1 && books.delivered == count - 1 && books.opened == count)
        #expect(books.states.count < 200_000, "entries before the missing one must be dropped")
        #expect(books.arrived(7) == nil && books.repeated == 1, "repeated arrivals of those count too")
        #expect(books.arrived(150_000) == 150_000)
        #expect(books.missing == 0 && books.states.count < 70_000)
    }
}
