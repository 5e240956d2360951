import Basics
import Delivery
import History
import Sessions
import Synchronization
import Transport

/// The way of steps to the thread that writes the history, and of questions about it. Any thread may use it; nothing here waits for the disk.
final class HistoryPort: Sendable {
    /// How long and how much is kept.
    struct Settings: Sendable {
        let hours: Int
        let bytes: Int

        var milliseconds: Int64 { Int64(hours) * 3_600_000 }
    }

    /// What waits for the writer.
    struct Waiting {
        var parcels: [HistoryBatch] = []
        var steps = 0
        /// What was left out because too many steps were waiting.
        var leftOut: LeftOut?
    }

    /// Steps that were not recorded.
    struct LeftOut {
        var steps = 0
        var from: UnixMilliseconds
        var to: UnixMilliseconds

        /// Adds steps to what was left out before.
        static func add(_ batch: borrowing HistoryBatch, to known: inout LeftOut?) {
            guard let first = batch.steps.first?.time, let last = batch.steps.last?.time else { return }
            var sum = known ?? LeftOut(from: first, to: last)
            sum.steps += batch.steps.count
            sum.from = min(sum.from, first)
            sum.to = max(sum.to, last)
            known = sum
        }
    }

    typealias Question = @Sendable (HistoryFiles?) -> Void

    /// What wakes the writer.
    struct Call {
        /// Whether steps are waiting, and since when.
        var since: Instant?
        var isUrgent = false
        var questions: [Question] = []
        var isStopping = false
    }

    let call = Monitor(Call())
    /// Fulfilled by the writer at its end.
    let ended = Latch<Bool>()
    private let waiting = Mutex(Waiting())
    let settings: Settings

    init(_ settings: Settings) { self.settings = settings }

    /// Passes steps to the writer. If it is too far behind, they are left out and counted.
    func post(_ batch: HistoryBatch, at now: Instant) {
        let (isFirst, isMany) = waiting.withLock { waiting in
            guard waiting.steps + batch.steps.count <= Limits.History.waitingSteps else {
                LeftOut.add(batch, to: &waiting.leftOut)
                return (false, false)
            }
            let before = waiting.steps
            waiting.steps += batch.steps.count
            waiting.parcels.append(batch)
            return (
                before == 0,
                before < Limits.History.mergedSteps && waiting.steps >= Limits.History.mergedSteps
            )
        }
        // The writer is woken twice for each time that it writes, not for each parcel.
        guard isFirst || isMany else { return }
        call.change { call in
            if call.since == nil { call.since = now }
            if isMany { call.isUrgent = true }
        }
    }

    /// Removes and returns what waits.
    func take() -> Waiting {
        waiting.withLock { waiting in
            var taken = Waiting()
            swap(&taken, &waiting)
            return taken
        }
    }

    /// Asks a question on the thread of the writer, after all steps that were posted before. Returns `nil` if there are too many questions, the
    /// history cannot be read, or there was no answer in time.
    func ask<Answer: Sendable>(_ question: @escaping @Sendable (inout HistorySearch) -> Answer) -> Answer? {
        let latch = Latch<Answer?>()
        let isTaken = call.change { call in
            guard !call.isStopping, call.questions.count < Limits.History.waitingQuestions else {
                return false
            }
            call.questions.append { files in
                guard let files else { return latch.fulfil(nil) }
                var search = HistorySearch(files.sources())
                latch.fulfil(question(&search))
            }
            return true
        }
        return isTaken ? latch.wait() ?? nil : nil
    }

    /// Has the writer write what waits and complete the file. Returns when it has ended.
    func stop() {
        call.change { $0.isStopping = true }
        _ = ended.wait()
    }
}

/// Gathers the steps of the turns of one reactor.
struct HistoryGatherer {
    private let port: HistoryPort
    private var gathered = HistoryBatch()
    private var since = Instant.distantPast

    init(port: HistoryPort) { self.port = port }

    /// Records a message that a session has refused by itself: of several with one reason the first.
    mutating func refused(_ refusal: RefusalRecord, of sender: SenderID?, _ now: Now) {
        guard !refusal.messageID.isEmpty else { return }
        begin(now.monotonic)
        var step = HistoryStep(.downstream, .refused, at: now.wall)
        step.sender = sender?.number ?? 0
        gathered.append(step, id: refusal.messageID, detail: refusal.reason.word)
    }

    private mutating func begin(_ now: Instant) {
        guard gathered.isEmpty else { return }
        since = now
        gathered.reserve(steps: 2 * Limits.History.stepsPerParcel)
    }

    /// Takes the steps of a partition, and empties them.
    mutating func take(_ steps: inout HistoryBatch, now: Instant) {
        guard !steps.isEmpty else { return }
        begin(now)
        gathered.append(steps)
        steps.removeAll()
    }

    /// Passes on what was gathered, if that is enough, or long enough ago.
    mutating func endTurn(now: Instant) {
        guard !gathered.isEmpty else { return }
        let isDue = since.advanced(milliseconds: Limits.History.gatherMilliseconds) <= now
        if isDue || gathered.steps.count >= Limits.History.stepsPerParcel { flush(now: now) }
    }

    /// Passes on what was gathered.
    mutating func flush(now: Instant) {
        guard !gathered.isEmpty else { return }
        var batch = HistoryBatch()
        swap(&batch, &gathered)
        port.post(batch, at: now)
    }
}
