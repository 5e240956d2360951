import Basics

/// One partition's share of the limits that hold for all partitions: an equal part, so that the total stays within the settings and
/// limits, but at least what one device, sender or request needs (`LimitsPartitions.swift`).
///
/// Where these minimums add up to more than the total, the store still bounds what waits for it (`Limits.Store.waitingWrites`,
/// `Limits.Store.waitingQueries`).
struct PartitionShares {
    /// Idle devices in memory, and how many of them can be transient.
    let idleDevices: Int
    let transientDevices: Int
    /// Mutations waiting for the store above which submissions are refused.
    let waitingWrites: Int
    /// Contact times of devices that are still to be written, and how many are retried per tick.
    let pendingLastSeen: Int
    let lastSeenPerTick: Int
    /// Expired messages removed per search.
    let expiredPerSweep: Int
    /// Milliseconds between two searches of this partition for unused devices or installations: the partitions take turns, so that
    /// together they search as often as one would.
    let sweepMilliseconds: Int64
    /// Rate of devices that can be removed for their age.
    let forgottenDevices: Rate
    /// Topic messages that other partitions do not have yet.
    let openTopics: Int
    /// Live topic messages in the log.
    let liveTopics: Int
    /// Bytes of the pairs of topic messages in memory.
    let topicBodyBytes: Int
    /// Connected devices that topic messages are sent to in one batch, of which few partitions of a reactor have one at a time.
    let topicDevices: Int
    /// Shared pairs whose entries are counted.
    let countedBodies: Int
    /// Requests that can wait, by kind: installation requests, group requests, group messages.
    let waitingInstallations: Int
    let groupRequests: Int
    let groupSends: Int
    /// Scheduled messages: of one sender, and of all.
    let scheduledPerSender: Int
    let scheduled: Int
    /// Submissions that can wait for a verdict of APNs.
    let waitingVerdicts: Int

    /// Creates the share of one of `count` partitions.
    init(of settings: borrowing DeliverySettings, among count: Int) {
        func share(_ whole: Int, atLeast least: Int = 1) -> Int { max(min(whole, least), whole / count) }
        idleDevices = share(settings.idleDevicesInMemory, atLeast: Limits.Partition.leastIdleDevices)
        transientDevices = share(
            Limits.Device.transientInMemory, atLeast: Limits.Partition.leastTransientDevices)
        waitingWrites = share(settings.waitingWrites, atLeast: Limits.Partition.leastWaitingWrites)
        pendingLastSeen = share(
            Limits.Device.pendingLastSeen, atLeast: Limits.Partition.leastPendingLastSeen)
        lastSeenPerTick = share(Limits.Device.lastSeenPerTick)
        expiredPerSweep = share(Limits.Store.expiredPerSweep, atLeast: Limits.Partition.leastExpiredPerSweep)
        sweepMilliseconds = Int64(Limits.Device.sweepMilliseconds * count)
        forgottenDevices = Rate(
            Limits.Clock.devicesForgottenAtOnce,
            perSeconds: Limits.Clock.devicesForgottenAtOnce * 3_600 / Limits.Clock.devicesForgottenPerHour
        ).share(of: count)
        openTopics = share(Limits.Topic.open, atLeast: Limits.Partition.leastOpenTopics)
        liveTopics = share(settings.liveTopicMessages, atLeast: settings.liveMessagesPerTopic)
        topicBodyBytes = share(Limits.Topic.bodyBytes, atLeast: Limits.Partition.leastTopicBodyBytes)
        topicDevices = max(
            Limits.Partition.leastTopicDevices,
            settings.topicDevicesPerBatch / min(count, TopicTurns.partitionsAtOnce))
        countedBodies = share(Limits.SharedBody.counted)
        waitingInstallations = share(
            Limits.Installation.waiting, atLeast: Limits.Partition.leastWaitingRequests)
        groupRequests = share(Limits.Group.waitingRequests, atLeast: Limits.Partition.leastWaitingRequests)
        groupSends = share(Limits.Group.waitingSends, atLeast: Limits.Partition.leastWaitingRequests)
        scheduledPerSender = share(
            settings.scheduledPerSender, atLeast: Limits.Schedule.perDevice)
        scheduled = share(settings.scheduledMessages, atLeast: Limits.Schedule.perDevice)
        waitingVerdicts = share(Limits.APNs.waitingVerdicts, atLeast: Limits.Partition.leastWaitingRequests)
    }
}
