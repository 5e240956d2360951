import Basics
import Testing

@testable import Delivery

/// A step whose truth depends on a batch is recorded when that is on disk, and not at all if it fails.
@Suite struct HistoryCommitTests {
    private static let watcher = Requester(connection: connection(40), requestID: 7)
    private static let ends: [TraceRecord.Step] = [.cancelled, .replaced, .discarded, .removed, .expired]

    /// A traced device for which one message waits, and what ends it until the batch with its end waits for the store.
    private static func bench(ending end: TraceRecord.Step) -> Harness {
        var settings = DeliverySettings()
        settings.keepsHistory = true
        settings.storedMessages = 1
        let bench = Harness.withDevice(settings: settings)
        bench.post(.trace(device, watcher))
        bench.submit(1, key: end == .replaced ? "k" : nil, lifetime: 60)
        bench.settle()
        bench.history.removeAll()
        _ = bench.take(watcher.connection)
        switch end {
        case .cancelled: bench.cancel("m1", sender: Harness.sender)
        case .replaced: bench.submit(2, key: "k")
        case .discarded: bench.submit(2)
        case .removed: bench.post(.forgetDevice(device, Requester(connection: web, requestID: 1)))
        default:
            bench.advance(milliseconds: 61_000)
            if let message = bench.store.messages[device]?.first {
                bench.post(
                    .expired(.message(device, message.sequence, expiresAt: message.expiresAt)))
            }
        }
        TopicLogTests.run(bench) { if case .removeMessage = $0 { true } else { false } }
        return bench
    }

    /// The steps of messages that the history and the watcher of the device have; the same for both.
    private static func steps(_ bench: Harness) -> [TraceRecord.Step] {
        let recorded = bench.history.steps.map(\.step)
        bench.history.removeAll()
        let traced = bench.take(watcher.connection).compactMap { command -> TraceRecord.Step? in
            guard case .reply(_, .traced(let step)) = command, step.direction == .downstream else {
                return nil
            }
            return step.step
        }
        // One record has both.
        #expect(recorded == traced.filter { $0 != .accepted })
        return recorded
    }

    @Test("the end of a message is recorded once it is on disk", arguments: ends)
    func stored(end: TraceRecord.Step) {
        let bench = Self.bench(ending: end)
        #expect(Self.steps(bench).isEmpty, "not on disk")
        bench.apply(bench.partitions[0])
        #expect(Self.steps(bench).isEmpty, "not known to be")
        bench.advance(milliseconds: 5)
        bench.reportOutcome(bench.partitions[0])
        bench.runTurns()
        #expect(bench.history.steps.allSatisfy { $0.time == bench.now.wall })
        switch end {
        // The new message is there before it ends itself.
        case .discarded: #expect(Self.steps(bench) == [.stored, .discarded, .discarded])
        case .replaced: #expect(Self.steps(bench) == [.stored, .replaced])
        default: #expect(Self.steps(bench) == [end])
        }
        bench.settle()
        bench.login()
        bench.settle()
        #expect(!Self.steps(bench).contains(end))
    }

    @Test("an end that cannot be stored is not recorded, and the message goes on", arguments: ends)
    func failed(end: TraceRecord.Step) {
        let bench = Self.bench(ending: end)
        bench.apply(bench.partitions[0], failing: true)
        bench.reportOutcome(bench.partitions[0])
        bench.settle()
        switch end {
        // The new message.
        case .replaced, .discarded: #expect(Self.steps(bench) == [.refused])
        // It is there when the device is read again, and its time is over.
        case .expired: return #expect(Self.steps(bench) == [.expired])
        default: #expect(Self.steps(bench).isEmpty)
        }
        bench.login()
        bench.settle()
        #expect(Self.steps(bench) == [.sent])
        let sent = bench.take(phone).compactMap(\.delivery?.message.sequence)
        bench.post(.deviceAcknowledged(phone, device, sent))
        bench.runTurns()
        #expect(
            Self.steps(bench) == [.acknowledged, .delivered],
            "the device has it, whatever becomes of the removal")
    }

    @Test("an expired message of a device that is not in memory is recorded once its end is on disk")
    func unread() throws {
        var settings = DeliverySettings()
        settings.keepsHistory = true
        let bench = Harness.withDevice(settings: settings)
        bench.submit(1, lifetime: 60)
        bench.settle()
        bench.crash(seed: 3)
        bench.history.removeAll()
        bench.advance(milliseconds: 61_000)
        let message = try #require(bench.store.messages[device]?.first)
        for isFailing in [true, false] {
            bench.post(.expired(.message(device, message.sequence, expiresAt: message.expiresAt)))
            bench.runTurns()
            bench.apply(bench.partitions[0], failing: isFailing)
            bench.reportOutcome(bench.partitions[0])
            bench.runTurns()
            #expect(bench.history.steps.map(\.step) == (isFailing ? [] : [.expired]))
        }
        // A search that was answered before that arrives late.
        bench.post(.expired(.message(device, message.sequence, expiresAt: message.expiresAt)))
        bench.settle()
        #expect(bench.history.steps.count == 1 && bench.store.down.expired == 1)
    }

    @Test("the end of a device's message is recorded with the removal that is written again after a failure")
    func upstream() throws {
        var settings = DeliverySettings()
        settings.keepsHistory = true
        let bench = Harness.withDevice(settings: settings)
        bench.login()
        bench.post(.upstreamReceived(Harness.upstream(1, lifetime: 10)))
        bench.settle()
        bench.history.removeAll()
        bench.advance(milliseconds: 11_000)
        bench.post(.tick)
        TopicLogTests.run(bench) { if case .removeUpstream = $0 { true } else { false } }
        func ends() -> [HistoryStep] { bench.history.steps.filter { $0.kind == .upstream } }
        for isFailing in [true, true, false] {
            #expect(ends().isEmpty)
            bench.apply(bench.partitions[0], failing: isFailing)
            bench.reportOutcome(bench.partitions[0])
            bench.runTurns()
            bench.post(.tick)
            bench.runTurns()
        }
        bench.settle()
        #expect(ends().map(\.step) == [.expired] && bench.store.up.expired == 1)
    }

    @Test("the end of a topic message is recorded with the removal that is written again after a failure")
    func topics() throws {
        var settings = DeliverySettings()
        settings.keepsHistory = true
        let (bench, names) = TopicLogTests.bench(1, settings: settings)
        TopicLogTests.publish(bench, 1, lifetime: 60)
        bench.collectTopics(names)
        bench.history.removeAll()
        bench.advance(milliseconds: 61_000)
        bench.post(.tick)
        TopicLogTests.run(bench) { if case .removeTopicEntry = $0 { true } else { false } }
        func ends() -> [HistoryStep] { bench.history.steps.filter { $0.kind == .topic } }
        for isFailing in [true, false] {
            #expect(ends().isEmpty)
            bench.apply(bench.partitions[0], failing: isFailing)
            bench.reportOutcome(bench.partitions[0])
            bench.runTurns()
            bench.post(.tick)
            bench.runTurns()
        }
        bench.settle()
        #expect(ends().map(\.step) == [.expired])
        var text = bench.history.text[...]
        for step in bench.history.steps {
            let end = text.startIndex + Int(step.idBytes) + Int(step.detailBytes)
            if step.kind == .topic {
                #expect(String(decoding: text[..<end], as: UTF8.self) == "reached 1, /topics/a")
            }
            text = text[end...]
        }
    }
}
