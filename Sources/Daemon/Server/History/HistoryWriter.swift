import Basics
import Delivery
import History
import Synchronization
import Transport

/// The thread that writes the history.
///
/// What cannot be written is left out: it is counted, and the history names the gap once it can be written again. Messages never wait for it.
final class HistoryWriter {
    private let port: HistoryPort
    private let folder: String
    private let clock: ClockStatus
    private let metrics: MetricShard
    private let log: Log
    private var state: State
    /// Small parcels, which are encoded together.
    private var merged = HistoryBatch()
    /// What is missing in the history, and not yet named there.
    private var gap: HistoryGap?
    private var sweepsAt = Instant.distantPast
    /// The counts by hour as they are on disk.
    private var writtenHours: HourlyCounts?

    private enum State {
        case writing(HistoryFiles)
        /// The last attempt has failed.
        case failed(until: Instant)
    }

    init(port: HistoryPort, folder: String, clock: ClockStatus, metrics: MetricShard, log: Log) {
        self.port = port
        self.folder = folder
        self.clock = clock
        self.metrics = metrics
        self.log = log
        state = .failed(until: .distantPast)
    }

    /// Runs until the port is stopped.
    func run() {
        let hours = HourlyFile.read(in: folder, now: now().wall, log)
        port.hours.withLock { $0 = hours }
        writtenHours = hours
        openIfDue(now())
        while true {
            let call = port.call.wait { self.next(&$0) }
            let now = now()
            openIfDue(now)
            write(now)
            for latch in call.sources {
                if case .writing(let files) = state {
                    latch.fulfil(files.sources())
                } else {
                    latch.fulfil(nil)
                }
            }
            sweep(now)
            guard !call.isStopping else { break }
        }
        finish()
        port.ended.fulfil(true)
    }

    /// The server's wall clock, whose doubts keep what would be too old, and the machine's monotonic one, by which threads wait.
    private func now() -> Now {
        let machine = Now.read()
        var time = clock.judged(machine)
        time.monotonic = machine.monotonic
        return time
    }

    /// Takes a call that is due, or returns until when to wait for it.
    private func next(_ call: inout HistoryPort.Call) -> Monitor<HistoryPort.Call>.Step<HistoryPort.Call> {
        let now = Now.read().monotonic
        let due =
            call.since.map { $0.advanced(milliseconds: Limits.History.gatherMilliseconds) } ?? .distantFuture
        let next = min(due, sweepsAt)
        guard call.isUrgent || call.isStopping || !call.sources.isEmpty || next <= now else {
            return .wait(until: next)
        }
        var taken = HistoryPort.Call()
        swap(&taken, &call)
        call.isStopping = taken.isStopping
        return .done(taken)
    }

    // MARK: Writing

    private func write(_ now: Now) {
        let waiting = port.take()
        if let leftOut = waiting.leftOut { miss(leftOut) }
        for parcel in waiting.parcels {
            // A large one is not copied: it usually has all steps of its messages.
            if parcel.steps.count >= Limits.History.stepsPerParcel {
                writeMerged(now)
                write(parcel, now)
            } else {
                merged.append(parcel)
                if merged.steps.count >= Limits.History.mergedSteps { writeMerged(now) }
            }
        }
        writeMerged(now)
    }

    private func writeMerged(_ now: Now) {
        write(merged, now)
        merged.removeAll()
    }

    private func write(_ batch: HistoryBatch, _ now: Now) {
        guard !batch.isEmpty else { return }
        port.hours.withLock { $0?.add(batch) }
        guard case .writing(let files) = state else { return miss(batch) }
        files.isClockInDoubt = now.latestInDoubt != nil
        do throws(TransportError) {
            if let gap {
                try files.append(gap.steps, now: now.wall)
                self.gap = nil
            }
            try files.append(batch, now: now.wall)
            metrics.add(batch.steps.count, to: .historySteps)
        } catch {
            miss(batch)
            fail(error)
        }
    }

