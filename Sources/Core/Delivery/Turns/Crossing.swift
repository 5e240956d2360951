public import Basics

/// What a reactor passes to another one, or a node to the others, in one turn.
public struct Crossing: Sendable {
    /// Events, routed by their keys; those without a key are for all partitions of the reactor.
    public var events: [Event] = []
    /// Commands for sessions, in order per connection.
    public var commands: [(ConnectionID, SessionCommand)] = []
    /// Until when the commands may be performed: the end of the leases by which they were decided.
    public var validUntil = Instant.distantFuture

    /// Creates an empty crossing.
    public init() {}

    /// Whether nothing crosses.
    public var isEmpty: Bool { events.isEmpty && commands.isEmpty }

    /// Removes and returns everything.
    public mutating func take() -> Crossing {
        var taken = Crossing()
        swap(&taken, &self)
        return taken
    }
}
