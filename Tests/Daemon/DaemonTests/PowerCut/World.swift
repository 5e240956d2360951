import Basics
import Delivery
import Foundation
import RocksStore
import Store

/// A failure of the test environment.
struct WorldFailure: Error, CustomStringConvertible {
    var description: String
    init(_ description: String) { self.description = description }
}

/// A store that is written to, cut off by power failures and reopened, round after round.
///
/// Each round is recorded once. Then, at many points of the trace, the folder is reconstructed as a power cut would leave it,
/// and opened: the store must contain a prefix of the batches that includes every acknowledged one, and accept further
/// writes. One of these folders is the start of the next round.
struct World {
    /// The totals of all worlds so far.
    struct Tally {
        var rounds = 0
        var steps = 0
        var cuts: [Loss: Int] = [:]
        /// Cuts that left a record of synced positions, which the store compared with its journal files.
        var noted = 0
        /// Messages that were expected after cuts and present.
        var messages = 0
        /// Submitted, unacknowledged batches that were present or lost after a cut.
        var found = 0
        var gone = 0
        /// Failures of the disk, and batches refused because of them.
        var faults = 0
        var refused = 0
        /// Counts of covered events.
        var reached = ReachTally<CutEvent>()
        var total: Int { cuts.values.reduce(0, +) }
    }

    /// The point and kind of a power cut.
    struct Cut: CustomStringConvertible {
        var seed: UInt64
        var round: Int
        var step: Int
        var loss: Loss
        var description: String { "seed \(seed), round \(round), step \(step), loss of \(loss.rawValue)" }
    }

    /// The state of batches by the notes of a trace up to some step.
    private struct BatchState {
        var submitted: UInt64 = 0
        var acknowledged: [UInt64] = []
        var failed: Set<UInt64> = []
        var setting: UInt64 = 0
        var faults = 0

        mutating func record(_ note: String) {
            let words = note.split(separator: " ")
            let number = words.count > 1 ? UInt64(words[1]) ?? 0 : 0
            switch words.first {
            case "submitted": submitted = max(submitted, number)
            case "acknowledged": acknowledged.append(number)
            case "failed": failed.insert(number)
            case "setting": setting = max(setting, number)
            case "fault": faults += 1
            default: break
            }
        }
    }

    /// The losses to choose from; random ones are weighted twice, since they have many outcomes.
    private static let losses: [Loss] = [.all, .tail, .tail, .pages, .pages, .nothing]

    let seed: UInt64
    let scratch: String
    let settings: Settings
    private var endings: [Load.Ending] = []
    private var model = StoreModel()
    private var setting: UInt64 = 0
    private var files: [String: [UInt8]] = [:]
    private var random: SeededRandom

    init(seed: UInt64, settings: Settings) {
        self.seed = seed
        self.settings = settings
        scratch = settings.scratch
        random = SeededRandom(seed: seed)
    }

    /// Runs a round with a number of cuts. Returns a description of the first failure, or `nil`.
    mutating func round(cuts: Int, _ tally: inout Tally) throws -> String? {
        let folder = "\(scratch)/store"
        try Folder.write(files, to: folder)
        // In every second round the disk fails at times and recovers.
        let trace = try record(folder, fails: endings.count % 2 == 1)
        tally.rounds += 1
        tally.steps += trace.steps.count
        var load = Load(seed: seed, round: endings.count, model: model)
        var batches: [WriteBatch] = []
        for _ in 0..<settings.batches { batches.append(load.next()) }

        if !endings.isEmpty { tally.reached.record(.reopened) }
        var watch = JournalWatch()
        var disk = Disk(folder: folder, files: files)
        var state = BatchState(setting: setting)
        // A point may be cut several times, with different losses.
        var points: [Int: Int] = [:]
        for _ in 0..<cuts { points[Int.random(in: 0..<trace.steps.count, using: &random), default: 0] += 1 }
        let last = points.keys.max()
        for (number, step) in trace.steps.enumerated() {
            disk.apply(step)
            watch.observe(step, &tally.reached)
            if case .note(let text) = step { state.record(text) }
            for way in (0..<points[number, default: 0]).reversed() {
                let loss = Self.losses[Int.random(in: 0..<Self.losses.count, using: &random)]
                let cut = Cut(seed: seed, round: endings.count, step: number, loss: loss)
                files = disk.cut(loss, &random)
                tally.cuts[loss, default: 0] += 1
                tally.reached.record(CutEvent(loss))
                if watch.hasUnsynced { tally.reached.record(.lazyUnsynced) }
                if files["SYNCED"]?.isEmpty == false {
                    tally.noted += 1
                    tally.reached.record(.noted)
                }
                LastCut.remember("\(cut)")
                switch try check(files, state, batches, &tally) {
                case .wrong(let words): return "\(cut): \(words)"
                case .whole(let ending, let mark):
                    if number == last, way == 0 { next(ending, mark, batches) }
                }
            }
        }
        tally.faults += state.faults
        tally.refused += state.failed.count
        return nil
    }

    /// Starts the next round with the folder that was checked last.
    private mutating func next(_ ending: Load.Ending, _ mark: UInt64, _ batches: [WriteBatch]) {
        endings.append(ending)
        for batch in batches where ending.has(batch) { model.apply(batch) }
        setting = mark
    }

