import Basics
import Delivery
import Testing

/// The counts of the core match what happened: metrics are read from these counts only.
@Suite struct CountTests {
    private func counts(_ body: (inout MilestoneCounts) -> Void) -> MilestoneCounts {
        var counts = MilestoneCounts()
        body(&counts)
        return counts
    }

    @Test("A stored message counts as accepted, stored and delivered once, and as sent at each delivery")
    func stored() {
        let bench = Harness.withDevice()
        bench.login()
        bench.submit(1)
        bench.settle()
        #expect(bench.down == counts { ($0.accepted, $0.stored, $0.sent) = (1, 1, 1) })
        bench.login(connection(20))
        bench.settle()
        #expect(bench.down.sent == 2)
        let sequences = bench.take(connection(20)).compactMap(\.delivery?.message.sequence)
        bench.post(.deviceAcknowledged(connection(20), device, sequences))
        bench.settle()
        #expect(
            bench.down
                == counts { ($0.accepted, $0.stored, $0.sent, $0.delivered) = (1, 1, 2, 1) })
    }

    @Test("A message without a lifetime counts as accepted, and as sent or expired, never as stored")
    func passing() {
        let bench = Harness.withDevice()
        bench.submit(1, lifetime: 0)
        bench.settle()
        #expect(bench.down == counts { ($0.accepted, $0.expired) = (1, 1) })
        bench.login()
        bench.settle()
        bench.submit(2, lifetime: 0)
        bench.settle()
        #expect(bench.down == counts { ($0.accepted, $0.sent, $0.expired) = (2, 1, 1) })
    }

    @Test("A refused message counts as refused only, at each place that refuses")
    func refused() {
        let bench = Harness.withDevice(settings: settings { $0.eventsWaitingForDevice = 1 })
        // One message waits for the state of its device, the next one exceeds the limit of waiting events.
        bench.submit(1)
        bench.submit(2)
        bench.submit(3)
        bench.runTurns()
        let early = bench.down.refused
        #expect(early > 0)
        bench.settle()
        var foreign = Harness.submission(4)
        foreign.entitlement = .account(Harness.otherSender)
        bench.post(.submitted(foreign))
        bench.settle()
        #expect(bench.down.refused == early + 1)
        bench.submit(5)
        bench.runTurns()
        bench.apply(bench.partitions[0], failing: true)
        bench.reportOutcome(bench.partitions[0])
        bench.settle()
        #expect(bench.down.refused == early + 2)
        #expect(bench.down.accepted == bench.down.stored && bench.down.accepted == 3 - early)
    }

    @Test("An expired message counts when its device is not in memory")
    func expiredUnseen() {
        let bench = Harness.withDevice()
        bench.submit(1, lifetime: 60)
        bench.settle()
        bench.crash(seed: 3)
        guard let message = bench.store.messages[device]?.first else {
            Issue.record("the message is not stored")
            return
        }
        bench.post(.expired(.message(device, message.sequence, expiresAt: message.expiresAt)))
        bench.settle()
        #expect(bench.down.expired == 1)
        bench.post(.expired(.message(device, SequenceNumber(7), expiresAt: 1)))
        bench.settle()
        #expect(bench.down.expired == 1, "the store has no such message")
    }

    @Test("An upstream message counts as accepted, stored and delivered once, and as sent at each delivery")
    func upstream() {
        let bench = Harness.withDevice()
        bench.login()
        bench.bindAppServer()
        bench.post(.upstreamReceived(Harness.upstream(1)))
        bench.settle()
        #expect(bench.up == counts { ($0.accepted, $0.stored, $0.sent) = (1, 1, 1) })
        bench.post(.appServerClosed(appServer, Harness.sender))
        bench.bindAppServer(connection(30))
        let again = bench.take(connection(30)).compactMap(\.upstream)
        #expect(again.count == 1 && bench.up.sent == 2)
        for message in again {
            bench.post(
                .upstreamFinished(connection(30), Harness.sender, message.sequence, .acknowledged))
        }
        bench.settle()
        #expect(
            bench.up == counts { ($0.accepted, $0.stored, $0.sent, $0.delivered) = (1, 1, 2, 1) })
    }

    @Test("An upstream message is refused when its sender is unknown or too many events wait for its device")
    func upstreamRefused() {
        let bench = Harness.withDevice(settings: settings { $0.eventsWaitingForDevice = 1 })
        bench.post(.upstreamReceived(Harness.upstream(1, sender: SenderID(999))))
        for requestID in 2...3 as ClosedRange<UInt32> {
            bench.post(.upstreamReceived(Harness.upstream(requestID)))
        }
        bench.runTurns()
        let early = bench.up.refused
        #expect(early > 0)
        bench.settle()
        #expect(bench.up.refused + bench.up.accepted == 3 && bench.up.refused > early)
    }

    @Test("Canary: a message changes the counts")
    func canary() {
        let bench = Harness.withDevice()
        bench.submit(1)
        bench.settle()
        #expect(bench.down != MilestoneCounts())
    }

    private func settings(_ body: (inout DeliverySettings) -> Void) -> DeliverySettings {
        var settings = DeliverySettings()
        body(&settings)
        return settings
    }
}
