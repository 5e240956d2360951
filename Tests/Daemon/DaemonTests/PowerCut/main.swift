import Basics
import Foundation

/// The options of a run.
struct Settings {
    /// Planted faults that a run must detect.
    enum Canary: String {
        /// The recorder records a batch as acknowledged when it submits it.
        case acknowledgesEarly = "early"
        /// The disk reports syncs of the journal as done without syncing.
        case lyingDisk = "lying"
    }

    var cuts = 1_000
    var seed = UInt64.random(in: 1...1 << 40)
    var batches = 250
    var cutsPerRound = 100
    var scratch = ""
    var library = ""
    var canary: Canary?
    /// The failure of the disk to inject, in the notation of faulty_disk.c; empty for random ones.
    var fault = ""
    /// Whether to run one world without threads and cut it after each batch.
    var isSweep = false
}

private func settings(_ arguments: ArraySlice<String>) throws -> Settings {
    var settings = Settings()
    var rest = arguments
    while let name = rest.popFirst() {
        guard let value = rest.popFirst() else { throw WorldFailure("\(name) needs a value") }
        switch name {
        case "--cuts": settings.cuts = Int(value) ?? settings.cuts
        case "--per-round": settings.cutsPerRound = Int(value) ?? settings.cutsPerRound
        case "--seed": settings.seed = UInt64(value) ?? settings.seed
        case "--sweep":
            settings.isSweep = true
            settings.batches = Int(value) ?? settings.batches
        case "--scratch": settings.scratch = value
        case "--library": settings.library = value
        case "--fault": settings.fault = value
        case "--canary": settings.canary = Settings.Canary(rawValue: value)
        default: throw WorldFailure("unknown argument \(name)")
        }
    }
    guard !settings.scratch.isEmpty, !settings.library.isEmpty else {
        throw WorldFailure("missing --scratch or --library: run Scripts/bad-disk")
    }
    return settings
}

private func cut(_ settings: Settings) throws -> Int32 {
    var tally = World.Tally()
    var seed = settings.seed
    var problem: String?
    if settings.isSweep {
        var world = World(seed: seed, settings: settings)
        problem = try world.sweep(&tally)
        seed += 1
    }
    while !settings.isSweep, problem == nil, tally.total < settings.cuts {
        var world = World(seed: seed, settings: settings)
        // Several rounds per world, so that reopened stores are cut again.
        for _ in 0..<6 where problem == nil && tally.total < settings.cuts {
            problem = try world.round(
                cuts: min(settings.cutsPerRound, settings.cuts - tally.total), &tally)
        }
        seed += 1
    }
    print(
        """
        cuts      \(tally.total)  (\(Loss.allCases.map { "loss of \($0.rawValue) \(tally.cuts[$0] ?? 0)" }.joined(separator: ", ")))
        worlds    \(seed - settings.seed) from seed \(settings.seed), \(tally.rounds) rounds, \(tally.steps) recorded steps
        noted     \(tally.noted) cuts left a record of synced positions, which the store compared with its journal
        messages  \(tally.messages) expected messages were present
        unknown   \(tally.found) durable, unacknowledged batches were present, \(tally.gone) were lost
        faults    \(tally.faults) failures of the disk, all recovered; \(tally.refused) batches refused
        missing   \(problem ?? "none")
        reached
        \(tally.reached)
        """)
    return problem == nil ? 0 : 1
}

do {
    let arguments = CommandLine.arguments
    switch arguments.dropFirst().first {
    case "record" where arguments.count == 10:
        try Recorder.run(
            Recorder.Plan(
                folder: arguments[2], seed: UInt64(arguments[3]) ?? 0,
                endings: arguments[5].split(separator: ",").map(Load.Ending.init(text:)),
                batches: Int(arguments[4]) ?? 0, acknowledgesEarly: arguments[7] == "early",
                control: arguments[6].isEmpty ? nil : arguments[6], fault: arguments[8],
                isOrdered: arguments[9] == "ordered"))
    default:
        LastCut.printWhenAborted()
        exit(try cut(settings(arguments.dropFirst())))
    }
} catch {
    FileHandle.standardError.write(Data("power-cut: \(error)\n".utf8))
    exit(2)
}