    /// Runs one deterministic round without threads and cuts it after each submission and each answer, losing all unsynced data.
    /// Returns a description of the first failure, or `nil`.
    mutating func sweep(_ tally: inout Tally) throws -> String? {
        let folder = "\(scratch)/store"
        try Folder.write([:], to: folder)
        let trace = try record(folder, fails: false)
        tally.rounds += 1
        tally.steps += trace.steps.count
        var load = Load(seed: seed, round: 0, model: model)
        let batches = (0..<settings.batches).map { _ in load.next() }
        var (disk, state, watch) = (Disk(folder: folder, files: [:]), BatchState(), JournalWatch())
        for (number, step) in trace.steps.enumerated() {
            disk.apply(step)
            watch.observe(step, &tally.reached)
            guard case .note(let text) = step else { continue }
            state.record(text)
            let cut = Cut(seed: seed, round: 0, step: number, loss: .all)
            LastCut.remember("\(cut)")
            tally.cuts[.all, default: 0] += 1
            tally.reached.record(.lossOfAll)
            if watch.hasUnsynced { tally.reached.record(.lazyUnsynced) }
            if case .wrong(let words) = try check(disk.cut(.all, &random), state, batches, &tally) {
                return "\(cut): \(words)"
            }
        }
        return nil
    }

    // MARK: Recording

    private func record(_ folder: String, fails: Bool) throws -> Trace {
        let trace = "\(scratch)/trace"
        let control = "\(scratch)/control"
        try? FileManager.default.removeItem(atPath: control)
        var environment = ProcessInfo.processInfo.environment
        // Before libraries that are preloaded already, as a sanitizer may need.
        environment["LD_PRELOAD"] = [settings.library, environment["LD_PRELOAD"] ?? ""].joined(separator: ":")
        environment["FAULTY_DISK_ROOT"] = folder
        environment["FAULTY_DISK_TRACE"] = trace
        if fails { environment["FAULTY_DISK_CONTROL"] = control }
        if settings.canary == .lyingDisk { environment["FAULTY_DISK_LIES"] = "journal-" }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.environment = environment
        process.arguments = [
            "record", folder, "\(seed)", "\(settings.batches)",
            endings.map(\.text).joined(separator: ","), fails ? control : "",
            settings.canary == .acknowledgesEarly ? "early" : "", settings.fault,
            settings.isSweep ? "ordered" : "",
        ]
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0, process.terminationReason == .exit else {
            let words = (try? String(contentsOfFile: control, encoding: .utf8)) ?? "a working disk"
            throw WorldFailure(
                "seed \(seed), round \(endings.count): the store aborted with \(words): "
                    + "\(process.terminationReason) \(process.terminationStatus)")
        }
        return try Trace(path: trace)
    }

    // MARK: Checking

    private enum Found {
        case whole(Load.Ending, setting: UInt64)
        case wrong(String)
    }

    private func check(
        _ files: [String: [UInt8]], _ state: BatchState, _ batches: [WriteBatch], _ tally: inout Tally
    ) throws -> Found {
        let folder = "\(scratch)/cut"
        try Folder.write(files, to: folder)
        do throws(StoreError) {
            let store = try RocksStore(path: folder, sizes: Load.sizes(seed: seed))
            let found = try StoreModel.batchNumbers(in: store)
            if let lost = state.acknowledged.first(where: { !found.contains($0) }) {
                return .wrong("batch \(lost) was acknowledged and is missing")
            }
            let end = batches.last { found.contains($0.batchNumber) }?.batchNumber ?? 0
            guard end <= state.submitted else {
                return .wrong("batch \(end) is present, but was not submitted yet")
            }
            let ending = Load.Ending(
                end: end,
                missing: batches.map(\.batchNumber).filter { $0 <= end && !found.contains($0) })
            if let skipped = ending.missing.first(where: { !state.failed.contains($0) }) {
                return .wrong("batch \(skipped) before \(end) is missing, but did not fail")
            }
            var expected = model
            for batch in batches where ending.has(batch) { expected.apply(batch) }
            if let difference = try expected.difference(from: store) { return .wrong(difference) }
            let kept = try store.setting("mark") ?? []
            let mark = kept.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            guard mark >= state.setting else {
                return .wrong("the setting is \(mark), expected at least \(state.setting)")
            }
            if let problem = try checkWritable(store, expected, folder) { return .wrong(problem) }
            tally.messages += expected.count
            let known = Set(state.acknowledged)
            let unknown = batches.filter {
                $0.isDurable && $0.batchNumber <= state.submitted && !known.contains($0.batchNumber)
            }
            let isThere = unknown.count { found.contains($0.batchNumber) }
            tally.found += isThere
            tally.gone += unknown.count - isThere
            tally.reached.record(.unknownFound, isThere)
            tally.reached.record(.unknownGone, unknown.count - isThere)
            if mark > 0 { tally.reached.record(.setting) }
            return .whole(ending, setting: mark)
        } catch { return .wrong("\(error.kind.rawValue): \(error.description)") }
    }

    /// Checks that the store accepts a batch and has it after reopening. Returns a description of the failure, or `nil`.
    private func checkWritable(_ store: RocksStore, _ model: StoreModel, _ folder: String) throws(StoreError)
        -> String?
    {
        var load = Load(seed: seed ^ 1, round: 200, model: model)
        let batch = load.next()
        _ = try store.commit([batch])
        if let difference = try load.model.difference(from: store) {
            return "after one more batch: \(difference)"
        }
        try store.close()
        let again = try RocksStore(path: folder, sizes: Load.sizes(seed: seed))
        return try load.model.difference(from: again).map { "after reopening: \($0)" }
    }
}
