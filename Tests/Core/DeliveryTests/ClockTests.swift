import Basics
import Delivery
import Testing

/// A wall clock that is wrong at a start or later: nothing expires by it, and messages accepted meanwhile outlive the correction.
@Suite("Clock in doubt") struct ClockTests {
    static let day: Int64 = 86_400_000
    private static let year = 365 * day

    private func settings(days: Int = 270) -> DeliverySettings {
        var settings = DeliverySettings()
        settings.deviceExpirySeconds = days * 86_400
        return settings
    }

    /// A device with a waiting message with a lifetime of a day, in a process that has stored its clock mark.
    func bench(partitions: Int = 1) -> Harness {
        let bench = Harness.withDevice(partitions: partitions, settings: settings())
        bench.store.records[device]?.createdAt = 1_690_000_000_000
        tick(bench)
        bench.submit(1, lifetime: 86_400)
        bench.settle()
        _ = bench.take(appServer)
        return bench
    }

    func tick(_ bench: Harness, times: Int = 6) {
        for _ in 0..<times {
            bench.advance(milliseconds: Int64(Limits.Device.sweepMilliseconds))
            bench.post(.tick)
            bench.settle()
        }
    }

    /// Restarts the machine with its clock changed.
    func restart(_ bench: Harness, setBy milliseconds: Int64) {
        bench.now.wall += milliseconds
        bench.crash(seed: 5)
        tick(bench)
    }

    func doubt(_ bench: Harness) -> ClockDoubt? { bench.partitions[0].core.clockDoubt }

    /// Returns what the device is sent when it logs in.
    func delivered(_ bench: Harness) -> [String] {
        bench.login()
        bench.settle()
        bench.post(.deviceWritable(phone, device))
        bench.settle()
        return bench.take(phone).words.filter { $0.hasPrefix("deliver") }
    }

    @Test(
        "Devices and messages, also new ones, stay when the clock is 400 days ahead at the start"
    )
    func ahead() throws {
        let bench = bench()
        restart(bench, setBy: 400 * Self.day)
        guard case .ahead(let milliseconds) = doubt(bench) else {
            Issue.record("\(String(describing: doubt(bench)))")
            return
        }
        #expect(abs(milliseconds - 400 * Self.day) < 120_000)
        bench.submit(2, lifetime: 60)
        bench.settle()
        tick(bench, times: 200)
        #expect(bench.store.records[device] != nil && bench.store.downPending == 2)
        restart(bench, setBy: -400 * Self.day)
        #expect(doubt(bench) == nil, "the clock is as expected")
        #expect(delivered(bench) == ["deliver m1", "deliver m2"])
        #expect(bench.expiredDevices == 0 && bench.down.expired == 0 && bench.store.holds)
    }

    @Test("A topic message of an earlier process is sent on while the clock is 400 days ahead")
    func topicJob() {
        let bench = bench()
        let topic = TopicSendTests.topics[0]
        bench.store.subscriptions = [
            Subscription(name: Harness.target, sender: Harness.sender, topic: topic, since: 0)
        ]
        bench.post(
            .topicSubmitted(
                TopicSubmission(target: TopicTarget(topic), submission: Harness.submission(2, lifetime: 600)))
        )
        bench.settle(rounds: 1)
        #expect(bench.store.topicMessages.count == 1 && bench.store.downPending == 1)
        restart(bench, setBy: 400 * Self.day)
        #expect(doubt(bench) != nil && bench.store.topicMessages.isEmpty)
        #expect(delivered(bench) == ["deliver m1", "deliver m2"])
    }

    @Test("Sessions go on with the measured time as soon as the clock jumps, before any event")
    func sessionTime() {
        let bench = bench()
        var machine = bench.now
        #expect(bench.partitions[0].core.sessionTime(machine).latestInDoubt == nil)
        machine.wall += 400 * Self.day
        #expect(doubt(bench) == nil, "the partition has not read the clock")
        machine.monotonic = machine.monotonic.advanced(seconds: 4)
        #expect(bench.partitions[0].core.sessionTime(machine).expiryCutoff == bench.now.wall + 4_000)
        #expect(bench.partitions[0].core.sessionTime(machine).wall == bench.now.wall + 4_000)
    }

