import Basics
import Testing

@testable import Delivery

/// One partition's share of the global limits.
@Suite struct PartitionShareTests {
    private static func shares(_ count: Int, _ set: (inout DeliverySettings) -> Void = { _ in })
        -> PartitionShares
    {
        var settings = DeliverySettings()
        set(&settings)
        return PartitionShares(of: settings, among: count)
    }

    @Test("A single partition gets the full limits")
    func one() {
        let shares = Self.shares(1)
        #expect(shares.idleDevices == Limits.Device.idleInMemory)
        #expect(shares.transientDevices == Limits.Device.transientInMemory)
        #expect(shares.waitingWrites == Limits.Store.waitingWrites)
        #expect(shares.pendingLastSeen == Limits.Device.pendingLastSeen)
        #expect(shares.lastSeenPerTick == Limits.Device.lastSeenPerTick)
        #expect(shares.expiredPerSweep == Limits.Store.expiredPerSweep)
        #expect(shares.sweepMilliseconds == Int64(Limits.Device.sweepMilliseconds))
        #expect(shares.forgottenDevices == Rate(200, perSeconds: 360))
        #expect(shares.openTopics == Limits.Topic.open && shares.liveTopics == Limits.Topic.live)
        #expect(shares.waitingInstallations == Limits.Installation.waiting)
        #expect(shares.groupRequests == Limits.Group.waitingRequests)
        #expect(shares.groupSends == Limits.Group.waitingSends)
    }

    @Test("Sixteen partitions together get the full limits, except where a minimum per partition applies")
    func sixteen() {
        let shares = Self.shares(16)
        #expect(shares.idleDevices * 16 == Limits.Device.idleInMemory)
        #expect(shares.transientDevices * 16 == Limits.Device.transientInMemory)
        #expect(shares.waitingWrites * 16 == Limits.Store.waitingWrites)
        #expect(shares.pendingLastSeen * 16 == Limits.Device.pendingLastSeen)
        #expect(shares.lastSeenPerTick == 3)
        #expect(shares.expiredPerSweep == Limits.Partition.leastExpiredPerSweep)
        #expect(shares.sweepMilliseconds == 16 * Int64(Limits.Device.sweepMilliseconds))
        #expect(
            shares.openTopics == Limits.Topic.openPerSender && shares.liveTopics == Limits.Topic.live / 16)
        #expect(shares.waitingInstallations == Limits.Partition.leastWaitingRequests)
        #expect(shares.groupRequests == Limits.Partition.leastWaitingRequests)
        #expect(shares.groupSends == Limits.Partition.leastWaitingRequests)
    }

    @Test(
        "The rate of device removals does not grow with the number of partitions",
        arguments: [1, 2, 16, 200, 1_024])
    func forgotten(_ count: Int) {
        let rate = Self.shares(count).forgottenDevices
        #expect(
            rate.burst >= 1 && (rate.burst == 1 || rate.burst * count <= Limits.Clock.devicesForgottenAtOnce))
        let perHour = Double(rate.burst * count) * 3_600 / Double(rate.seconds)
        #expect(perHour <= Double(Limits.Clock.devicesForgottenPerHour))
        #expect(perHour >= Double(Limits.Clock.devicesForgottenPerHour) * 0.9)
    }

    @Test("Each of the maximum number of partitions gets the minimum shares, unless a setting is smaller")
    func most() {
        let shares = Self.shares(1_024)
        #expect(shares.idleDevices == 97 && shares.transientDevices == Limits.Topic.page)
        #expect(shares.waitingWrites == Limits.Store.writesPerCommit && shares.lastSeenPerTick == 1)
        #expect(shares.pendingLastSeen == Limits.Partition.leastPendingLastSeen)
        #expect(shares.liveTopics == Limits.Topic.livePerTopic)
        #expect(shares.topicDevices == Limits.Topic.devicesPerBatch / TopicTurns.partitionsAtOnce)
        #expect(shares.topicBodyBytes == Limits.Partition.leastTopicBodyBytes)
        let small = Self.shares(1_024) { ($0.idleDevicesInMemory, $0.waitingWrites) = (3, 5) }
        #expect(small.idleDevices == 3 && small.waitingWrites == 5)
    }
}
