import Basics

/// What one partition gets of what is bounded for all of them: an equal share of it, so that the whole stays what the settings and
/// the limits promise, and at least what one device, sender or request may bring (`LimitsPartitions.swift`).
///
/// Where the shares together are more than the whole for that reason, the store bounds what waits for it all the same
/// (`Limits.Store.waitingWrites`, `Limits.Store.waitingLoads`).
struct PartitionShares {
    /// Devices in memory that nothing happens to, and those among them that only a message to a topic has met.
    let idleDevices: Int
    let passingDevices: Int
    /// Changes on their way to the store beyond which submissions are refused.
    let waitingWrites: Int
    /// Last contacts of devices that are still to be written, and how many are tried again at a tick.
    let unwrittenContacts: Int
    let contactsPerTick: Int
    /// Expired messages removed in one sweep.
    let expiredPerSweep: Int
    /// Milliseconds between two searches of this partition for devices, or installations, that nobody uses: the partitions take
    /// turns, so that together they search as often as one would.
    let sweepMilliseconds: Int64
    /// Devices that may be forgotten for their age.
    let forgottenDevices: Rate
    /// Messages to topics, and pages of them, that may be under way.
    let topicJobs: Int
    let topicPages: Int
    /// Requests that may wait, of each kind: about installations, about groups, messages to groups.
    let waitingInstallations: Int
    let groupRequests: Int
    let groupSends: Int

    /// The share of one of `count` partitions.
    init(of settings: borrowing DeliverySettings, among count: Int) {
        func share(_ whole: Int, atLeast least: Int = 1) -> Int { max(min(whole, least), whole / count) }
        idleDevices = share(settings.idleDevicesInMemory, atLeast: Limits.Partition.leastIdleDevices)
        passingDevices = share(Limits.Device.visitingInMemory, atLeast: Limits.Partition.leastVisitingDevices)
        waitingWrites = share(settings.waitingWrites, atLeast: Limits.Partition.leastWaitingWrites)
        unwrittenContacts = share(
            Limits.Device.unwrittenContacts, atLeast: Limits.Partition.leastUnwrittenContacts)
        contactsPerTick = share(Limits.Device.contactsPerTick)
        expiredPerSweep = share(Limits.Store.expiredPerSweep, atLeast: Limits.Partition.leastExpiredPerSweep)
        sweepMilliseconds = Int64(Limits.Device.sweepMilliseconds * count)
        forgottenDevices = Rate(
            Limits.Clock.devicesForgottenAtOnce,
            perSeconds: Limits.Clock.devicesForgottenAtOnce * 3_600 / Limits.Clock.devicesForgottenPerHour
        ).share(of: count)
        topicJobs = share(Limits.Topic.jobs, atLeast: Limits.Partition.leastTopicJobs)
        topicPages = min(Limits.Topic.pagesInFlight, share(Limits.Topic.pagesInAll))
        waitingInstallations = share(
            Limits.Installation.waiting, atLeast: Limits.Partition.leastWaitingRequests)
        groupRequests = share(Limits.Group.waitingRequests, atLeast: Limits.Partition.leastWaitingRequests)
        groupSends = share(Limits.Group.waitingSends, atLeast: Limits.Partition.leastWaitingRequests)
    }
}
