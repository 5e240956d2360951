import Basics
import BasicsSupport
import Delivery
import Glibc
import RocksStore
import Server
import Store
import Synchronization
import Transport

/// Runs the load of one round on the real store in a child process, with the library that records and fails calls.
enum Recorder {
    /// The command line of a recorder.
    struct Plan {
        var folder: String
        var seed: UInt64
        /// The surviving batches of the earlier rounds.
        var endings: [Load.Ending]
        var batches: Int
        /// The planted fault of a canary: batches are recorded as acknowledged when they are submitted.
        var acknowledgesEarly = false
        /// The file that controls failures of the disk, or `nil` for none.
        var control: String?
        /// The failure to inject; empty for random ones.
        var fault = ""
        /// Whether each batch is a separate commit, made without threads.
        var isOrdered = false
    }

    /// Number of submitted batches without an answer.
    private static let waiting = Atomic<Int>(0)

    static func run(_ plan: Plan) throws {
        let note = try traceFunction()
        let store = try RocksStore(path: plan.folder, sizes: Load.sizes(seed: plan.seed))
        if plan.isOrdered { try runInOrder(plan, store, note) }
        var load = Load(
            seed: plan.seed, round: plan.endings.count,
            model: Load.model(seed: plan.seed, endings: plan.endings))
        // Separate from the generator of the load, which the checking process must be able to repeat.
        var random = SeededRandom(seed: plan.seed &+ UInt64(plan.endings.count))
        let thread = try StoreThreads(store: store, metrics: MetricShard(), log: .silent) { _ in }
        var fault = Fault(control: plan.control, words: plan.fault)
        for _ in 0..<plan.batches {
            fault.advance(&random, note)
            let batch = load.next()
            let isDurable = batch.isDurable
            note("submitted \(batch.batchNumber)")
            if plan.acknowledgesEarly, batch.isDurable { note("acknowledged \(batch.batchNumber)") }
            waiting.add(1, ordering: .sequentiallyConsistent)
            // The messages of the batch belong to many partitions, so the batch names none.
            thread.submit(batch) { outcome in
                if outcome.hasFailed {
                    note("failed \(outcome.batchNumber)")
                } else {
                    note("\(isDurable ? "acknowledged" : "written") \(outcome.batchNumber)")
                }
                waiting.subtract(1, ordering: .sequentiallyConsistent)
            }
            // Either one batch or many per commit; a single lazy batch delays its commit to be grouped.
            let isAlone = !fault.isOn && Int.random(in: 0..<16, using: &random) < (batch.isDurable ? 8 : 1)
            let most = isAlone ? 0 : 12
            while waiting.load(ordering: .sequentiallyConsistent) > most { usleep(50) }
            guard Int.random(in: 0..<40, using: &random) == 0 else { continue }
            let mark = batch.batchNumber
            let bytes = (0..<8).map { UInt8(truncatingIfNeeded: mark >> (56 - 8 * $0)) }
            if (try? store.setSetting("mark", bytes)) != nil { note("setting \(mark)") }
        }
        fault.end(note)
        let end = Now.read().monotonic.advanced(seconds: 30)
        while !thread.isHealthy || waiting.load(ordering: .sequentiallyConsistent) > 0 {
            usleep(1_000)
            guard Now.read().monotonic < end else {
                throw WorldFailure(
                    "the store did not recover with the disk: \(thread.lastFailure?.description ?? "")")
            }
        }
        // The next round opens a store that was closed, or one that was not.
        if Bool.random(using: &random) { thread.stop() }
        // Not `exit`: it would destroy static objects that threads of an open engine still use.
        _exit(0)
    }

    /// Commits each batch separately and without threads, so that a plan always produces the same trace.
    private static func runInOrder(_ plan: Plan, _ store: RocksStore, _ note: (String) -> Void) throws
        -> Never
    {
        var load = Load(seed: plan.seed, round: 0, model: StoreModel())
        for _ in 0..<plan.batches {
            let batch = load.next()
            note("submitted \(batch.batchNumber)")
            _ = try store.commit([batch])
            note("\(batch.isDurable ? "acknowledged" : "written") \(batch.batchNumber)")
        }
        _exit(0)
    }

    /// Returns the library's function that adds a line to the trace.
    private static func traceFunction() throws -> @Sendable (String) -> Void {
        typealias Note = @convention(c) (UnsafePointer<CChar>) -> Void
        guard let found = dlsym(nil, "faulty_disk_note") else {
            throw WorldFailure("faulty_disk.so is not preloaded")
        }
        let function = unsafeBitCast(found, to: Note.self)
        return { function($0) }
    }
}

/// Injects failures of the disk for random spans of batches.
struct Fault {
    private let control: String?
    private let words: String
    private var left = 0

    init(control: String?, words: String) {
        self.control = control
        self.words = words
    }

    /// Whether failures are switched on.
    var isOn: Bool { left > 0 }

    /// Advances by one batch.
    mutating func advance(_ random: inout SeededRandom, _ note: (String) -> Void) {
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

    /// Switches failures off.
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

    /// Replaces the file atomically, since the library may read it at any time.
    private func put(_ words: String, at path: String) {
        guard let file = fopen(path + ".new", "w") else { return }
        fputs(words, file)
        fclose(file)
        rename(path + ".new", path)
    }
}
