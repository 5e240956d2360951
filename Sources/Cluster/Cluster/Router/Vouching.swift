public import Basics
public import Delivery

/// Requests whose credentials were checked by what this node has of their senders, which may be out of date.
///
/// Each waits until the node has all that was confirmed of its sender: if the sender is as it was, the request goes on; if not, or if that
/// takes too long, its client is answered that the owner cannot be reached, and sends it again.
public struct Vouching: Sendable {
    private struct Entry: Sendable {
        var event: Event
        var sender: SenderID
        /// What this node had of the sender.
        var record: SenderRecord?
        var until: Instant
    }

    /// What becomes of a request.
    public enum Outcome: Sendable {
        case goesOn(Event)
        case refused(UnreachedAnswer)
    }

    private var waiting: [Entry] = []

    /// Creates the state of a reactor: nothing waits.
    public init() {}

    /// Whether nothing waits.
    public var isEmpty: Bool { waiting.isEmpty }

    /// Keeps a request with the record that this node has of its sender. Returns its answer if too many wait.
    public mutating func keep(
        _ event: consuming Event, of sender: SenderID, _ record: SenderRecord?, now: Instant
    ) -> UnreachedAnswer? {
        guard waiting.count < Limits.ClusterHost.heldEvents else { return event.answerWhenUnreached() }
        let until = now.advanced(milliseconds: Limits.ClusterHost.heldMilliseconds)
        waiting.append(Entry(event: event, sender: sender, record: record, until: until))
        return nil
    }

    /// Removes and returns the requests whose senders are up to date, or whose time is over, in order.
    public mutating func review(
        now: Instant, isCurrent: (SenderID) -> Bool, record: (SenderID) -> SenderRecord?
    ) -> [Outcome] {
        var outcomes: [Outcome] = []
        var rest: [Entry] = []
        for entry in waiting {
            if isCurrent(entry.sender), record(entry.sender) == entry.record {
                outcomes.append(.goesOn(entry.event))
            } else if isCurrent(entry.sender) || entry.until <= now {
                outcomes.append(.refused(entry.event.answerWhenUnreached()))
            } else {
                rest.append(entry)
            }
        }
        waiting = rest
        return outcomes
    }
}