    private func miss(_ batch: HistoryBatch) {
        var leftOut: HistoryPort.LeftOut?
        HistoryPort.LeftOut.add(batch, to: &leftOut)
        if let leftOut { miss(leftOut) }
    }

    private func miss(_ leftOut: HistoryPort.LeftOut) {
        metrics.add(leftOut.steps, to: .historyLeftOut)
        miss(from: leftOut.from, to: leftOut.to)
    }

    private func miss(from: UnixMilliseconds, to: UnixMilliseconds) {
        gap = HistoryGap(from: min(gap?.from ?? from, from), to: max(gap?.to ?? to, to))
    }

    // MARK: Files

    /// Opens the files after a start or a failure.
    private func openIfDue(_ now: Now) {
        guard case .failed(let until) = state, until <= now.monotonic else { return }
        do throws(TransportError) {
            let files = try HistoryFiles(folder: folder, keeping: port.settings, now: now.wall)
            if let from = files.missingFrom {
                miss(from: from, to: now.wall)
                log.notice(
                    "history_gap",
                    ["from": .text(Timestamp.text(from)), "to": .text(Timestamp.text(now.wall))])
            }
            state = .writing(files)
            // Until then the clock has been judged: files that a wrong one removes are gone.
            sweepsAt = now.monotonic.advanced(seconds: Limits.History.sweepSeconds)
            metrics.set(.historyBytes, to: files.bytes)
        } catch { fail(error) }
    }

    private func sweep(_ now: Now) {
        guard sweepsAt <= now.monotonic, case .writing(let files) = state else { return }
        sweepsAt = now.monotonic.advanced(seconds: Limits.History.sweepSeconds)
        do throws(TransportError) {
            files.isClockInDoubt = now.latestInDoubt != nil
            try files.sweep(now.wall)
            try writeHours()
            metrics.set(.historyBytes, to: files.bytes)
        } catch { fail(error) }
    }

    private func fail(_ error: TransportError) {
        metrics.add(1, to: .historyFailures)
        log.repeating(.error, "history_failed", ["problem": .text(error.description)])
        let retry = Now.read().monotonic.advanced(milliseconds: Limits.History.retryMilliseconds)
        state = .failed(until: retry)
        sweepsAt = retry
    }

    private func finish() {
        guard case .writing(let files) = state else { return }
        do throws(TransportError) {
            try files.finish()
            try writeHours()
        } catch { fail(error) }
    }

    /// Writes the counts by hour if they have changed.
    private func writeHours() throws(TransportError) {
        let hours = port.hours.withLock { $0 }
        guard let hours, hours != writtenHours else { return }
        try HourlyFile.write(hours, in: folder)
        writtenHours = hours
    }
}

/// The file with the counts by hour, beside the history. It is written once a minute: a crash costs the counts of the last one.
enum HourlyFile {
    private static func path(_ folder: String) -> String { "\(folder)/hours" }

    /// Reads the counts; without a file, or if it is damaged, they begin anew.
    static func read(in folder: String, now: UnixMilliseconds, _ log: Log) -> HourlyCounts {
        let content = try? SmallFile.read(path(folder), limit: HourlyCounts.mostBytes)
        guard let content else { return HourlyCounts(since: now) }
        if let counts = HourlyCounts(content.raw) { return counts }
        log.error(
            "history_failed", ["problem": .text("\(path(folder)) is damaged: the counts by hour begin anew")])
        return HourlyCounts(since: now)
    }

    static func write(_ counts: HourlyCounts, in folder: String) throws(TransportError) {
        try SmallFile.replace(path(folder), with: counts.bytes, mode: 0o600)
    }

    static func remove(in folder: String) { try? SmallFile.remove(path(folder)) }
}

extension HistoryGap {
    /// The steps that name the gap.
    fileprivate var steps: HistoryBatch {
        var batch = HistoryBatch()
        batch.append(HistoryStep(.gap, .disconnected, sequence: 1, at: from))
        batch.append(HistoryStep(.gap, .connected, sequence: 1, at: to))
        return batch
    }
}
