import Basics
import Transport

/// A one-shot future with which one thread waits for the result of another one, with a deadline.
///
/// For the control plane only; the path of a message never blocks.
final class Latch<Value: Sendable>: Sendable {
    private let room = Monitor<Value?>(nil)

    /// Sets the value; later values are ignored.
    func fulfil(_ value: Value) { room.change { if $0 == nil { $0 = value } } }

    /// Waits for the value. Returns `nil` after the deadline.
    func wait(milliseconds: Int64) -> Value? {
        let end = Now.read().monotonic.advanced(milliseconds: milliseconds)
        return room.wait { value in
            value != nil || Now.read().monotonic >= end ? .done(value) : .wait(until: end)
        }
    }

    /// Waits for the value with the default deadline of the control plane (`Limits.Operator.answerSeconds`).
    func wait() -> Value? { wait(milliseconds: Int64(Limits.Operator.answerSeconds) * 1_000) }
}

extension ThreadMailbox {
    /// Runs a query on the thread. Returns the latch of its answer.
    func ask<Answer: Sendable>(_ question: @escaping @Sendable (Parcel.Host) -> Answer) -> Latch<Answer> {
        let latch = Latch<Answer>()
        post { host in latch.fulfil(question(host)) }
        return latch
    }
}
