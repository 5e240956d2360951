import Basics
import Delivery
import Testing

/// Upstream messages that expire, and app servers that never acknowledge (ccs-xmpp 4.3, 4.4).
@Suite struct StarvationTests {
    private let silent = connection(70)
    private let busy = connection(71)

    /// A harness with devices of one app, registered with the first sender.
    private func bench(devices count: UInt64, window: Int = 2) -> (bench: Harness, devices: [DeviceID]) {
        var settings = DeliverySettings()
        settings.pendingWindow = window
        let bench = Harness.withDevice(settings: settings)
        let devices = (0..<count).map { DeviceID(1 << 60 | $0 << 8 | 1) }
        for device in devices {
            let name = RegistrationName(device: device, number: RegistrationNumber(1))
            bench.store.records[device] = DeviceRecord(
                device: device, token: token, createdAt: 0, seenAt: 1_700_000_000_000, nextRegistration: 2)
            bench.store.registrations[name] = Registration(
                name: name, category: bytes("app"), subtype: [], senderText: bytes("100"),
                sender: Harness.sender, createdAt: 0)
        }
        return (bench, devices)
    }

    /// Returns the messages that a connection was sent, and acknowledges them.
    private func answered(_ bench: Harness, _ link: ConnectionID) -> [StoredUpstream] {
        var all: [StoredUpstream] = []
        while true {
            bench.post(.tick)
            bench.settle()
            let messages = bench.take(link).compactMap(\.upstream)
            guard !messages.isEmpty else { return all }
            all += messages
            for message in messages {
                bench.post(.upstreamFinished(link, Harness.sender, message.sequence, .acknowledged))
            }
        }
    }

    @Test("An app server that never acknowledges gets one window of messages; the others get the rest")
    func neverAcks() {
        let (bench, devices) = bench(devices: 20)
        bench.bindAppServer(silent)
        bench.bindAppServer(busy)
        var requestID: UInt32 = 0
        var got: [StoredUpstream] = []
        for _ in 0..<3 {
            for device in devices {
                requestID += 1
                bench.post(.upstreamReceived(Harness.upstream(requestID, device: device)))
                got += answered(bench, busy)
            }
        }
        let kept = bench.take(silent).compactMap(\.upstream)
        #expect(kept.count == 2, "the window")
        // Only messages behind an unacknowledged message of the same device wait.
        #expect(got.count >= 60 - 2 * 3 && bench.store.upPending == 60 - got.count)
        bench.post(.appServerClosed(silent, Harness.sender))
        got += answered(bench, busy)
        #expect(got.count == 60 && bench.store.upPending == 0 && bench.store.holds)
        #expect(Set(got.map(\.messageID)).count == 60)
    }

    @Test("The messages of one device do not wait for a silent app server forever")
    func oneDevice() {
        let (bench, devices) = bench(devices: 1, window: 1)
        bench.bindAppServer(silent)
        bench.post(.upstreamReceived(Harness.upstream(1, device: devices[0])))
        bench.settle()
        bench.bindAppServer(busy)
        var got = 0
        for requestID in 2...300 as ClosedRange<UInt32> {
            bench.post(.upstreamReceived(Harness.upstream(requestID, device: devices[0])))
            got += answered(bench, busy).count
        }
        #expect(bench.take(silent).compactMap(\.upstream).count == 1)
        #expect(got >= 299 - Limits.Mailbox.page, "\(got)")
    }

    @Test("A device gets an expiry refusal when the disk takes longer than the message's lifetime")
    func expiredBeforeStored() {
        let (bench, devices) = bench(devices: 1)
        bench.bindAppServer(busy)
        bench.post(.upstreamReceived(Harness.upstream(1, device: devices[0])))
        bench.settle()
        #expect(bench.take(phone).words == ["stored 1"])
        bench.post(.upstreamReceived(Harness.upstream(2, lifetime: 5, device: devices[0])))
        bench.runTurns()
        bench.advance(milliseconds: 5_000)
        bench.settle()
        #expect(bench.take(phone).words == ["stored 2"])
        #expect(bench.store.messages[devices[0]]?.map(\.kind.isReport) == [true])
        #expect(bench.take(busy).words == ["upstream u1"])
        #expect(bench.store.up.expired == 1 && bench.store.upPending == 1 && bench.store.holds)
        bench.post(.upstreamReceived(Harness.upstream(3, lifetime: 5, device: devices[0])))
        bench.settle()
        #expect(bench.take(phone).words == ["stored 3"], "and it no longer counts as waiting")
    }

    @Test("Canary: all messages wait for the silent app server when there is no other")
    func canary() {
        let (bench, devices) = bench(devices: 5)
        bench.bindAppServer(silent)
        for requestID in 1...5 as ClosedRange<UInt32> {
            bench.post(.upstreamReceived(Harness.upstream(requestID, device: devices[Int(requestID) - 1])))
        }
        bench.settle()
        #expect(bench.take(silent).count == 2 && bench.store.upPending == 5)
    }
}
