import Basics

/// How much of everything one partition holds in memory.
public struct PartitionFigures: Sendable, Equatable {
    /// Batches that the store has not answered.
    public var batches = 0
    /// Devices.
    public var devices = 0
    /// Devices that are connected.
    public var connectedDevices = 0
    /// Events that wait for the state of a device.
    public var waitingEvents = 0
    /// Sessions of app servers.
    public var sessions = 0
    /// Contacts that the store has not been told of.
    public var unwrittenContacts = 0
    /// Upstream messages that are read and not handed over.
    public var backlog = 0
    /// Upstream messages and receipts that app servers have not answered.
    public var outstanding = 0
    /// Removals on their way, or to be tried again.
    public var leaving = 0
    /// Devices whose upstream messages keep to one session.
    public var stickyDevices = 0
}

extension Partition {
    /// Counts what is in memory: for checks, since it visits all of it.
    public var figures: PartitionFigures {
        var figures = PartitionFigures()
        figures.batches = turn.ledger.unanswered
        figures.unwrittenContacts = devices.contacts.count
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
