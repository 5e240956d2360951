import Basics
import Testing

@testable import Delivery

/// What operators see of topic messages.
extension TopicLogTests {
    @Test(
        "what an offline device will be sent is listed, in memory or not, and no longer once it has entered the mailbox"
    )
    func listed() throws {
        let (bench, names) = Self.bench(2) { [[0], [0, 1]][$0] }
        func listed(_ at: Int, after place: UInt64 = 0) throws -> [String] {
            guard case .device(let state) = bench.store.answer(.device(names[at].device)) else {
                return ["none"]
            }
            return bench.partitions[0].core.topicMessages(for: state, after: SequenceNumber(place), limit: 3)
                .map {
                    String(decoding: $0.entry.message.messageID, as: UTF8.self)
                }
        }
        Self.publish(bench, 1)
        Self.publish(bench, 2, to: 1)
        Self.publish(bench, 3, lifetime: 0)
        #expect(try listed(0) == ["m1"] && listed(1) == ["m1", "m2"])
        let first = try #require(bench.store.topicLogs[0]?.first?.sequence.number)
        #expect(try listed(1, after: first) == ["m2"])
        Self.login(bench, names[1])
        Self.publish(bench, 4)
        #expect(try listed(0) == ["m1", "m4"] && listed(1) == [])
        bench.crash(seed: 3)
        Self.publish(bench, 5)
        #expect(try listed(0) == ["m1", "m4", "m5"] && listed(1) == ["m5"])
        for requestID in 6...9 as ClosedRange<UInt32> { Self.publish(bench, requestID) }
        #expect(try listed(0) == ["m1", "m4", "m5"], "the limit")
    }
}
