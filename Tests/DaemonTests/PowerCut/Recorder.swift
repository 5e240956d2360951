import Basics
import BasicsSupport
import Delivery
import Glibc
import RocksStore
import Server
import Store
import Synchronization
import Transport

/// Runs the load of one round over the real store, below the library that records and fails: the child of a world.
enum Recorder {
    /// What a recorder is told on its command line.
    struct Plan {
        var folder: String
        var seed: UInt64
        /// How the earlier rounds ended.
        var endings: [Load.Ending]
        var batches: Int
        /// The planted fault of a canary: batches are said to be acknowledged when they are handed over.
        var acknowledgesEarly = false
        /// The file that says how the disk fails; nil: it does not.
        var control: String?
        /// The words that say it; empty: as chance will have it.
        var fault = ""
        /// Whether each batch is a commit of its own, made without threads.
        var isOrdered = false
    }

    /// Batches handed over and not yet answered.
    private static let waiting = Atomic<Int>(0)

    static func run(_ plan: Plan) throws {
        let note = try finder()
        let store = try RocksStore(path: plan.folder, sizes: Load.sizes(seed: plan.seed))
        if plan.isOrdered { try runInOrder(plan, store, note) }
        var load = Load(
            seed: plan.seed, round: plan.endings.count,
            books: Load.books(seed: plan.seed, endings: plan.endings))
        // Apart from the load's, which must be the same for whoever checks.
        var random = SeededRandom(seed: plan.seed &+ UInt64(plan.endings.count))
        let thread = try StoreThread(store: store, metrics: MetricShard(), log: .silent) { _ in }
        var fault = Fault(control: plan.control, words: plan.fault)
        for _ in 0..<plan.batches {
            fault.turn(&random, note)
            let batch = load.next()
            let isDurable = batch.isDurable
            note("submitted \(batch.ticket)")
            if plan.acknowledgesEarly, batch.isDurable { note("acknowledged \(batch.ticket)") }
            waiting.add(1, ordering: .sequentiallyConsistent)
            // The messages of a batch belong to many partitions, as those of no partition's own batch do.
            thread.submit(batch) { outcome in
                if outcome.hasFailed {
                    note("failed \(outcome.ticket)")
                } else {
                    note("\(isDurable ? "acknowledged" : "written") \(outcome.ticket)")
                }
                waiting.subtract(1, ordering: .sequentiallyConsistent)
            }
            // Now one by one, now many in one commit; a lazy one by itself waits for company, for a while.
            let isAlone = !fault.isOn && Int.random(in: 0..<16, using: &random) < (batch.isDurable ? 8 : 1)
            let most = isAlone ? 0 : 12
            while waiting.load(ordering: .sequentiallyConsistent) > most { usleep(50) }
            guard Int.random(in: 0..<40, using: &random) == 0 else { continue }
            let mark = batch.ticket
            let octets = (0..<8).map { UInt8(truncatingIfNeeded: mark >> (56 - 8 * $0)) }
            if (try? store.setSetting("mark", octets)) != nil { note("setting \(mark)") }
        }
        fault.end(note)
        let end = Now.read().monotonic.advanced(seconds: 30)
        while !thread.isHealthy || waiting.load(ordering: .sequentiallyConsistent) > 0 {
            usleep(1_000)
            guard Now.read().monotonic < end else {
                throw WorldFailure(
                    "the disk is well, the store is not: \(thread.lastFailure?.description ?? "")")
            }
        }
        // Closed in order, or not at all: the next round opens what either leaves.
        if Bool.random(using: &random) { thread.stop() }
        // Not by `exit`, which takes down what threads of the engine, where it is not closed, are still looking things up in.
        _exit(0)
    }

    /// One commit for each batch, without threads: the same plan makes the same trace.
    private static func runInOrder(_ plan: Plan, _ store: RocksStore, _ note: (String) -> Void) throws
        -> Never
    {
        var load = Load(seed: plan.seed, round: 0, books: Books())
        for _ in 0..<plan.batches {
            let batch = load.next()
            note("submitted \(batch.ticket)")
            _ = try store.commit([batch])
            note("\(batch.isDurable ? "acknowledged" : "written") \(batch.ticket)")
        }
        _exit(0)
    }

    /// The library's way to put a line into the trace.
    private static func finder() throws -> @Sendable (String) -> Void {
        typealias Note = @convention(c) (UnsafePointer<CChar>) -> Void
        guard let found = dlsym(nil, "faulty_disk_note") else {
            throw WorldFailure("the recorder runs without the library that records")
        }
        let function = unsafeBitCast(found, to: Note.self)
        return { function($0) }
    }
}

/// Makes the disk fail now and then, for some batches.
struct Fault {
    private let control: String?
    private let words: String
    private var left = 0

    init(control: String?, words: String) {
        self.control = control
        self.words = words
    }

    /// Whether the disk may fail.
    var isOn: Bool { left > 0 }

    /// One batch later.
    mutating func turn(_ random: inout SeededRandom, _ note: (String) -> Void) {
        guard let control else { return }
        if isOn {
            left -= 1
            if left == 0 { end(note) }
            return
        }
        guard Int.random(in: 0..<20, using: &random) == 0 else { return }
        left = Int.random(in: 1...30, using: &random)
        let words = words.isEmpty ? Self.words(&random) : words
        note("fault \(words)")
        put(words, at: control)
    }

    /// The disk is well from now on.
    mutating func end(_ note: (String) -> Void) {
        left = 0
        guard let control, unlink(control) == 0 else { return }
        note("well")
    }

    private static func words(_ random: inout SeededRandom) -> String {
        let calls = [
            "open,write,allocate,room", "write", "write,allocate", "sync", "write,sync", "open", "rename",
            "truncate", "open,write,sync,allocate,truncate,rename,unlink",
        ]
        let error = ["ENOSPC", "EIO", "EDQUOT"][Int.random(in: 0..<3, using: &random)]
        var words = "error=\(error) calls=\(calls[Int.random(in: 0..<calls.count, using: &random)])"
        words += " after=\(Int.random(in: 0...8, using: &random))"
        if Bool.random(using: &random) { words += " times=\(Int.random(in: 1...3, using: &random))" }
        if Bool.random(using: &random) { words += " short=1" }
        return words
    }

    /// Whole or not at all: the library may read it at any time.
    private func put(_ words: String, at path: String) {
        guard let file = fopen(path + ".new", "w") else { return }
        fputs(words, file)
        fclose(file)
        rename(path + ".new", path)
    }
}
