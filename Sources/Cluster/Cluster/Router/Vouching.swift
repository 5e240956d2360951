public import Basics
public import Delivery

/// Requests whose credentials were checked by what this node has of their senders, or whose session was let in by it, which may be out of
/// date.
///
/// Each waits until the node has all that was confirmed of its sender: if the sender is as it was, the request goes on; if not, or if that
/// takes too long, its client is answered that the owner cannot be reached, and sends it again. The requests of a sender keep their order:
/// those of a connection may be pipelined.
public struct Vouching: Sendable {
    /// Whose requests keep their order: an app server's sessions do not wait behind requests by HTTP.
    private struct Source: Hashable, Sendable {
        var sender: SenderID
        var isSession: Bool
    }

    private struct Entry: Sendable {
        var event: Event
        var source: Source
        /// What this node had of the sender.
        var record: SenderRecord?
        var until: Instant
    }

    /// Which way a new request goes.
    public enum Way: Hashable, Sendable {
        case passes
        /// It is to be kept.
        case waits
        /// It is answered that the owner cannot be reached.
        case refused
    }

    /// What becomes of a request that was kept.
    public enum Outcome: Sendable {
        case goesOn(Event)
        case refused(UnreachedAnswer)
    }

    private var waiting: [Entry] = []
    private var sources: Set<Source> = []

    /// Creates the state of a reactor: nothing waits.
    public init() {}

    /// Whether nothing waits.
    public var isEmpty: Bool { waiting.isEmpty }

    /// Returns which way a request goes whose sender has a record, which this node read when the request came or earlier.
    ///
    /// A session was let in earlier. Its sender may have been suspended since, and the close that its owner sends may be late; a request
    /// with credentials of its own is answered where they are checked.
    public func way(
        of sender: SenderID, _ record: SenderRecord?, isSession: Bool, isCurrent: Bool
    ) -> Way {
        if isSession, record?.isSuspended ?? true { return .refused }
        let isHeld = sources.contains(Source(sender: sender, isSession: isSession))
        return isCurrent && !isHeld ? .passes : .waits
    }

    /// Keeps a request with the record that this node has of its sender. Returns its answer if too many wait.
    public mutating func keep(
        _ event: consuming Event, of sender: SenderID, _ record: SenderRecord?, isSession: Bool, now: Instant
    ) -> UnreachedAnswer? {
        guard waiting.count < Limits.ClusterHost.heldEvents else { return event.answerWhenUnreached() }
        let until = now.advanced(milliseconds: Limits.ClusterHost.heldMilliseconds)
        let source = Source(sender: sender, isSession: isSession)
        waiting.append(Entry(event: event, source: source, record: record, until: until))
        sources.insert(source)
        return nil
    }

    /// Removes and returns the requests whose senders are up to date, or whose time is over, in order.
    public mutating func review(
        now: Instant, isCurrent: (SenderID) -> Bool, record: (SenderID) -> SenderRecord?
    ) -> [Outcome] {
        var outcomes: [Outcome] = []
        var rest: [Entry] = []
        // Asked once for each sender: what is known may change meanwhile.
        let current = Set(sources.lazy.map(\.sender)).filter(isCurrent)
        for entry in waiting {
            let isCurrent = current.contains(entry.source.sender)
            if isCurrent, record(entry.source.sender) == entry.record {
                outcomes.append(.goesOn(entry.event))
            } else if isCurrent || entry.until <= now {
                outcomes.append(.refused(entry.event.answerWhenUnreached()))
            } else {
                rest.append(entry)
            }
        }
        waiting = rest
        if !outcomes.isEmpty { sources = Set(rest.lazy.map(\.source)) }
        return outcomes
    }
}
