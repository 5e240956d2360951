import Basics

/// Counts of what one partition holds in memory.
public struct PartitionFigures: Sendable, Equatable {
    /// Batches that the store has not answered.
    public var batches = 0
    public var devices = 0
    /// Devices that are connected.
    public var connectedDevices = 0
    /// Events that wait for a device to be read from the store.
    public var waitingEvents = 0
    /// Topic messages in the log.
    public var liveTopicMessages = 0
    /// Topic messages of its senders that not all partitions have.
    public var openTopicMessages = 0
    /// Sessions of app servers.
    public var sessions = 0
    /// Contact times that are not yet written to the store.
    public var pendingLastSeen = 0
    /// Upstream messages that were read from the store and not yet sent.
    public var backlog = 0
    /// Upstream messages and receipts that app servers have not acknowledged.
    public var outstanding = 0
    /// Removals in progress or to be retried.
    public var leaving = 0
    /// Devices whose upstream messages stick to one session.
    public var stickyDevices = 0
}

extension Partition {
    /// Counts what is in memory. Visits all of it, so it is meant for checks only.
    public var figures: PartitionFigures {
        var figures = PartitionFigures()
        figures.batches = turn.ledger.unanswered
        figures.pendingLastSeen = devices.pendingLastSeen.count
        figures.liveTopicMessages = devices.feed.log.count
        figures.openTopicMessages = topics.open
        for entry in devices.table.all {
            figures.devices += 1
            figures.connectedDevices += entry.link == nil ? 0 : 1
            figures.waitingEvents += entry.state.waiting.count
        }
        for entry in senders.table.all {
            figures.sessions += entry.sessions.count
            figures.backlog += entry.backlog.count
            figures.leaving += entry.leaving.count + entry.failedRemovals.count
            figures.stickyDevices += entry.sticky.count
            for session in entry.sessions {
                figures.outstanding += session.window.messages.count + session.window.receipts.count
            }
        }
        return figures
    }
}
