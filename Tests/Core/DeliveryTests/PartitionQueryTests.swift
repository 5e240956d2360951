import Basics
import Testing

@testable import Delivery

/// What operators ask of a partition.
@Suite struct PartitionQueryTests {
    private func sessions(_ bench: Harness, _ sender: SenderID = Harness.sender) -> SenderSessions {
        bench.partitions.reduce(into: SenderSessions()) { sum, box in
            sum.add(box.core.senderSessions(of: sender)[sender] ?? SenderSessions())
        }
    }

    @Test("Sessions and unacknowledged messages are counted for their sender")
    func upstream() {
        let bench = Harness.withDevice(partitions: 2)
        bench.bindAppServer()
        bench.post(.upstreamReceived(Harness.upstream(1, lifetime: 3_600)))
        bench.settle()
        let before = sessions(bench)
        #expect(before.sessions == 1 && before.draining == 0 && before.unacknowledged == 1)
        #expect(sessions(bench, Harness.otherSender) == SenderSessions(), "canary: another sender has none")
        let message = bench.take(appServer).compactMap(\.upstream)[0]
        let core = PartitionKey.sender(Harness.sender).partition(of: 2)
        #expect(bench.partitions[core].core.unacknowledged(of: Harness.sender) == [message.sequence])
        bench.post(.upstreamFinished(appServer, Harness.sender, message.sequence, .acknowledged))
        bench.settle()
        #expect(sessions(bench).unacknowledged == 0)
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
