import Basics
import Testing

@testable import ClientProtocol
@testable import TestBench

@Suite("Inbox of a virtual device")
struct InboxTests {
    private func message(_ id: String, bytes: Int = 1) -> DeviceMessage {
        DeviceMessage(
            persistentID: Array(id.utf8), from: [], category: [], collapseKey: [], sentAt: 0,
            pairs: [(key: [0x6B], value: [UInt8](repeating: 0x76, count: bytes))])
    }

    @Test("canary: messages are numbered in order, and pages begin after a number")
    func pages() {
        var inbox = Inbox()
        for id in ["a", "b", "c"] { inbox.add(message(id), now: 5, room: .max) }
        #expect(inbox.page(after: 0, limit: 2).map(\.number) == [1, 2])
        #expect(inbox.page(after: 2, limit: 2).map(\.number) == [3])
        #expect(inbox.page(after: 3, limit: 2).isEmpty)
        #expect(inbox.page(after: .max - 1, limit: 2).isEmpty)
        #expect(inbox.messages.map(\.receivedAt) == [5, 5, 5])
    }

    @Test("a message that is delivered again is marked; one without an ID never is")
    func repetitions() {
        var inbox = Inbox()
        for id in ["a", "a", "", ""] { inbox.add(message(id), now: 0, room: .max) }
        #expect(inbox.messages.map(\.isRepeated) == [false, true, false, false])
    }

    @Test("the oldest messages are dropped when there are too many, and numbers go on")
    func count() {
        var inbox = Inbox()
        let most = Limits.TestBench.inboxMessages
        for number in 0..<most + 3 { inbox.add(message("\(number)"), now: 0, room: .max) }
        #expect(inbox.messages.count == most)
        #expect(inbox.dropped == 3)
        #expect(inbox.page(after: 0, limit: 1).map(\.number) == [4])
        #expect(inbox.lastNumber == most + 3)
    }

    @Test("the oldest messages are dropped when they take too many bytes, but the last one stays")
    func bytes() {
        var inbox = Inbox()
        let each = Limits.TestBench.messageBytes + 101
        for id in ["a", "b", "c"] { inbox.add(message(id, bytes: 100), now: 0, room: 2 * each) }
        #expect(inbox.messages.map(\.number) == [2, 3])
        #expect(inbox.bytes == 2 * each)
        inbox.add(message("d", bytes: 100), now: 0, room: 0)
        #expect(inbox.messages.map(\.number) == [4])
    }
}
