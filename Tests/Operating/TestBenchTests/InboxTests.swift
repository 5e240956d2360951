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
        var inbox = Inbox<DeviceMessage>()
        for id in ["a", "b", "c"] { inbox.add(message(id), now: 5, room: .max) }
        #expect(inbox.page(after: 0, limit: 2).map(\.number) == [1, 2])
        #expect(inbox.page(after: 2, limit: 2).map(\.number) == [3])
        #expect(inbox.page(after: 3, limit: 2).isEmpty)
        #expect(inbox.page(after: .max - 1, limit: 2).isEmpty)
        #expect(inbox.messages.map(\.receivedAt) == [5, 5, 5])
    }

    @Test("a message that is delivered again is marked; one without an ID never is")
    func repetitions() {
        var inbox = Inbox<DeviceMessage>()
        for id in ["a", "a", "", ""] { inbox.add(message(id), now: 0, room: .max) }
        #expect(inbox.messages.map(\.isRepeated) == [false, true, false, false])
    }

    @Test("the oldest messages are dropped when there are too many, and numbers go on")
    func count() {
        var inbox = Inbox<DeviceMessage>()
        let most = Limits.TestBench.inboxMessages
        for number in 0..<most + 3 { inbox.add(message("\(number)"), now: 0, room: .max) }
        #expect(inbox.messages.count == most)
        #expect(inbox.dropped == 3)
        #expect(inbox.page(after: 0, limit: 1).map(\.number) == [4])
        #expect(inbox.lastNumber == most + 3)
    }

    @Test("the oldest messages are dropped when they take too many bytes, but the last one stays")
    func bytes() {
        var inbox = Inbox<DeviceMessage>()
        let each = Limits.TestBench.messageBytes + 101
        for id in ["a", "b", "c"] { inbox.add(message(id, bytes: 100), now: 0, room: 2 * each) }
        #expect(inbox.messages.map(\.number) == [2, 3])
        #expect(inbox.bytes == 2 * each)
        inbox.add(message("d", bytes: 100), now: 0, room: 0)
        #expect(inbox.messages.map(\.number) == [4])
    }

    @Test("an inbox that is cleared goes on with its numbers, and has dropped nothing")
    func cleared() {
        var inbox = Inbox<DeviceMessage>()
        for id in ["a", "b"] { inbox.add(message(id), now: 0, room: .max) }
        inbox.clear()
        #expect(inbox.page(after: 0, limit: 9).isEmpty && inbox.bytes == 0)
        inbox.add(message("a"), now: 0, room: .max)
        #expect(inbox.page(after: 0, limit: 9).map(\.number) == [3])
        #expect(inbox.messages[0].isRepeated == false && inbox.dropped == 0)
    }

    @Test("requests wait for the first message after theirs, until their time is over or the inbox ends")
    func readers() {
        let watched = WatchedInbox<DeviceMessage>()
        var answers: [String] = []
        func read(_ name: String, after number: Int, until: Int64?) {
            watched.read(
                after: number, limit: 9, until: until.map { Instant(nanoseconds: $0) }
            ) { result in
                switch result {
                case .success(let messages): answers.append("\(name) \(messages.map(\.number))")
                case .failure(let problem): answers.append("\(name) \(problem)")
                }
            }
        }
        read("now", after: 0, until: nil)
        read("first", after: 0, until: 10)
        read("second", after: 1, until: 20)
        read("late", after: 9, until: 30)
        #expect(answers == ["now []"] && watched.waiting == 3)
        watched.add(message("a"), now: 0, room: .max)
        #expect(answers == ["now []", "first [1]"])
        watched.endOverdue(Instant(nanoseconds: 19))
        #expect(watched.waiting == 2)
        watched.endOverdue(Instant(nanoseconds: 20))
        #expect(answers.last == "second []" && watched.waiting == 1)
        watched.end(.busy)
        #expect(answers.last == "late busy" && watched.waiting == 0)
        #expect(watched.clear() == 1 && watched.clear() == 0)
    }

    @Test(
        "a request waits for as many messages as it demands, or its limit, and gets what there is when its time is over"
    )
    func counted() {
        let watched = WatchedInbox<DeviceMessage>()
        var answers: [String] = []
        func read(_ name: String, limit: Int = 9, count: Int, until: Int64) {
            watched.read(after: 0, limit: limit, count: count, until: Instant(nanoseconds: until)) { result in
                answers.append("\(name) \((try? result.get().map(\.number)) ?? [])")
            }
        }
        read("two", count: 2, until: 30)
        read("limit", limit: 1, count: 5, until: 30)
        read("three", count: 3, until: 10)
        watched.add(message("a"), now: 0, room: .max)
        #expect(answers == ["limit [1]"])
        watched.add(message("b"), now: 0, room: .max)
        #expect(answers == ["limit [1]", "two [1, 2]"])
        watched.endOverdue(Instant(nanoseconds: 10))
        #expect(answers.last == "three [1, 2]" && watched.waiting == 0)
        read("there", count: 2, until: 40)
        #expect(answers.last == "there [1, 2]" && watched.waiting == 0)
    }

    @Test("a request whose caller has left waits no longer, and the others go on")
    func left() {
        let watched = WatchedInbox<DeviceMessage>()
        var answers: [String] = []
        for id in [UInt32(7), 8] {
            watched.read(after: 0, limit: 9, id: id, until: .distantFuture) { result in
                answers.append("\(id) \((try? result.get().count) ?? -1)")
            }
        }
        watched.end(waitOf: 7)
        watched.end(waitOf: 7)
        watched.end(waitOf: 99)
        #expect(answers == ["7 0"] && watched.waiting == 1)
        watched.add(message("a"), now: 0, room: .max)
        #expect(answers == ["7 0", "8 1"])
    }
}
