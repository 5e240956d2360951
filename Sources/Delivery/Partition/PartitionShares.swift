import Basics

/// What one partition gets of what is bounded for all of them: an equal share of it, so that the whole stays what the settings and
/// the limits promise, and at least what one device, sender or request may bring (`LimitsPartitions.swift`).
///
/// Where the shares together are more than the whole for that reason, the store bounds what waits for it all the same
/// (`Limits.waitingWrites`, `Limits.waitingLoads`).
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
        idleDevices = share(settings.idleDevicesInMemory, atLeast: Limits.leastIdleDevices)
        passingDevices = share(Limits.passingDevicesInMemory, atLeast: Limits.leastPassingDevices)
        waitingWrites = share(settings.waitingWrites, atLeast: Limits.leastWaitingWrites)
        unwrittenContacts = share(Limits.unwrittenContacts, atLeast: Limits.leastUnwrittenContacts)
        contactsPerTick = share(Limits.contactsPerTick)
        expiredPerSweep = share(Limits.expiredPerSweep, atLeast: Limits.leastExpiredPerSweep)
        sweepMilliseconds = Int64(Limits.deviceSweepMilliseconds * count)
        forgottenDevices = Rate(
            Limits.devicesForgottenAtOnce,
            perSeconds: Limits.devicesForgottenAtOnce * 3_600 / Limits.devicesForgottenPerHour
        ).share(of: count)
        topicJobs = share(Limits.topicJobs, atLeast: Limits.leastTopicJobs)
        topicPages = min(Limits.topicPagesInFlight, share(Limits.topicPagesInAll))
        waitingInstallations = share(Limits.waitingInstallations, atLeast: Limits.leastWaitingRequests)
        groupRequests = share(Limits.groupRequestsWaiting, atLeast: Limits.leastWaitingRequests)
        groupSends = share(Limits.groupSendsWaiting, atLeast: Limits.leastWaitingRequests)
    }
}
