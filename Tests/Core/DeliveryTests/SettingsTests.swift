import Basics
import Delivery
import Testing

/// Limits that change while the server runs.
@Suite struct SettingsTests {
    private func change(
        _ bench: Harness, window: Int = Limits.AppServer.pendingWindow, _ set: (inout Rates) -> Void
    ) {
        var running = RunningSettings()
        running.pendingWindow = window
        set(&running.rates)
        bench.post(.settingsChanged(running))
        bench.settle()
    }

    private func answers(_ bench: Harness, _ requestIDs: ClosedRange<UInt32>) -> [String] {
        for requestID in requestIDs { bench.submit(requestID) }
        bench.settle()
        return bench.take(appServer).words
    }

    @Test("A raised rate allows more messages at once, minus those already sent")
    func raised() {
        var settings = DeliverySettings()
        settings.rates.deviceShort = Rate(2, perSeconds: 3_600)
        let bench = Harness.withDevice(settings: settings)
        #expect(answers(bench, 1...3) == ["nack 3 device_rate_exceeded", "ack 1", "ack 2"])
        change(bench) { $0.deviceShort = Rate(4, perSeconds: 3_600) }
        #expect(answers(bench, 4...6) == ["nack 6 device_rate_exceeded", "ack 4", "ack 5"])
        change(bench) { _ in }
        #expect(answers(bench, 7...30).allSatisfy { $0.hasPrefix("ack") })
    }

    @Test(
        "A lowered or new rate applies from then on, for devices and for senders on every partition")
    func lowered() {
        let bench = Harness.withDevice(partitions: 3)
        #expect(answers(bench, 1...9).allSatisfy { $0.hasPrefix("ack") })
        change(bench) { $0.deviceShort = Rate(1, perSeconds: 60) }
        #expect(answers(bench, 10...11) == ["nack 11 device_rate_exceeded", "ack 10"])
        change(bench) { ($0.sender, $0.deviceShort) = (Rate(6, perSeconds: 60), Rate(2, perSeconds: 1)) }
        bench.advance(milliseconds: 1_000)
        #expect(answers(bench, 12...13) == ["ack 12", "ack 13"])
        bench.advance(milliseconds: 1_000)
        #expect(answers(bench, 14...14) == ["nack 14 sender_rate_exceeded"], "a third of 6")
        change(bench) { $0.deviceUpstream = Rate(1, perSeconds: 60) }
        for requestID in 1...2 as ClosedRange<UInt32> {
            bench.post(.upstreamReceived(Harness.upstream(requestID)))
        }
        bench.settle()
        #expect(bench.take(phone).words.sorted() == ["refused 2 toomanymessages", "stored 1"])
    }

    @Test("Messages throttled by the rate of collapsible messages continue when it is raised or removed")
    func held() {
        var settings = DeliverySettings()
        settings.rates.collapsible = Rate(1, perSeconds: 3_600)
        let bench = Harness.withDevice(settings: settings)
        bench.login()
        bench.settle()
        func delivered() -> [String] {
            bench.post(.deviceWritable(phone, device))
            bench.settle()
            return bench.take(phone).words.filter { $0.hasPrefix("deliver") }
        }
        for requestID in 1...4 as ClosedRange<UInt32> {
            bench.submit(requestID, key: "k\(requestID)")
            bench.settle()
        }
        #expect(delivered() == ["deliver m1"])
        change(bench) { $0.collapsible = Rate(2, perSeconds: 3_600) }
        #expect(delivered() == ["deliver m2"])
        change(bench) { $0.collapsible = Rate(2, perSeconds: 3_600) }
        #expect(delivered().isEmpty, "setting the same value changes nothing")
        change(bench) { _ in }
        #expect(delivered() == ["deliver m3", "deliver m4"])
        #expect(bench.store.holds)
    }

    @Test("A wider pending window is used at once; a narrower one recalls nothing")
    func window() {
        var settings = DeliverySettings()
        settings.pendingWindow = 2
        let bench = Harness.withDevice(settings: settings)
        bench.bindAppServer()
        func handed() -> Int { bench.take(appServer).words.count { $0.hasPrefix("upstream") } }
        for requestID in 1...6 as ClosedRange<UInt32> {
            bench.post(.upstreamReceived(Harness.upstream(requestID)))
        }
        bench.settle()
        #expect(handed() == 2)
        change(bench, window: 5) { _ in }
        #expect(handed() == 3)
        change(bench, window: 1) { _ in }
        #expect(handed() == 0)
        change(bench, window: 6) { _ in }
        #expect(handed() == 1)
    }

    @Test("Canary: without the change the second limit would not apply")
    func canary() {
        let bench = Harness.withDevice()
        #expect(answers(bench, 1...9).allSatisfy { $0.hasPrefix("ack") })
    }
}
