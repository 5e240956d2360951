import Basics

/// A place where one thread waits for an answer that another one brings, with a deadline.
///
/// For the control plane only: nothing on the path of a message waits.
final class Latch<Value: Sendable>: Sendable {
    private let room = Monitor<Value?>(nil)

    /// Brings the answer; only the first counts.
    func fulfil(_ value: Value) { room.change { if $0 == nil { $0 = value } } }

    /// Waits for the answer; nil when it did not come in time.
    func wait(milliseconds: Int64) -> Value? {
        let end = Now.read().monotonic.advanced(milliseconds: milliseconds)
        return room.wait { value in
            value != nil || Now.read().monotonic >= end ? .done(value) : .wait(until: end)
        }
    }

    /// Waits as long as the control plane waits for any answer (`Limits.Operator.answerSeconds`).
    func wait() -> Value? { wait(milliseconds: Int64(Limits.Operator.answerSeconds) * 1_000) }
}
