/// Whether a reactor serves a partition, and which way its events go.
///
/// All events of a partition pass its reactor, and those of another owner then the thread of the cluster. When the partition comes to this
/// node, earlier events are still with that thread: later ones follow them until it has passed them back, so that none overtakes.
struct PartitionDoor: Sendable {
    private enum State {
        /// This node does not own it.
        case away
        case serving
        /// Another node is to own it; the store owes it reports.
        case leaving
        /// The same, but it has come back: it is served as soon as its place is free, with these events.
        case returning([Event])
    }

    /// The way of an event.
    enum Way: Hashable, Sendable {
        /// The partition handles it.
        case serve
        /// The door keeps it (`keep`).
        case keep
        /// It goes to the thread of the cluster.
        case passOn
    }

    private var state = State.away
    /// How often the partition was taken since the thread of the cluster has passed back what it had.
    private var fences = 0

    /// This node owns the partition: what the thread of the cluster has goes back first (`fencePassed`). Returns whether to serve it at once.
    mutating func take() -> Bool {
        fences += 1
        switch state {
        case .away:
            state = .serving
            return true
        case .leaving: state = .returning([])
        case .serving, .returning: break
        }
        return false
    }

    /// All events are here that had been passed to the thread of the cluster when the partition was taken.
    mutating func fencePassed() { if fences > 0 { fences -= 1 } }

    /// Another node is to own the partition. Returns the events that wait for the next owner.
    mutating func leave() -> [Event] {
        switch state {
        case .away, .leaving: return []
        case .serving:
            state = .leaving
            return []
        case .returning(let events):
            state = .leaving
            return events
        }
    }

    /// The store owes nothing to the partition that has left. Returns the events with which to serve it again, or `nil` if it is away.
    mutating func becomeFree() -> [Event]? {
        guard case .returning(let events) = state else {
            state = .away
            return nil
        }
        state = .serving
        return events
    }

    /// The way of an event; one that the thread of the cluster has passed back passes the fence.
    func way(isPassedBack: Bool) -> Way {
        guard fences == 0 || isPassedBack else { return .passOn }
        return switch state {
        case .serving: .serve
        case .returning: .keep
        case .away, .leaving: .passOn
        }
    }

    /// Keeps an event until the partition is served.
    mutating func keep(_ event: consuming Event) {
        guard case .returning(var events) = state else { preconditionFailure("a door keeps nothing now") }
        // The storage has one owner while it grows.
        state = .leaving
        events.append(event)
        state = .returning(events)
    }
}
