import Basics
import Testing

@testable import Delivery

/// The steps that the core reports for the message history.
@Suite struct HistoryStepTests {
    private func bench() -> Harness {
        var settings = DeliverySettings()
        settings.keepsHistory = true
        return Harness.withDevice(settings: settings)
    }

    /// The steps so far: kind, step, ID and details.
    private func steps(_ bench: Harness) -> [String] {
        defer { bench.history.removeAll() }
        var text = bench.history.text[...]
        return bench.history.steps.map { step in
            let id = String(decoding: text.prefix(Int(step.idBytes)), as: UTF8.self)
            text = text.dropFirst(Int(step.idBytes))
            let detail = String(decoding: text.prefix(Int(step.detailBytes)), as: UTF8.self)
            text = text.dropFirst(Int(step.detailBytes))
            return "\(step.kind) \(step.step) \(id) \(detail)\(step.detail.text)".trimmed
        }
    }

    @Test func aMessageIsRecordedFromItsStoreToItsEnd() throws {
        let bench = bench()
        bench.submit(1, receipt: true)
        bench.settle()
        let stored = try #require(bench.history.steps.first)
        #expect(stored.device == device.number && stored.sender == Harness.sender.number)
        #expect(stored.sequence > 0 && stored.registration > 0)
        #expect(steps(bench) == ["downstream stored m1"])
        bench.login()
        bench.bindAppServer()
        bench.settle()
        #expect(bench.history.steps.first?.sequence == stored.sequence)
        #expect(steps(bench) == ["downstream sent"])
        let sent = bench.take(phone).compactMap(\.delivery)
        bench.post(.deviceAcknowledged(phone, device, sent.map(\.message.sequence)))
        bench.settle()
        let ends = bench.history.steps.filter { $0.step == .delivered }
        #expect(ends.map(\.sequence) == [stored.sequence] && ends.map(\.salt) == [stored.salt])
        let words = steps(bench)
        #expect(
            Set(words) == ["receipt stored m1", "receipt sent", "downstream delivered"])
    }

    @Test func whatIsNotStoredIsRecordedWithItsReason() {
        let bench = bench()
        bench.submit(1, lifetime: 0)
        var wrong = Harness.submission(2)
        wrong.entitlement = .account(Harness.otherSender)
        bench.post(.submitted(wrong))
        bench.settle()
        #expect(
            steps(bench) == [
                "downstream accepted m1 now_or_never", "downstream expired m1 now_or_never",
                "downstream refused m2 sender_mismatch",
            ])
    }

    @Test func aMessageOfTheDeviceIsRecordedToTheAnswer() {
        let bench = bench()
        bench.login()
        bench.bindAppServer()
        bench.post(.upstreamReceived(Harness.upstream(1)))
        bench.settle()
        let sent = bench.take(appServer).compactMap(\.upstream)
        bench.post(.upstreamFinished(appServer, Harness.sender, sent[0].sequence, .acknowledged))
        bench.post(.upstreamReceived(Harness.upstream(3, category: "other")))
        bench.settle()
        #expect(Set(bench.history.steps.filter { $0.sequence != 0 }.map(\.sequence)).count == 1)
        #expect(
            steps(bench) == [
                "upstream stored u1", "upstream sent", "upstream delivered",
                "upstream refused u3 invalid_parameters",
            ])
    }

    @Test func aTopicMessageIsRecordedWithItsTopicAndWithWhatItHasReachedInTheEnd() throws {
        var settings = DeliverySettings()
        settings.keepsHistory = true
        let (bench, names) = TopicLogTests.bench(3, settings: settings)
        TopicLogTests.publish(bench, 1, key: "k", lifetime: 60)
        let name = try #require(bench.history.steps.first)
        #expect(name.sender == Harness.sender.number && name.sequence > 0 && name.salt != 0)
        bench.collectTopics(Array(names.prefix(2)))
        TopicLogTests.publish(bench, 2, key: "k", lifetime: 60)
        bench.collectTopics([names[0]])
        TopicLogTests.login(bench, names[2])
        TopicLogTests.publish(bench, 3, lifetime: 0)
        let found = bench.history.steps
        let summaries = zip(found, steps(bench)).filter { $0.0.kind == .topic }
        #expect(
            summaries.map(\.1) == [
                "topic stored m1 /topics/a", "topic stored m2 /topics/a",
                "topic replaced reached 2, /topics/a", "topic accepted m3 /topics/a",
                "topic sent reached 1, /topics/a",
            ])
        #expect(summaries.filter { $0.0.sequence == name.sequence }.map(\.0.step) == [.stored, .replaced])
        bench.advance(milliseconds: 61_000)
        bench.post(.tick)
        bench.settle()
        #expect(steps(bench).filter { $0.hasPrefix("topic") } == ["topic expired reached 2, /topics/a"])
    }

    @Test("what a topic message has reached is read from its words, and nothing from others")
    func reach() throws {
        let reach = try #require(TopicReach.read(TopicReach.detail(12, "condition on a, b")))
        #expect(reach.reached == 12 && reach.target == "condition on a, b")
        for text in ["", "/topics/a", "reached", "reached 1", "reached x, /topics/a", "1, /topics/a"] {
            #expect(TopicReach.read(text) == nil)
        }
        let names = ["a", "b"].compactMap { TopicName(bytes($0)) }
        #expect(TopicTarget(topics: names, truth: 8)?.words == "condition on a, b")
    }

    @Test(
        "what waits for a device that cannot be read, or for an installation that is unknown, is recorded as refused"
    )
    func unreadable() {
        let bench = bench()
        bench.submit(1)
        bench.post(.upstreamReceived(Harness.upstream(2)))
        bench.runTurns()
        bench.read(bench.partitions[0], failing: true)
        bench.reportAnswer(bench.partitions[0])
        bench.runTurns()
        #expect(steps(bench) == ["downstream refused m1 unavailable", "upstream refused u2 unavailable"])
        bench.post(
            .installation(
                InstallationRequest(
                    requester: Requester(connection: appServer, requestID: 3),
                    installation: bytes("cGFzc3dvcmQ_aGVsbG8tdw"), sender: Harness.sender,
                    action: .send(Harness.submission(3).content))))
        bench.settle()
        #expect(bench.history.steps.map(\.sender) == [Harness.sender.number])
        #expect(steps(bench) == ["downstream refused m3 not_registered"])
    }

    @Test func nothingIsRecordedWhenItIsSwitchedOff() {
        let bench = Harness.withDevice()
        bench.submit(1)
        bench.settle()
        #expect(bench.history.isEmpty)
    }

    @Test func codesAreThoseOfTheFormat() {
        #expect(TraceRecord.Step.byCode.map(\.code) == (0..<23).map { UInt8($0) })
        #expect(
            HistoryStep.UsualDetail.allCases.map(\.text) == [
                "", "now_or_never", "apns", "apns now_or_never", "dry_run", "webhook", "deleted_messages",
                "send_error",
            ])
    }
}

extension String {
    fileprivate var trimmed: String {
        var text = self[...]
        while text.last == " " { text.removeLast() }
        return String(text).replacing("  ", with: " ")
    }
}
