import Basics
import Delivery
import History
import Sessions
import Synchronization
import Transport

/// The way of steps to the thread that writes the history, and of questions to the thread that reads it. Any thread may use it.
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

    /// What wakes the writer.
    struct Call {
        /// Whether steps are waiting, and since when.
        var since: Instant?
        var isUrgent = false
        /// Waits for the files.
        var sources: [Latch<[HistorySource]?>] = []
        var isStopping = false
    }

    let call = Monitor(Call())
    /// Fulfilled by the writer at its end.
    let ended = Latch<Bool>()
    let reading = Monitor(Reading())
    /// Fulfilled by the reader at its end.
    let readingEnded = Latch<Bool>()
    /// What is left of the questions of each sender.
    let allowance = Mutex(SenderAllowance(of: "message history"))
    /// The counts by hour, which the writer keeps. `nil` until it has read them.
    let hours = Mutex<HourlyCounts?>(nil)
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

    /// Ends the reader, and has the writer write what waits and complete the file. Returns when both have ended.
    func stop() {
        reading.change { $0.isStopping = true }
        _ = readingEnded.wait()
        call.change { $0.isStopping = true }
        _ = ended.wait()
    }
}

/// Gathers the steps of the turns of one reactor.
struct HistoryGatherer {
    private let port: HistoryPort
    private var gathered = HistoryBatch()
    private var since = Instant.distantPast
    private var allowance = RefusalAllowance()
    /// How many steps the next parcel probably has.
    private var reserved = 0

    init(port: HistoryPort) { self.port = port }

    /// Records a message of an app server that a session has refused by itself: of several without an ID, and with one reason, the first.
    mutating func refused(_ refusal: RefusalRecord, of sender: SenderID?, _ now: Now) {
        guard refusal.isMessage, let sender, allowance.allows(sender, now.monotonic) else { return }
        begin(now.monotonic)
        var step = HistoryStep(.downstream, .refused, at: now.wall)
        step.sender = sender.number
        gathered.append(step, id: refusal.messageID, detail: refusal.reason.detail)
    }

    private mutating func begin(_ now: Instant) {
        guard gathered.isEmpty else { return }
        since = now
        gathered.reserve(steps: reserved)
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
        reserved = batch.steps.count + batch.steps.count / 4
        port.post(batch, at: now)
    }
}

/// How many refusals of sessions are recorded in a second: they cost their sender nothing, and must not push out what became of messages.
struct RefusalAllowance {
    private var start = Instant.distantPast
    private var counts: [SenderID: Int] = [:]
    private var total = 0

    /// Counts one more of a sender, unless there were as many in this second.
    mutating func allows(_ sender: SenderID, _ now: Instant) -> Bool {
        if start.advanced(seconds: 1) <= now {
            start = now
            counts.removeAll(keepingCapacity: true)
            total = 0
        }
        guard total < Limits.History.refusalsPerSecond,
            counts[sender, default: 0] < Limits.History.senderRefusalsPerSecond
        else { return false }
        counts[sender, default: 0] += 1
        total += 1
        return true
    }
}
