import Basics
import Delivery
import Testing

/// `delay_while_idle`: messages that wait until the device is active (ccs-xmpp 6, mcs-device 3.5).
@Suite struct IdleTests {
    /// A connected device that has reported that it is idle.
    private func bench(settings: DeliverySettings = DeliverySettings()) -> Harness {
        let bench = Harness.withDevice(settings: settings)
        bench.login()
        bench.settle()
        report(bench, isIdle: true)
        _ = bench.take(phone)
        return bench
    }

    private func report(_ bench: Harness, isIdle: Bool, on link: ConnectionID = phone) {
        bench.post(.deviceIdleChanged(link, device, isIdle: isIdle))
        bench.settle()
    }

    private func submit(
        _ bench: Harness, _ requestIDs: ClosedRange<UInt32>, key: String? = nil, lifetime: Int = 3_600,
        delays: Bool = true
    ) {
        for requestID in requestIDs {
            var submission = Harness.submission(requestID, key: key, lifetime: lifetime)
            submission.content.delaysWhileIdle = delays
            bench.post(.submitted(submission))
        }
        bench.settle()
    }

    private func delivered(_ bench: Harness, on link: ConnectionID = phone) -> [String] {
        bench.post(.deviceWritable(link, device))
        bench.settle()
        return bench.take(link).words.filter { $0.hasPrefix("deliver") || $0.hasPrefix("marker") }
    }

    @Test(
        "Delayed messages wait on disk while the device is idle, and are delivered in order when it is active"
    )
    func waits() {
        let bench = bench()
        submit(bench, 1...2)
        submit(bench, 3...3, delays: false)
        submit(bench, 4...4, key: "k")
        #expect(bench.take(appServer).words == (1...4).map { "ack \($0)" })
        #expect(delivered(bench) == ["deliver m3"])
        #expect(bench.store.downPending == 4)
        report(bench, isIdle: false)
        #expect(delivered(bench) == ["deliver m1", "deliver m2", "deliver m4"])
        submit(bench, 5...5)
        #expect(delivered(bench) == ["deliver m5"])
        #expect(bench.down.sent == 5 && bench.store.holds)
    }

    @Test("Delayed messages collapse by key, and the oldest is discarded when there are too many keys")
    func collapses() {
        let bench = bench()
        submit(bench, 1...3, key: "score")
        #expect(bench.store.down.replaced == 2)
        for requestID in 4...7 as ClosedRange<UInt32> {
            submit(bench, requestID...requestID, key: "k\(requestID)")
        }
        #expect(bench.store.down.discarded == 1)
        #expect(delivered(bench).isEmpty)
        report(bench, isIdle: false)
        #expect(delivered(bench) == (4...7).map { "deliver m\($0)" })
    }

    @Test("The 101st delayed message without a key discards all, and the marker is delayed too")
    func capped() {
        let bench = bench()
        submit(bench, 1...100)
        #expect(bench.store.down.discarded == 0)
        submit(bench, 101...101)
        #expect(bench.store.down.discarded == 101 && delivered(bench).isEmpty)
        submit(bench, 102...102)
        submit(bench, 103...103, delays: false)
        #expect(delivered(bench) == ["deliver m103"])
        report(bench, isIdle: false)
        #expect(delivered(bench) == ["marker 101", "deliver m102"])
        #expect(bench.store.holds)
    }

    @Test("A delayed now-or-never message is dropped while the device is idle, and counts as expired")
    func nowOrNever() {
        let bench = bench()
        submit(bench, 1...1, lifetime: 0)
        submit(bench, 2...2, lifetime: 0, delays: false)
        #expect(bench.take(appServer).words == ["ack 1", "ack 2"])
        report(bench, isIdle: false)
        #expect(delivered(bench) == ["deliver m2"])
        #expect(bench.down.expired == 1 && bench.down.sent == 1)
    }

