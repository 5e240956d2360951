import Basics
import Testing

@testable import Delivery

/// Where the pairs of a topic message come from: the newest are in memory, the others are read from the store.
@Suite struct TopicPairTests {
    private static func publish(_ bench: Harness, _ requestID: UInt32, bytes count: Int, key: String? = nil) {
        var submission = Harness.submission(requestID, key: key)
        submission.content.body = Array(repeating: UInt8(requestID), count: count)
        bench.post(
            .topicSubmitted(
                TopicSubmission(target: TopicTarget(TopicSendTests.topics[0]), submission: submission)))
        bench.settle()
    }

    /// The messages that a device is sent at its login, and whether their pairs are whole.
    private static func login(_ bench: Harness, _ name: RegistrationName, bytes count: Int) -> [String] {
        TopicLogTests.login(bench, name)
        var texts: [String] = []
        while true {
            let commands = bench.take(phone)
            for message in commands.compactMap(\.delivery).map(\.message) {
                let isWhole = message.body.count == count && message.hasBody
                texts.append(String(decoding: message.messageID, as: UTF8.self) + (isWhole ? "" : " in part"))
            }
            guard commands.words.contains("report when writable") else { return texts }
            bench.post(.deviceWritable(phone, name.device))
            bench.settle()
        }
    }

    @Test("a device that logs in is sent the newest messages from memory, in order, each once")
    func memory() {
        let (bench, names) = TopicLogTests.bench(2)
        for requestID in 1...9 as ClosedRange<UInt32> { Self.publish(bench, requestID, bytes: 100) }
        for name in names {
            bench.asked = []
            #expect(Self.login(bench, name, bytes: 100) == (1...9).map { "m\($0)" })
            #expect(bench.asked.map(\.word) == ["device"])
            bench.post(.deviceClosed(phone, name.device))
        }
    }

    @Test("the pairs of older messages are read from the store, and those of newer ones stay in memory")
    func older() {
        let (bench, names) = TopicLogTests.bench()
        let size = bench.partitions[0].core.turn.shares.topicBodyBytes / 8
        for requestID in 1...12 as ClosedRange<UInt32> { Self.publish(bench, requestID, bytes: size) }
        let log = bench.partitions[0].core.devices.feed.log
        let kept = log.messages.map { !$0.message.body.isEmpty }
        #expect(kept == (1...12).map { $0 > 4 }, "two in nine are dropped at once")
        bench.asked = []
        #expect(Self.login(bench, names[0], bytes: size) == (1...12).map { "m\($0)" })
        #expect(bench.asked.contains { $0.word == "messages" })
    }

    @Test("the pairs of a message that has left the log take no room")
    func gone() {
        let (bench, _) = TopicLogTests.bench()
        let size = bench.partitions[0].core.turn.shares.topicBodyBytes / 2
        Self.publish(bench, 1, bytes: size)
        for requestID in 2...200 as ClosedRange<UInt32> {
            Self.publish(bench, requestID, bytes: size, key: "k")
        }
        let log = bench.partitions[0].core.devices.feed.log
        #expect(log.messages.map(\.message.body.count) == [size, size])
        #expect(log.violation == nil)
    }
}
