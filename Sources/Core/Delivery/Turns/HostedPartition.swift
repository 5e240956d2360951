import Basics

/// A partition on its reactor, with the events that wait for it and its effects in the current turn.
public final class HostedPartition {
    /// What a partition is to its node.
    enum Presence {
        case serving
        /// Another node is to own it.
        case leaving
        /// The lease was surrendered: another node may decide.
        case surrendered
    }

    /// The number of the partition.
    public let number: Int
    /// The partition itself.
    public var core: Partition
    /// The events of the current turn that wait for the end of its input.
    var events: [Event] = []
    /// The effects of the current turn; empty between turns.
    public var effects: Effects {
        _read { yield core.effects }
        _modify { yield &core.effects }
    }
    /// Whether the partition had an event in this turn.
    var isActive = false
    /// Whether it waits for its turn to send topic messages (`TopicTurns`).
    var waitsForTopics = false
    /// What the partition is to this node. Once it leaves, it gets only the reports for what it has asked the store.
    var presence = Presence.serving
    /// Batches and queries without a report.
    var openRequests = 0
    /// The lease of this node and what may pass by it; `nil` without a cluster.
    var leased: (lease: any DecisionLease, gate: OutputGate)?

    init(
        _ number: Int, _ core: consuming Partition,
        _ leased: (lease: any DecisionLease, gate: OutputGate)? = nil
    ) {
        self.number = number
        self.core = core
        self.leased = leased
    }

    /// Whether another node is to own the partition.
    var isLeaving: Bool { presence != .serving }

    /// Whether there are commands for sessions or events for other partitions.
    var hasOutput: Bool { !effects.commands.isEmpty || !effects.forwards.isEmpty }

    /// Holds back what may not go out now, and adds what has waited for that. Returns until when the rest may go out.
    func passGate(_ time: () -> Instant) -> Instant {
        guard let lease = leased?.lease else { return .distantFuture }
        let until = passGate(lease, time)
        guard leased?.gate.isHolding == true else { return until }
        lease.wait()
        // It may have been confirmed meanwhile.
        return time() < lease.until ? passGate(lease, time) : .distantFuture
    }

    private func passGate(_ lease: any DecisionLease, _ time: () -> Instant) -> Instant {
        let standing: OutputGate.Standing =
            switch presence {
            case .serving: .owned(until: lease.until)
            case .leaving: .leaving(until: lease.until)
            case .surrendered: .lost
            }
        // Read for each partition, as late as possible: the process may have stood still since the turn began.
        return leased?.gate.pass(&effects, standing, now: time()) ?? .distantFuture
    }
}
