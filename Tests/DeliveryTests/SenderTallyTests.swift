import Basics
import Testing

@testable import Delivery

/// The counts of messages by sender, for operators.
@Suite struct SenderTallyTests {
    private func figures(_ bench: Harness, _ sender: SenderID = Harness.sender) -> SenderFigures {
        bench.partitions.reduce(into: SenderFigures()) { sum, box in
            sum.add(box.core.senderFigures(of: sender)[sender] ?? SenderFigures())
        }
    }

    @Test("Messages to devices are counted for their sender when they are accepted and when they end")
    func downstream() {
        let bench = Harness.withDevice(partitions: 2)
        bench.login()
        bench.submit(1)
        bench.submit(2)
        bench.settle()
        #expect(figures(bench).downstream.accepted == 2 && figures(bench).downstream.delivered == 0)
        let sequences = bench.take(phone).compactMap(\.delivery?.message.sequence)
        bench.post(.deviceAcknowledged(phone, device, [sequences[0]]))
        bench.settle()
        #expect(figures(bench).downstream.delivered == 1)
        #expect(figures(bench).downstream.accepted == bench.down.accepted)
        #expect(figures(bench, Harness.otherSender) == SenderFigures(), "canary: another sender has none")
    }

    @Test("Messages of devices, sessions and the unacknowledged ones are counted for their sender")
    func upstream() {
        let bench = Harness.withDevice(partitions: 2)
        bench.bindAppServer()
        bench.post(.upstreamReceived(Harness.upstream(1, lifetime: 3_600)))
        bench.settle()
        let before = figures(bench)
        #expect(before.sessions == 1 && before.draining == 0 && before.unacknowledged == 1)
        #expect(before.upstream.accepted == 1 && before.upstream.delivered == 0)
        let message = bench.take(appServer).compactMap(\.upstream)[0]
        let core = PartitionKey.sender(Harness.sender).partition(of: 2)
        #expect(bench.partitions[core].core.unacknowledged(of: Harness.sender) == [message.sequence])
        bench.post(.upstreamFinished(appServer, Harness.sender, message.sequence, .acknowledged))
        bench.settle()
        #expect(figures(bench).upstream.delivered == 1 && figures(bench).unacknowledged == 0)
    }

    @Test("Messages to a suspended sender are stored, and delivered after it is resumed")
    func suspended() {
        let bench = Harness.withDevice()
        var records = Harness.senders
        records[0].isSuspended = true
        bench.post(.senders(SenderDirectory(records)))
        bench.post(.upstreamReceived(Harness.upstream(1, lifetime: 3_600)))
        bench.settle()
        #expect(bench.take(phone).words == ["stored 1"] && bench.store.upPending == 1)
        bench.post(.senders(SenderDirectory(Harness.senders)))
        bench.bindAppServer()
        bench.settle()
        #expect(bench.take(appServer).words == ["upstream u1"])
    }

    @Test("The counts of a removed sender are forgotten")
    func removed() {
        let bench = Harness.withDevice()
        bench.submit(1)
        bench.settle()
        #expect(figures(bench).downstream.accepted == 1)
        bench.post(.senders(SenderDirectory(Array(Harness.senders.dropFirst()))))
        bench.settle()
        #expect(figures(bench).downstream.accepted == 0)
    }

    @Test("A connected device is reported as such, and a message that was sent as sent")
    func presence() {
        let bench = Harness.withDevice()
        #expect(bench.partitions[0].core.connected(among: [device, DeviceID(1)]) == [])
        bench.login()
        bench.submit(1)
        bench.settle()
        #expect(bench.partitions[0].core.connected(among: [device, DeviceID(1)]) == [device])
        let sequences = bench.take(phone).compactMap(\.delivery?.message.sequence)
        guard case .sent? = bench.partitions[0].core.messageStates(of: device)[sequences[0]] else {
            Issue.record("the message was not sent")
            return
        }
    }
}
