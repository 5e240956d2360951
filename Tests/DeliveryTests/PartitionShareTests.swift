import Basics
import Testing

@testable import Delivery

/// What one partition gets of what is bounded for all.
@Suite struct PartitionShareTests {
    private static func shares(_ count: Int, _ set: (inout DeliverySettings) -> Void = { _ in })
        -> PartitionShares
    {
        var settings = DeliverySettings()
        set(&settings)
        return PartitionShares(of: settings, among: count)
    }

    @Test("One partition alone has all that the limits promise")
    func one() {
        let shares = Self.shares(1)
        #expect(shares.idleDevices == Limits.idleDevicesInMemory)
        #expect(shares.passingDevices == Limits.passingDevicesInMemory)
        #expect(shares.waitingWrites == Limits.waitingWrites)
        #expect(shares.unwrittenContacts == Limits.unwrittenContacts)
        #expect(shares.contactsPerTick == Limits.contactsPerTick)
        #expect(shares.expiredPerSweep == Limits.expiredPerSweep)
        #expect(shares.sweepMilliseconds == Int64(Limits.deviceSweepMilliseconds))
        #expect(shares.forgottenDevices == Rate(200, perSeconds: 360))
        #expect(shares.topicJobs == Limits.topicJobs && shares.topicPages == Limits.topicPagesInFlight)
        #expect(shares.waitingInstallations == Limits.waitingInstallations)
        #expect(shares.groupRequests == Limits.groupRequestsWaiting)
        #expect(shares.groupSends == Limits.groupSendsWaiting)
    }

    @Test("Sixteen partitions have together what one has, but for what one of them needs at least")
    func sixteen() {
        let shares = Self.shares(16)
        #expect(shares.idleDevices * 16 == Limits.idleDevicesInMemory)
        #expect(shares.passingDevices * 16 == Limits.passingDevicesInMemory)
        #expect(shares.waitingWrites * 16 == Limits.waitingWrites)
        #expect(shares.unwrittenContacts * 16 == Limits.unwrittenContacts)
        #expect(shares.contactsPerTick == 3)
        #expect(shares.expiredPerSweep == Limits.leastExpiredPerSweep)
        #expect(shares.sweepMilliseconds == 16 * Int64(Limits.deviceSweepMilliseconds))
        #expect(shares.topicJobs == Limits.topicJobsPerSender && shares.topicPages == 1)
        #expect(shares.waitingInstallations == Limits.leastWaitingRequests)
        #expect(shares.groupRequests == Limits.leastWaitingRequests)
        #expect(shares.groupSends == Limits.leastWaitingRequests)
    }

    @Test(
        "However many there are, devices are forgotten as slowly as by one",
        arguments: [1, 2, 16, 200, 1_024])
    func forgotten(_ count: Int) {
        let rate = Self.shares(count).forgottenDevices
        #expect(rate.burst >= 1 && (rate.burst == 1 || rate.burst * count <= Limits.devicesForgottenAtOnce))
        let perHour = Double(rate.burst * count) * 3_600 / Double(rate.seconds)
        #expect(perHour <= Double(Limits.devicesForgottenPerHour))
        #expect(perHour >= Double(Limits.devicesForgottenPerHour) * 0.9)
    }

    @Test("The most partitions have what one device, sender or commit may need; a smaller setting is kept to")
    func most() {
        let shares = Self.shares(1_024)
        #expect(shares.idleDevices == 97 && shares.passingDevices == Limits.topicPage)
        #expect(shares.waitingWrites == Limits.writesPerCommit && shares.contactsPerTick == 1)
        #expect(shares.unwrittenContacts == Limits.leastUnwrittenContacts && shares.topicPages == 1)
        let small = Self.shares(1_024) { ($0.idleDevicesInMemory, $0.waitingWrites) = (3, 5) }
        #expect(small.idleDevices == 3 && small.waitingWrites == 5)
    }
}