    @Test("A delayed message expires at the end of its lifetime")
    func expires() {
        let bench = bench()
        submit(bench, 1...1, lifetime: 60)
        submit(bench, 2...2, lifetime: 600)
        bench.advance(milliseconds: 61_000)
        bench.post(.tick)
        bench.settle()
        report(bench, isIdle: false)
        #expect(delivered(bench) == ["deliver m2"])
        #expect(bench.store.down.expired == 1 && bench.store.holds)
    }

    @Test("A device is active after a login unless it reports idle, and an old connection cannot change that")
    func logins() {
        let bench = bench()
        submit(bench, 1...1)
        let next = connection(20)
        bench.post(
            .deviceLogin(
                DeviceLogin(connection: next, device: device, token: token, received: [], isIdle: true)))
        bench.settle()
        #expect(delivered(bench, on: next).isEmpty)
        report(bench, isIdle: false, on: phone)
        #expect(delivered(bench, on: next).isEmpty)
        bench.post(.deviceClosed(next, device))
        bench.login(connection(21))
        bench.settle()
        #expect(delivered(bench, on: connection(21)) == ["deliver m1"])
    }

    @Test("A delayed message is still delayed after a restart")
    func restart() {
        let bench = bench()
        submit(bench, 1...1)
        submit(bench, 2...2, delays: false)
        #expect(delivered(bench) == ["deliver m2"])
        bench.crash(seed: 3)
        bench.post(
            .deviceLogin(
                DeviceLogin(connection: phone, device: device, token: token, received: [], isIdle: true)))
        bench.settle()
        #expect(delivered(bench) == ["deliver m2"])
        report(bench, isIdle: false)
        #expect(delivered(bench) == ["deliver m1"])
    }

    @Test(
        "A delayed message survives a failed batch, and a change of the device's idle state while it is stored"
    )
    func failedBatch() {
        let bench = bench()
        submit(bench, 1...1)
        var submission = Harness.submission(2)
        submission.content.delaysWhileIdle = true
        bench.post(.submitted(submission))
        bench.runTurns()
        bench.apply(bench.partitions[0], failing: true)
        bench.reportOutcome(bench.partitions[0])
        bench.settle()
        #expect(delivered(bench).isEmpty)

        submission = Harness.submission(3)
        submission.content.delaysWhileIdle = true
        bench.post(.submitted(submission))
        bench.post(.deviceIdleChanged(phone, device, isIdle: false))
        bench.runTurns()
        bench.settle()
        #expect(delivered(bench) == ["deliver m1", "deliver m3"])

        submission = Harness.submission(4)
        submission.content.delaysWhileIdle = true
        bench.post(.submitted(submission))
        bench.post(.deviceIdleChanged(phone, device, isIdle: true))
        bench.settle()
        #expect(delivered(bench).isEmpty)
        report(bench, isIdle: false)
        #expect(delivered(bench) == ["deliver m4"])
        #expect(bench.store.holds)
    }

    @Test("A message is first delayed, then throttled, when both apply")
    func throttled() {
        var settings = DeliverySettings()
        settings.rates.collapsible = Rate(1, perSeconds: 180)
        let bench = bench(settings: settings)
        submit(bench, 1...1, key: "a")
        submit(bench, 2...2, key: "b")
        report(bench, isIdle: false)
        #expect(delivered(bench) == ["deliver m1"])
        report(bench, isIdle: true)
        bench.advance(milliseconds: 180_000)
        bench.post(.tick)
        #expect(delivered(bench).isEmpty)
        report(bench, isIdle: false)
        #expect(delivered(bench) == ["deliver m2"])
    }

    @Test("Canary: a device that never reported idle receives such messages at once")
    func canary() {
        let bench = Harness.withDevice()
        bench.login()
        bench.settle()
        submit(bench, 1...3)
        #expect(delivered(bench) == ["deliver m1", "deliver m2", "deliver m3"])
    }
}
