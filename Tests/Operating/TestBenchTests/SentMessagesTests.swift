import Basics
import Testing

@testable import ClientProtocol
@testable import TestBench

@Suite("Messages that a virtual device sends")
struct SentMessagesTests {
    private func message(_ id: String, persistentID: String? = nil, bytes: Int = 1) -> Upstream {
        var message = Upstream(
            sender: SenderID(5), category: [], messageID: Array(id.utf8),
            persistentID: Array((persistentID ?? "p-\(id)").utf8))
        message.data = [(key: [], value: [UInt8](repeating: 0x76, count: bytes))]
        return message
    }

    private func states(_ sent: SentMessages) -> [SentMessage.State] {
        sent.page(after: 0, limit: .max, messageID: nil).map(\.state)
    }

    @Test("canary: a message waits with its content and IDs until an outcome ends it")
    func outcomes() {
        var sent = SentMessages()
        for (number, id) in ["a", "b", "c"].enumerated() {
            #expect(sent.add(message(id), now: 7) == number + 1)
        }
        #expect(states(sent) == [.waiting, .waiting, .waiting])
        #expect(sent.end(Array("p-b".utf8), .stored) == 2)
        #expect(sent.end(Array("p-b".utf8), .stored) == nil, "it ends once")
        #expect(sent.refuse(Array("c".utf8), "toomanymessages") == 3)
        #expect(sent.unsent.map(\.persistentID) == [Array("p-a".utf8)])
        #expect(states(sent) == [.waiting, .stored, .refused("toomanymessages")])
        sent.markReturned(Array("b".utf8), "TtlExceeded")
        sent.markReturned(Array("a".utf8), "TtlExceeded")
        #expect(states(sent) == [.waiting, .returned("TtlExceeded"), .refused("toomanymessages")])
        #expect(sent.page(after: 0, limit: 1, messageID: nil).map(\.sentAt) == [7])
    }

    @Test("of messages with the same ID the first that waits is refused")
    func sameID() {
        var sent = SentMessages()
        for persistentID in ["p", "q", "r"] {
            _ = sent.add(message("a", persistentID: persistentID), now: 0)
        }
        #expect(sent.end(Array("p".utf8), .stored) == 1)
        #expect(sent.refuse(Array("a".utf8), "x") == 2)
        #expect(states(sent) == [.stored, .refused("x"), .waiting])
    }

    @Test("pages begin after a number, and may be of one ID")
    func pages() {
        var sent = SentMessages()
        for id in ["a", "b", "a"] { _ = sent.add(message(id), now: 0) }
        _ = sent.add(message("a", persistentID: "other"), now: 0)
        #expect(sent.page(after: 1, limit: 2, messageID: nil).map(\.number) == [2, 3])
        #expect(sent.page(after: 1, limit: 9, messageID: "a").map(\.number) == [3, 4])
    }

    @Test("beyond the limits of what waits a message is not taken, until one has ended")
    func limits() {
        var sent = SentMessages()
        for number in 0..<Limits.Mailbox.waitingUpstream {
            #expect(sent.add(message("\(number)"), now: 0) != nil)
        }
        #expect(sent.add(message("more"), now: 0) == nil)
        _ = sent.end(Array("p-0".utf8), .stored)
        #expect(sent.add(message("more"), now: 0) != nil)

        var large = SentMessages()
        // The server decides on one that is too large for it.
        #expect(large.add(message("a", bytes: Limits.TestBench.unsentBytes), now: 0) == 1)
        #expect(large.add(message("b"), now: 0) == nil)
        _ = large.refuse(Array("a".utf8), "SizeExceeded")
        #expect(large.add(message("b"), now: 0) == 2)
        #expect(large.waiting.bytes == Limits.TestBench.messageBytes + 1)
    }

    @Test("the outcomes of the last messages are kept, and all that wait")
    func history() {
        var sent = SentMessages()
        _ = sent.add(message("waits"), now: 0)
        for number in 0..<Limits.TestBench.sentMessages + 3 {
            _ = sent.add(message("\(number)"), now: 0)
            _ = sent.end(Array("p-\(number)".utf8), .stored)
        }
        let page = sent.page(after: 0, limit: .max, messageID: nil)
        #expect(page.count == Limits.TestBench.sentMessages)
        #expect(page.first?.messageID == "waits")
        #expect(page.last?.number == Limits.TestBench.sentMessages + 4)
    }
}