    @Test("The time for sessions is in doubt after a start with a wrong clock")
    func sessionTimeInDoubt() {
        let bench = bench()
        restart(bench, setBy: 400 * Self.day)
        #expect(bench.partitions[0].core.sessionTime(bench.now).expiryCutoff == .min)
        #expect(bench.partitions[0].core.sessionTime(bench.now).wall == bench.now.wall)
    }

    @Test("A clock jump is detected while running, and a connected device receives its messages meanwhile")
    func running() {
        let bench = bench(partitions: 3)
        bench.now.wall += 400 * Self.day
        tick(bench)
        #expect(bench.partitions.allSatisfy { $0.core.clockDoubt != nil })
        #expect(delivered(bench) == ["deliver m1"])
        bench.submit(3, lifetime: 60)
        bench.settle()
        #expect(bench.take(phone).words.contains("deliver m3"))
        bench.now.wall -= 400 * Self.day
        tick(bench)
        #expect(bench.partitions.allSatisfy { $0.core.clockDoubt == nil })
    }

    @Test(
        "A message accepted while the clock is set back has its whole lifetime after the correction",
        arguments: [-3_600_000, -2_592_000_000, -1_690_000_000_000] as [Int64])
    func behind(by: Int64) {
        let bench = bench()
        restart(bench, setBy: by)
        #expect(doubt(bench) != nil)
        bench.submit(2, lifetime: 600)
        bench.settle()
        restart(bench, setBy: -by)
        #expect(doubt(bench) == nil)
        #expect(delivered(bench) == ["deliver m1", "deliver m2"])
        #expect(bench.down.expired == 0)
    }

    @Test(
        "A device that registers at a first start in 1970 is not fifty years old when the clock is corrected")
    func nineteenSeventy() {
        var settings = settings()
        settings.unusedDeviceSeconds = 0
        let bench = checkedInFiftyYearsAgo(settings)
        // From then on it ages like all other devices.
        tick(bench)
        bench.advance(milliseconds: 269 * Self.day)
        tick(bench)
        #expect(bench.store.records[device] != nil)
        bench.advance(milliseconds: 3 * Self.day)
        tick(bench)
        #expect(bench.store.records[device] == nil)
    }

    @Test("An unused device from 1970 has its full day after the clock is corrected")
    func unused() {
        let bench = checkedInFiftyYearsAgo(settings())
        bench.advance(milliseconds: Self.day - 3_600_000)
        tick(bench)
        #expect(bench.store.records[device] != nil)
        bench.advance(milliseconds: 2 * 3_600_000)
        tick(bench)
        #expect(bench.store.records[device] == nil && bench.unusedDevices == 1)
    }

    /// A device that checked in when the clock showed 1970; it has been set right since.
    private func checkedInFiftyYearsAgo(_ settings: DeliverySettings) -> Harness {
        let bench = Harness(settings: settings)
        bench.now.wall = 60_000
        bench.crash(seed: 4)
        tick(bench)
        #expect(doubt(bench) == .impossible)
        bench.post(
            .checkIn(
                CheckIn(
                    requester: Requester(connection: web, requestID: 1), claimed: nil, freshDevice: device,
                    freshToken: 1, freshDigest: token, refusesWrongToken: true)))
        bench.settle()
        bench.now.wall += 56 * Self.year
        tick(bench)
        #expect(doubt(bench) == nil && bench.store.records[device] != nil)
        return bench
    }

