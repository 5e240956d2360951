public import Basics

/// How long a node has had all that is confirmed of a partition, without a gap.
///
/// What a request was checked by is read before anything asks whether it was up to date. That it is so afterwards proves nothing: the node
/// may have caught up in between.
public struct KnownSpan: Sendable {
    /// When the node had all of it for the first time since the last gap.
    public private(set) var since = Instant.distantFuture
    /// Until when what it has counts as up to date.
    public private(set) var until = Instant.distantPast

    /// Creates a span of a node that has nothing yet.
    public init() {}

    /// Notes until when what the node has by `now` counts as up to date. A span that has ended begins anew.
    public mutating func extend(until end: Instant, now: Instant) {
        if until <= now { since = now }
        until = end
    }

    /// Whether what was read at `start` or later was up to date, and counts as that `now`.
    public func covers(from start: Instant, to now: Instant) -> Bool { since <= start && now < until }

    /// Whether a session that its owner has let in may send `now`.
    ///
    /// The owner closes it when its sender is suspended, and the node refuses what it sends as soon as it has that too; so this needs to hold
    /// only where both the owner and the log are out of reach for long.
    public func coversSessions(_ now: Instant) -> Bool {
        until > .distantPast && now < until.advanced(milliseconds: Limits.ClusterHost.sessionMilliseconds)
    }
}
