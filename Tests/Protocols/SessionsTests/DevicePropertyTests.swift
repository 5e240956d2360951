import Basics
import Delivery
import Sessions
import Testing
import Wire

/// Random conversations, compared with simple models of what was sent, received and settled.
@Suite struct DevicePropertyTests {
    /// What a device may acknowledge: frames by number, messages by sequence.
    private struct Sent {
        var unacknowledged: [(frame: Int, sequence: UInt64)] = []
        var frames = 2

        mutating func acknowledge(_ isMeant: ((frame: Int, sequence: UInt64)) -> Bool) -> [UInt64] {
            let meant = unacknowledged.filter(isMeant).map(\.sequence)
            unacknowledged.removeAll(where: isMeant)
            return meant
        }
    }

    @Test(
        "acknowledgements of all kinds, mixed, report each message once", arguments: 0..<60 as Range<UInt64>)
    func downstream(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var harness = DeviceHarness.loggedIn()
        var sent = Sent()
        for step in 1...400 as ClosedRange<UInt64> {
            var expected: [UInt64] = []
            switch Int.random(in: 0..<10, using: &random) {
            case 0:
                let count = Int.random(in: 0...sent.frames, using: &random)
                expected = sent.acknowledge { $0.frame <= count }
                // An acknowledgement of fewer frames than before is redundant.
                harness.receive(.iq(MCS.IqStanza(.streamAck, lastStreamIDReceived: Int32(count))))
            case 1, 2:
                let named = Set(
                    sent.unacknowledged.filter { _ in Bool.random(using: &random) }.prefix(5).map(\.sequence))
                expected = sent.acknowledge { named.contains($0.sequence) }
                let ids = named.map { Array("0:\($0)%12345678f9fd7ecd".utf8) }
                harness.receive(.iq(MCS.IqStanza(.selectiveAck(ids))))
            default:
                let isStored = Int.random(in: 0..<4, using: &random) > 0
                harness.perform(
                    .device(.deliver(DeviceSamples.delivery(DeviceSamples.stored(step), isStored: isStored))))
                sent.frames += 1
                if isStored { sent.unacknowledged.append((sent.frames, step)) }
            }
            sent.frames += harness.takeSent().count(where: isOwn)
            var acknowledged: [UInt64] = []
            for case .device(_, .acknowledged(_, let sequences)) in harness.takeEvents() {
                acknowledged += sequences.map(\.number)
            }
            #expect(acknowledged == expected, "step \(step)")
        }
        let close = harness.io.close
        #expect(close == nil)
    }

    /// Returns whether the server sent a frame on its own, not caused by the test.
    private func isOwn(_ message: MCS.Message) -> Bool {
        if case .dataMessage = message { false } else { true }
    }

    @Test(
        "counts never cover a message that is not stored yet, and in the end cover all",
        arguments: 0..<60 as Range<UInt64>)
    func upstream(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var harness = DeviceHarness.loggedIn()
        var incoming = 1
        var reported = 1
        var waiting: [(frame: Int, requestID: UInt32)] = []
        for step in 0..<400 {
            switch Int.random(in: 0..<5, using: &random) {
            case 0, 1:
                let category = "com.example.\(Int.random(in: 0..<5, using: &random))"
                harness.receive(.dataMessage(DeviceSamples.upstream(id: "\(step)", category: category)))
                incoming += 1
                for case .device(_, .upstreamReceived(let submission)) in harness.takeEvents() {
                    waiting.append((incoming, submission.requester.requestID))
                }
            case 2:
                harness.receive(.heartbeatPing(MCS.Heartbeat()))
                incoming += 1
            case 3: harness.pass(seconds: 1)
            default:
                guard let at = waiting.indices.randomElement(using: &random) else { continue }
                let requestID = waiting.remove(at: at).requestID
                harness.perform(
                    Bool.random(using: &random)
                        ? .device(.upstreamStored(requestID: requestID))
                        : .device(.upstreamRefused(requestID: requestID, .invalidParameters)))
            }
            #expect(
                isHonest(harness.takeSent(), incoming, waiting.map(\.frame).min() ?? .max, &reported),
                "step \(step)")
        }
        for (_, requestID) in waiting { harness.perform(.device(.upstreamStored(requestID: requestID))) }
        harness.pass(seconds: 1)
        #expect(isHonest(harness.takeSent(), incoming, .max, &reported))
        #expect(waiting.isEmpty || reported == incoming)
    }

    /// Returns whether the sent counts ascend, and cover neither a waiting frame nor one that was never received.
    private func isHonest(_ sent: [MCS.Message], _ incoming: Int, _ firstWaiting: Int, _ reported: inout Int)
        -> Bool
    {
        for message in sent {
            let count: Int32? =
                switch message {
                case .heartbeatAck(let ack): ack.lastStreamIDReceived
                case .iq(let iq): iq.lastStreamIDReceived
                case .dataMessage(let message): message.lastStreamIDReceived
                default: nil
                }
            guard let count else { continue }
            guard Int(count) > reported, Int(count) <= incoming, Int(count) < firstWaiting else {
                return false
            }
            reported = Int(count)
        }
        return true
    }

    @Test("the server never sends a tag that a client takes for the end", arguments: 0..<20 as Range<UInt64>)
    func tags(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var harness = DeviceHarness.loggedIn()
        var tags: Set<UInt8> = []
        for step in 1...200 as ClosedRange<UInt64> {
            switch Int.random(in: 0..<7, using: &random) {
            case 0: harness.receive(.heartbeatPing(MCS.Heartbeat(status: 1)))
            case 1: harness.receive([UInt8.random(in: 9...15, using: &random), 0])
            case 2: harness.receive(.dataMessage(DeviceSamples.upstream(to: "", persistentID: "\(step)")))
            case 3: harness.receive(.dataMessage(DeviceSamples.upstream(category: "c.\(step)")))
            case 4: harness.pass(seconds: 600)
            default: harness.perform(.device(.deliver(DeviceSamples.delivery(DeviceSamples.stored(step)))))
            }
            for requestID in 1...UInt32(step) {
                harness.perform(.device(.upstreamStored(requestID: requestID)))
            }
            tags.formUnion(harness.takeSent().map { DeviceHarness.bytes($0)[0] })
        }
        harness.perform(.connection(.close(.systemShutdown)))
        tags.formUnion(harness.takeSent().map { DeviceHarness.bytes($0)[0] })
        #expect(tags.isSuperset(of: [0, 1, 7, 8]))
        #expect(tags.isSubset(of: [0, 1, 3, 4, 7, 8]))
    }

    @Test("canary: wrong counts are detected")
    func canary() {
        for (count, isHonest) in [(4, true), (5, false), (1, false)] as [(Int32, Bool)] {
            var reported = 1
            let sent = [MCS.Message.heartbeatAck(MCS.Heartbeat(lastStreamIDReceived: count))]
            #expect(self.isHonest(sent, 9, 5, &reported) == isHonest)
        }
    }
}
