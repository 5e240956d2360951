import Basics
import Delivery
import Testing

/// The messages of each sender, and the times of those that connected devices got.
@Suite struct SenderCountTests {
    /// Adds up the counts of a sender.
    private func counts(_ bench: Harness, _ sender: SenderID = Harness.sender) -> [SenderCount: Int] {
        var sum = SenderCounts()
        for row in bench.senders where row.sender == sender { sum.add(row.counts) }
        let pairs = SenderCount.allCases.map { ($0, sum[$0]) }
        return Dictionary(uniqueKeysWithValues: pairs.filter { $0.1 != 0 })
    }

    @Test("accepted, delivered, expired and refused messages count for their sender")
    func downstream() {
        let bench = Harness.withDevice()
        bench.submit(1)
        bench.submit(2, lifetime: 0)
        bench.settle()
        #expect(counts(bench) == [.accepted: 2, .expired: 1])
        bench.login()
        bench.settle()
        let sequences = bench.take(phone).compactMap(\.delivery?.message.sequence)
        bench.post(.deviceAcknowledged(phone, device, sequences))
        var foreign = Harness.submission(3)
        foreign.entitlement = .account(Harness.otherSender)
        bench.post(.submitted(foreign))
        bench.settle()
        #expect(counts(bench) == [.accepted: 2, .expired: 1, .delivered: 1])
        #expect(counts(bench, Harness.otherSender) == [.refused: 1])
        #expect(
            bench.refused.map { "\($0.sender.number) \($0.reason.word) \($0.count)" }
                == ["\(Harness.otherSender.number) sender_mismatch 1"])
    }

    @Test("messages of devices count for the sender that they are for")
    func upstream() {
        let bench = Harness.withDevice()
        bench.login()
        bench.bindAppServer()
        bench.post(.upstreamReceived(Harness.upstream(1)))
        bench.settle()
        let sequences = bench.take(appServer).compactMap(\.upstream?.sequence)
        #expect(sequences.count == 1)
        for sequence in sequences {
            bench.post(.upstreamFinished(appServer, Harness.sender, sequence, .acknowledged))
        }
        bench.post(.upstreamReceived(Harness.upstream(2, category: "unknown")))
        bench.settle()
        #expect(
            counts(bench) == [.upstreamAccepted: 1, .upstreamDelivered: 1, .upstreamRefused: 1])
    }

    @Test("the time of a delivery is measured only if the device was connected since before the message")
    func delivered() {
        let bench = Harness.withDevice()
        bench.submit(1)
        bench.settle()
        bench.advance(milliseconds: 1)
        bench.login()
        bench.settle()
        bench.post(.deviceWritable(phone, device))
        bench.submit(2)
        bench.settle()
        let sequences = bench.take(phone).compactMap(\.delivery?.message.sequence)
        #expect(sequences.count == 2)
        bench.post(.deviceAcknowledged(phone, device, sequences))
        bench.settle()
        var measured = 0
        bench.delivered.end(at: .distantFuture) { _, count in measured += count }
        #expect(bench.down.delivered == 2 && measured == 1)
    }

    @Test("a sender with several rows in a turn loses no message")
    func rows() {
        let bench = Harness.withDevice()
        for request in 1...30 as ClosedRange<UInt32> { bench.submit(request, lifetime: 0) }
        bench.settle()
        #expect(counts(bench) == [.accepted: 30, .expired: 30])
    }
}
