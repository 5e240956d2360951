/// Whether the store has the last roster, and who waits for that.
enum RosterState {
    /// Called when the roster is stored, or could not be.
    typealias Answer = @Sendable (Bool) -> Void

    /// The store has it.
    case stored
    /// It has changed since.
    case changed(waiting: [Answer])
    /// It is being stored. With `next`, it has changed meanwhile.
    case storing(next: [Answer]?)

    /// The roster has changed. `answer` waits until it is stored.
    mutating func change(_ answer: Answer? = nil) {
        let new = answer.map { [$0] } ?? []
        self =
            switch self {
            case .stored: .changed(waiting: new)
            case .changed(let waiting): .changed(waiting: waiting + new)
            case .storing(let next): .storing(next: (next ?? []) + new)
            }
    }

    /// It is stored now. Returns who waits for it, or `nil` if there is nothing to store, or not yet.
    mutating func begin() -> [Answer]? {
        guard case .changed(let waiting) = self else { return nil }
        self = .storing(next: nil)
        return waiting
    }

    /// The attempt has ended. After a failure the next one follows; who waited has an answer.
    mutating func end(failed: Bool) {
        guard case .storing(let next) = self else { return }
        self = if let next { .changed(waiting: next) } else { failed ? .changed(waiting: []) : .stored }
    }
}
