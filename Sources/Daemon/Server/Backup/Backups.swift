import Basics
import Catalogue
import Delivery
import Operator
import RocksStore
import Store

/// The backups of the running daemon, one at a time.
final class Backups: Sendable {
    /// The running backup.
    private struct State {
        var running: String?
        var done = 0
        var total = 0
        var isStopping = false
        /// When the last backup was made, in milliseconds since 1970; 0 if none was.
        var lastMade: UnixMilliseconds = 0
    }

    /// The setting of the store with the time of the last backup, in decimal.
    static let setting = "last_backup"

    private let store: RocksStore
    private let log: Log
    private let state = Monitor(State())

    init(store: RocksStore, log: Log) {
        self.store = store
        self.log = log
        let kept = (try? store.setting(Self.setting)) ?? nil
        let last = kept.flatMap { UnixMilliseconds(String(decoding: $0, as: UTF8.self)) } ?? 0
        state.change { $0.lastMade = last }
    }

    /// When the last backup was made, also before the start, in milliseconds since 1970; 0 if none was.
    var lastMade: UnixMilliseconds { state.change { $0.lastMade } }

    /// Makes a backup; a name is created in the folder of the service for backups, or else in that of the caller. It is completed even
    /// if the caller does not wait for it.
    func make(
        to path: String, in folder: String? = nil, _ configuration: Configuration, file: String?,
        report: @escaping (_ done: Int, _ total: Int) -> Void
    ) throws(BackupFailure) -> MakeBackup.Answer {
        try begin(path)
        defer { state.change { $0.running = nil } }
        let start = Now.read()
        do throws(BackupFailure) {
            let target = try BackupTarget(
                BackupTarget.path(path, service: BackupTarget.folderOfService, caller: folder),
                dataDirectory: configuration.dataDirectory)
            var reported = 0
            let writer = BackupWriter(
                store: store, configuration: configuration, configurationFile: file, target: target,
                createdAt: start.wall
            ) { (done, total) throws(BackupFailure) in
                try self.advance(done, total)
                guard done == total || done - reported >= total / Limits.Backup.reports else { return }
                reported = done
                report(done, total)
            }
            let made = try writer.run()
            remember(start.wall)
            return answer(
                target, made, milliseconds: Int(Now.read().monotonic.milliseconds(since: start.monotonic)))
        } catch {
            log.error("backup_failed", ["path": .text(path), "problem": .text(error.text)])
            throw error
        }
    }

    /// Makes a checkpoint for another node of the cluster, and passes it to a closure. Throws if a backup or another copy is running.
    func give(
        to name: String, _ body: (StoreCheckpoint) throws(BackupFailure) -> Void
    ) throws(BackupFailure) {
        try begin(name)
        defer { state.change { $0.running = nil } }
        let checkpoint: StoreCheckpoint
        do throws(StoreError) { checkpoint = try store.checkpoint() } catch {
            throw BackupFailure(error, copying: store.path)
        }
        defer { try? store.removeCheckpoint() }
        try body(checkpoint)
    }

    /// Whether a backup or a copy is running.
    var isBusy: Bool { state.change { $0.running != nil } }

    /// Throws if the daemon stops.
    func demandRunning() throws(BackupFailure) {
        if state.change({ $0.isStopping }) { throw Self.stopping }
    }

    /// Cancels a running backup and waits until its files are removed.
    func stop() {
        state.change { $0.isStopping = true }
        let end = Now.read().monotonic.advanced(seconds: Limits.Backup.cancelSeconds)
        state.wait { state in
            state.running == nil || Now.read().monotonic >= end ? .done(()) : .wait(until: end)
        }
    }

    private func begin(_ path: String) throws(BackupFailure) {
        let running = state.change { state -> State? in
            guard state.running == nil, !state.isStopping else { return state }
            state = State(running: path, lastMade: state.lastMade)
            return nil
        }
        guard let running else { return }
        guard let other = running.running, !running.isStopping else { throw Self.stopping }
        throw BackupFailure(
            "another backup is running: to \(other), \(running.done) of \(running.total) bytes are done",
            hint: "wait until it is complete", .failure)
    }

    /// Keeps the time of a backup, for the next start as well. If the store fails, that is reported by itself.
    private func remember(_ time: UnixMilliseconds) {
        state.change { $0.lastMade = time }
        try? store.setSetting(Self.setting, Array("\(time)".utf8))
    }

    private func advance(_ done: Int, _ total: Int) throws(BackupFailure) {
        let isStopping = state.change { state in
            (state.done, state.total) = (done, total)
            return state.isStopping
        }
        if isStopping { throw Self.stopping }
    }

    private static let stopping = BackupFailure(
        "ccsd is stopping: no backup was made", hint: "try again when it runs", .unavailable)

    private func answer(
        _ target: BackupTarget, _ made: BackupWriter.Made, milliseconds: Int
    ) -> MakeBackup.Answer {
        let manifest = made.manifest
        let answer = MakeBackup.Answer(
            path: target.path, createdAt: manifest.createdAt, commit: manifest.commit,
            files: manifest.files.count, bytes: manifest.files.reduce(0) { $0 + $1.bytes },
            linkedBytes: made.linkedBytes, milliseconds: milliseconds, notIncluded: manifest.notIncluded)
        log.notice(
            "backup_made",
            [
                "path": .text(answer.path), "commit": LogValue(answer.commit),
                "files": LogValue(answer.files),
                "bytes": LogValue(answer.bytes), "milliseconds": LogValue(answer.milliseconds),
            ])
        return answer
    }
}