    @Test(
        "A message has its whole lifetime after the correction when no time was accepted before",
        arguments: [60_000, Limits.Clock.latest])
    func neverBelieved(wall: UnixMilliseconds) {
        let bench = Harness.withDevice(settings: settings())
        let right = bench.now.wall
        bench.now.wall = wall
        bench.crash(seed: 4)
        #expect(doubt(bench) == .impossible && bench.store.marksOfProcess[.clock] == nil)
        bench.submit(1, lifetime: 600)
        bench.settle()
        bench.now.wall = right
        tick(bench)
        #expect(doubt(bench) == nil)
        #expect(delivered(bench) == ["deliver m1"])
        #expect(bench.down.expired == 0 && bench.store.holds)
    }

    @Test("A device has its full time from the acceptance of the clock when its last contact was in doubt")
    func contactInDoubt() {
        let bench = bench()
        restart(bench, setBy: 400 * Self.day)
        #expect(delivered(bench) == ["deliver m1"])
        bench.post(.deviceClosed(phone, device))
        bench.settle()
        bench.post(.clockAccepted(by: .operator))
        tick(bench)
        #expect(doubt(bench) == nil)
        #expect(bench.store.records[device] != nil && bench.expiredDevices == 0)
        bench.advance(milliseconds: 269 * Self.day)
        tick(bench)
        #expect(bench.store.records[device] != nil)
        bench.advance(milliseconds: 3 * Self.day)
        tick(bench)
        #expect(bench.store.records[device] == nil && bench.expiredDevices == 1)
    }

    @Test("A corrected clock is accepted when an operator has accepted an impossible time before")
    func acceptedImpossible() {
        let bench = bench()
        let back = bench.now.wall - 60_000
        bench.now.wall -= back
        tick(bench)
        bench.post(.clockAccepted(by: .operator))
        tick(bench)
        #expect(doubt(bench) == .impossible)
        bench.now.wall += back
        tick(bench)
        #expect(doubt(bench) == nil)
    }

