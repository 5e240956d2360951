import Basics
import Catalogue
import Glibc
import Operator
import Synchronization
import Transport

/// Backups at random moments under load, and what each must contain.
final class BackupRun {
    /// A backup with the bounds of what it must contain.
    struct Moment {
        var answer: MakeBackup.Answer
        /// Messages that were acknowledged before the backup began.
        var acknowledged: Int
        /// Messages that were sent until it ended.
        var sent: Int
    }

    /// The counts of a restored backup.
    struct Restored {
        var moment: Moment
        var audit: AuditStore.Answer

        /// Whether it has all that was acknowledged before, and nothing that was sent after.
        var isComplete: Bool {
            audit.holds && audit.downstream.accepted >= moment.acknowledged
                && audit.downstream.accepted <= moment.sent
        }
    }

    private let bench: Bench
    private let target: DaemonTarget
    private let load: LoadRun
    private let receivers: Receivers
    private var random: SeededRandom
    private(set) var moments: [Moment] = []

    init(_ bench: Bench, seed: UInt64) throws(BenchError) {
        self.bench = bench
        random = SeededRandom(seed: seed)
        target = try DaemonTarget(bench, reactors: bench.reactors)
        let devices = try bench.devices(target, bench.invocation.integer("--devices") ?? 2_000)
        receivers = try Receivers(bench, target, Array(devices[..<(devices.count / 2)]))
        load = try bench.appServers(target, devices, receivers, lifetimeSeconds: Bench.lifetime)
    }

    /// Takes backups at random moments under load.
    func run(_ count: Int, rate: Int, pause: Int) throws(BenchError) -> LoadResult {
        bench.separate(target)
        load.begin(.rate(Double(rate)))
        bench.run(milliseconds: 1_000, "warming up")
        let begin = load.beginMeasuring()
        for number in 1...count {
            bench.run(milliseconds: Int64.random(in: 0...Int64(pause), using: &random), "load")
            moments.append(try backup(number))
            bench.progress.show("backups", number, of: count)
        }
        let result = LoadResult(
            load.name, from: begin, to: LoadSample(load.counters, target), counters: load.counters)
        try load.awaitPending()
        return result
    }

    /// Takes a backup on a thread of its own, under load.
    private func backup(_ number: Int) throws(BenchError) -> Moment {
        let (folder, socket) = ("\(bench.scratch)/backup-\(number)", target.controlPath)
        let acknowledged = load.counters.acknowledged
        let outcome = Outcome()
        do throws(TransportError) {
            _ = try Transport.Thread(name: "backup") {
                do throws(BenchError) {
                    outcome.set(.success(try DaemonTarget.control(MakeBackup(path: folder), socket)))
                } catch { outcome.set(.failure(error)) }
            }
        } catch { throw BenchError(error.description) }
        guard bench.turn(seconds: 300, until: { outcome.value != nil }), let result = outcome.value else {
            throw BenchError("a backup took more than 300 s")
        }
        return Moment(answer: try result.get(), acknowledged: acknowledged, sent: load.counters.sent)
    }

    /// The result of a backup, which another thread sets.
    private final class Outcome: Sendable {
        private let state = Mutex<Result<MakeBackup.Answer, BenchError>?>(nil)
        var value: Result<MakeBackup.Answer, BenchError>? { state.withLock { $0 } }
        func set(_ value: Result<MakeBackup.Answer, BenchError>) { state.withLock { $0 = value } }
    }

    /// Restores the backups one after the other, and audits each.
    func restoreAll() throws(BenchError) -> [Restored] {
        var restored: [Restored] = []
        for (number, moment) in moments.enumerated() {
            bench.progress.show("backups restored", number, of: moments.count)
            let name = "restored-\(number + 1)"
            let code = try restore(moment, to: "\(bench.scratch)/\(name)-data", log: "\(name)-restore.log")
            guard code == 0 else {
                throw BenchError("ccsd restore \(moment.answer.path) failed: see \(name)-restore.log")
            }
            let daemon = try DaemonTarget(bench, named: name, reactors: 1)
            restored.append(Restored(moment: moment, audit: try daemon.control(AuditStore())))
            daemon.stop()
        }
        bench.progress.clear()
        return restored
    }

    /// Whether a restore onto the running server is refused, and the server still runs.
    func refusesRunning() throws(BenchError) -> Bool {
        guard let moment = moments.first else { return false }
        let code = try restore(
            moment, to: target.dataDirectory, log: "refused-restore.log", more: ["--replace"])
        guard code == ExitCode.inputOutput.rawValue else { return false }
        return try target.auditHolds()
    }

    /// Runs `ccsd restore`. Returns its exit code.
    private func restore(
        _ moment: Moment, to folder: String, log: String, more: [String] = []
    ) throws(BenchError) -> Int32? {
        let child = try bench.start(
            "ccsd", ["restore", moment.answer.path, "--data-directory", folder] + more, log: log)
        guard bench.turn(seconds: 600, until: { !child.isRunning }) else {
            throw BenchError("a restore took more than 600 s")
        }
        return child.exitCode
    }
}
