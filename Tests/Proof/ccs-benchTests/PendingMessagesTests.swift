import Basics
import Testing

@testable import ccs_bench

/// The pending messages of a lane.
struct PendingMessagesTests {
    private static let template = Template.stanza(token: "t", size: 300, lifetimeSeconds: 0)

    /// Returns the state with messages sent at these times.
    private static func sent(_ times: [Int64]) -> PendingMessages {
        var outbox = Outbox()
        var underway = PendingMessages([template])
        for time in times { underway.send(dueAt: time, to: &outbox) }
        return underway
    }

    private static func due(_ underway: inout PendingMessages, _ answer: Answer) -> [Int64] {
        var times: [Int64] = []
        underway.consume(answer) { times.append($0) }
        return times
    }

    @Test("each kind of acknowledgement yields the times of its messages")
    func answers() {
        var underway = Self.sent([10, 20, 30, 40, 50])
        #expect(Self.due(&underway, .number(3)) == [40] && underway.outstanding == 4)
        underway = Self.sent([10, 20, 30, 40, 50])
        #expect(Self.due(&underway, .next(2)) == [10, 20] && underway.outstanding == 3)
        #expect(Self.due(&underway, .before(4)) == [30, 40])
        #expect(Self.due(&underway, .next(9)) == [50], "at most the pending messages")
    }

    @Test("Canary: a repeated count of the server acknowledges nothing")
    func again() {
        var underway = Self.sent([10, 20, 30])
        #expect(Self.due(&underway, .before(2)) == [10, 20])
        #expect(Self.due(&underway, .before(2)) == [])
        #expect(Self.due(&underway, .before(1)) == [] && underway.outstanding == 1)
        #expect(Self.due(&underway, .before(3)) == [30] && underway.outstanding == 0)
    }

    @Test("messages are sent in turn, starting with the given one")
    func turns() {
        var outbox = Outbox()
        let templates = ["a", "b", "c"].map { Template.stanza(token: $0, size: 0, lifetimeSeconds: 0) }
        var underway = PendingMessages(templates, first: 1)
        for _ in 0..<4 { underway.send(dueAt: 0, to: &outbox) }
        let text = String(decoding: outbox.bytes.copied(), as: UTF8.self)
        let tokens = text.split(separator: "\"to\":\"").dropFirst().map { String($0.prefix(1)) }
        #expect(tokens == ["b", "c", "a", "b"])
    }
}
