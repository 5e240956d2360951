import Basics
import Delivery
import Store
import Testing

@testable import RocksStore

/// Recent messages as loads see them.
@Suite struct RecentMessagesTests {
    private var recent = RecentMessages(tallies: [Tally()])

    private func place(_ sequence: UInt64) -> MessageKey {
        MessageKey(kind: .message, owner: 5, sequence: sequence)
    }

    /// Returns the put of a message whose record is one byte of its frame.
    private func put(_ sequence: UInt64, at byte: Int, end: UnixMilliseconds = 9) -> RecentChange {
        .put(place(sequence), record: byte..<byte + 1, .init(isCounted: true, expiresAt: end))
    }

    private func bytes(_ part: RecentPart) -> [[UInt8]] { part.rows.map { [UInt8](copying: $0.record) } }

    private var mailbox: [[UInt8]] {
        bytes(recent.part(of: .messages(DeviceID(5), after: SequenceNumber(0), limit: 9)))
    }

    @Test("A message has the bytes of its own commit when others of that commit were removed")
    mutating func records() throws {
        let first: [UInt8] = [10, 11, 12]
        try recent.apply([put(1, at: 1), .remove(place(1)), put(2, at: 2)], of: first.raw, counted: [])
        #expect(mailbox == [[12]])
        let second: [UInt8] = [20, 21]
        try recent.apply([put(3, at: 0), .remove(place(2)), put(4, at: 1)], of: second.raw, counted: [])
        #expect(mailbox == [[20], [21]])
        // The third commit reuses the slot of the first.
        let third: [UInt8] = [30]
        try recent.apply([put(5, at: 0)], of: third.raw, counted: [])
        try recent.remove(place(3))
        #expect(mailbox == [[21], [30]])
        let page = recent.part(of: .messages(DeviceID(5), after: SequenceNumber(1), limit: 1))
        #expect(bytes(page) == [[21]] && !page.isLast)
        #expect(recent.part(of: .device(DeviceID(6))).rows.isEmpty)
    }

    @Test("A returned row stays unchanged when its message is removed")
    mutating func rows() throws {
        let frame: [UInt8] = [1, 2]
        try recent.apply([put(1, at: 1)], of: frame.raw, counted: [])
        let (row, end) = try #require(recent.row(at: place(1)))
        try recent.apply([.remove(place(1)), put(2, at: 0)], of: [9].raw, counted: [])
        #expect([UInt8](copying: row.record) == [2] && end == 9)
        #expect(recent.row(at: place(1)) == nil && mailbox == [[9]])
    }

    @Test("Recent messages are swept in order, and only when they have expired")
    mutating func ends() throws {
        let frame: [UInt8] = [1, 2, 3]
        try recent.apply(
            [put(1, at: 0, end: 30), put(2, at: 1, end: 10), put(3, at: 2, end: 20)], of: frame.raw,
            counted: [])
        #expect(try recent.ends(by: 9, of: 0, limit: 9).isEmpty)
        #expect(try recent.ends(by: 20, of: 0, limit: 9).map(\.sequence) == [2, 3])
        #expect(try recent.ends(by: 40, of: 0, limit: 2).map(\.sequence) == [2, 3])
        try recent.remove(place(2))
        #expect(try recent.ends(by: 40, of: 0, limit: 9).map(\.sequence) == [3, 1])
    }
}
