import Basics
import Delivery
import Synchronization
import Transport

/// The faults that operators have ordered, which all reactors share. There are none without a test bench.
final class FaultGate: Sendable {
    private let plan = Mutex(FaultPlan())

    /// All faults.
    var faults: [Fault] { plan.withLock { $0.faults } }

    /// Adds a fault; see `FaultPlan`.
    func add(_ scope: Fault.Scope, _ action: Fault.Action, count: Int) -> Fault? {
        plan.withLock { $0.add(scope, action, count: count) }
    }

    /// Removes a fault; see `FaultPlan`.
    func remove(_ number: Int) -> Fault? { plan.withLock { $0.remove(number) } }

    /// Removes all faults; see `FaultPlan`.
    func removeAll() -> Int { plan.withLock { $0.removeAll() } }

    /// Takes the submissions out that meet a fault; see `FaultPlan`.
    fileprivate func take(from events: inout [Event]) -> [FaultedSubmission] {
        plan.withLock { $0.take(from: &events) }
    }

    /// Repeats deliveries; see `FaultPlan`.
    fileprivate func duplicate(in commands: inout [(ConnectionID, SessionCommand)]) -> [Int] {
        plan.withLock { $0.duplicate(in: &commands) }
    }
}

extension ReactorHost {
    /// Takes the submissions out of events that meet a fault, and does what it orders.
    func applyFaults(_ gate: FaultGate, to events: inout [Event], now: Now) {
        let taken = gate.take(from: &events)
        for submission in taken {
            logFault(submission.fault)
            let requester = submission.requester
            switch submission.action {
            case .refuse(let refusal, let seconds):
                if let seconds {
                    let retry = ConnectionCommand.retryAfter(
                        requestID: requester.requestID, seconds: seconds)
                    answer(.connection(retry), to: requester.connection)
                }
                refuse(requester, refusal)
            case .drop:
                let id = PersistentID(
                    sequence: SequenceNumber(UInt64(clamping: now.wall) * 1_000),
                    salt: UInt32(truncatingIfNeeded: SecureRandom.number()))
                answer(
                    .submission(requestID: requester.requestID, .accepted(id: id, canonical: nil)),
                    to: requester.connection)
            case .delay(let milliseconds): delay(submission, milliseconds, now)
            case .duplicate: assertionFailure("a delivery is duplicated, not a submission")
            }
        }
    }

    private func refuse(_ requester: Requester, _ refusal: Refusal) {
        answer(
            .submission(requestID: requester.requestID, .refused(refusal)), to: requester.connection)
    }

    /// Submits a message later. Until then it is only in memory, and not answered.
    private func delay(_ submission: FaultedSubmission, _ milliseconds: Int, _ now: Now) {
        guard delayed < Limits.TestBench.delayed else { return refuse(submission.requester, .unavailable) }
        delayed += 1
        reactor.schedule(at: now.monotonic.advanced(milliseconds: Int64(milliseconds))) {
            [unowned self] _ in
            delayed -= 1
            accept(submission.event)
        }
    }

    /// Repeats the deliveries that a fault duplicates.
    func applyFaults(_ gate: FaultGate, to commands: inout [(ConnectionID, SessionCommand)]) {
        for fault in gate.duplicate(in: &commands) { logFault(fault) }
    }

    private func logFault(_ number: Int) {
        log.repeating(.notice, "fault_injected", by: "\(number)", ["fault": LogValue(number)])
    }
}