    @Test("A doubt ends after the grace period of running time, and not before")
    func grace() {
        let bench = bench()
        restart(bench, setBy: 400 * Self.day)
        bench.advance(milliseconds: Int64(Limits.Clock.graceSeconds - 60) * 1_000)
        tick(bench)
        #expect(doubt(bench) != nil && bench.store.downPending == 1)
        bench.advance(milliseconds: 60_000)
        tick(bench)
        #expect(doubt(bench) == nil)
        #expect(
            bench.store.downPending == 0 && bench.store.records[device] == nil, "both had expired long before"
        )
        restart(bench, setBy: 0)
        #expect(doubt(bench) == nil, "the next process loads the accepted time")
    }

    @Test("A second jump restarts the grace period, and an impossible time is never accepted")
    func graceAnew() {
        let bench = bench()
        restart(bench, setBy: 400 * Self.day)
        bench.advance(milliseconds: Int64(Limits.Clock.graceSeconds - 60) * 1_000)
        bench.now.wall += 400 * Self.day
        tick(bench)
        bench.advance(milliseconds: 120_000)
        tick(bench)
        #expect(doubt(bench) != nil)
        bench.now.wall = 60_000
        tick(bench)
        bench.advance(milliseconds: 30 * Int64(Limits.Clock.graceSeconds) * 1_000)
        bench.post(.clockAccepted(by: .operator))
        tick(bench)
        #expect(doubt(bench) == .impossible && bench.store.downPending == 1)
    }

    @Test("A doubt ends in every partition when an operator accepts the clock")
    func accepted() {
        let bench = bench(partitions: 3)
        restart(bench, setBy: 400 * Self.day)
        bench.post(.clockAccepted(by: .operator))
        bench.settle()
        #expect(bench.partitions.allSatisfy { $0.core.clockDoubt == nil })
    }

    /// Sends a message of a device with its own time. Returns whether that confirms the server's clock.
    func confirms(_ bench: Harness, sentAt: UnixMilliseconds?) -> Bool {
        var upstream = Harness.upstream(9)
        upstream.sentAt = sentAt
        bench.post(.upstreamReceived(upstream))
        bench.settle()
        defer { bench.confirmations = 0 }
        return bench.confirmations > 0
    }

    @Test(
        "A known device with a right clock confirms the clock; a new device, a wrong clock and no clock do not"
    )
    func confirmed() {
        let bench = bench()
        #expect(!confirms(bench, sentAt: bench.now.wall), "the clock is not in doubt")
        restart(bench, setBy: 400 * Self.day)
        let wall = bench.now.wall
        let others: [UnixMilliseconds?] = [nil, 0, .min, .max, wall - 400 * Self.day, wall + 7_200_000]
        for sentAt in others {
            #expect(!confirms(bench, sentAt: sentAt))
        }
        bench.crash(seed: 6)
        tick(bench)
        bench.store.records[device]?.createdAt = bench.now.wall - 1
        #expect(!confirms(bench, sentAt: bench.now.wall), "a new device")
        let known = self.bench()
        restart(known, setBy: 400 * Self.day)
        #expect(confirms(known, sentAt: known.now.wall - 1_000))
        known.post(.clockAccepted(by: .device))
        known.settle()
        #expect(doubt(known) == nil)
    }

    @Test("A plausible time is accepted: after a weekend without power, a minute back, with an empty store")
    func plausible() {
        for step in [0, 252_000_000, -50_000] as [Int64] {
            let bench = bench()
            restart(bench, setBy: step)
            #expect(doubt(bench) == nil, "\(step)")
        }
        let fresh = Harness(settings: settings())
        fresh.now.wall += 2 * Self.year
        fresh.crash(seed: 3)
        tick(fresh)
        #expect(doubt(fresh) == nil)
    }

    @Test("Devices expire at a bounded rate per hour when an operator accepts a wrong clock")
    func bounded() {
        let bench = Harness(settings: settings(days: 10))
        for number in 1...1_000 as ClosedRange<UInt64> {
            let id = DeviceID(number)
            bench.store.records[id] = DeviceRecord(
                device: id, token: token, createdAt: 1_690_000_000_000, seenAt: 1_699_000_000_000,
                nextRegistration: 1)
        }
        bench.now.wall += 400 * Self.day
        tick(bench, times: 60)
        #expect(bench.expiredDevices == 0)
        bench.post(.clockAccepted(by: .operator))
        tick(bench, times: 60)
        #expect((1...Limits.Clock.devicesForgottenAtOnce + 100).contains(bench.expiredDevices))
        bench.advance(milliseconds: 1_000)
        let before = bench.expiredDevices
        tick(bench, times: 600)
        #expect(bench.expiredDevices - before <= Limits.Clock.devicesForgottenPerHour / 6 + 50)
    }
    @Test("Devices expire at the same bounded rate when their last contacts are still to be written")
    func boundedWithUnwrittenContacts() {
        let bench = Harness(settings: settings(days: 10))
        let partition = bench.partitions[0]
        for number in 1...1_000 as ClosedRange<UInt64> {
            let id = DeviceID(number)
            bench.store.records[id] = DeviceRecord(
                device: id, token: token, createdAt: 1_690_000_000_000, seenAt: 1_699_900_000_000,
                nextRegistration: 1)
            bench.post(
                .checkIn(
                    CheckIn(
                        requester: Requester(connection: web, requestID: 1), claimed: (id, token),
                        freshDevice: DeviceID(number + 1_000), freshToken: 1, freshDigest: token,
                        refusesWrongToken: true)))
        }
        bench.runTurns()
        while !partition.loads.isEmpty {
            bench.read(partition)
            bench.reportAnswer(partition)
        }
        bench.runTurns()
        bench.apply(partition, failing: true)
        bench.reportOutcome(partition)
        bench.settle()
        #expect(partition.core.figures.pendingLastSeen == 1_000, "canary: the writes have failed")
        bench.now.wall += 400 * Self.day
        bench.post(.clockAccepted(by: .operator))
        bench.settle()
        #expect(bench.expiredDevices <= Limits.Clock.devicesForgottenAtOnce)
        tick(bench, times: 60)
        #expect((1...Limits.Clock.devicesForgottenAtOnce + 100).contains(bench.expiredDevices))
        #expect(partition.core.figures.pendingLastSeen == 0)
    }
}
