import Basics
import Delivery
import Store
import Testing

@testable import RocksStore

/// Messages that are not in the engine yet, as loads see them.
@Suite struct YoungTests {
    private var young = Young(tallies: [Tally()])

    private func place(_ sequence: UInt64) -> Place { Place(kind: .message, owner: 5, sequence: sequence) }

    /// A message whose record is one byte of its frame.
    private func put(_ sequence: UInt64, at byte: Int, end: UnixMilliseconds = 9) -> YoungChange {
        .put(place(sequence), record: byte..<byte + 1, .init(isCounted: true, expiresAt: end))
    }

    private func bytes(_ part: YoungPart) -> [[UInt8]] { part.rows.map { [UInt8](copying: $0.record) } }

    private var mailbox: [[UInt8]] {
        bytes(young.part(of: .messages(DeviceID(5), after: SequenceNumber(0), limit: 9)))
    }

    @Test("A message has its bytes from its own commit, whatever else came and went in that")
    mutating func records() throws {
        let first: [UInt8] = [10, 11, 12]
        try young.apply([put(1, at: 1), .remove(place(1)), put(2, at: 2)], of: first.raw, counted: [])
        #expect(mailbox == [[12]])
        let second: [UInt8] = [20, 21]
        try young.apply([put(3, at: 0), .remove(place(2)), put(4, at: 1)], of: second.raw, counted: [])
        #expect(mailbox == [[20], [21]])
        // What the first one had is free for the third.
        let third: [UInt8] = [30]
        try young.apply([put(5, at: 0)], of: third.raw, counted: [])
        try young.remove(place(3))
        #expect(mailbox == [[21], [30]])
        let page = young.part(of: .messages(DeviceID(5), after: SequenceNumber(1), limit: 1))
        #expect(bytes(page) == [[21]] && !page.isLast)
        #expect(young.part(of: .device(DeviceID(6))).rows.isEmpty)
    }

    @Test("A row that was handed out stays as it is when its message goes")
    mutating func rows() throws {
        let frame: [UInt8] = [1, 2]
        try young.apply([put(1, at: 1)], of: frame.raw, counted: [])
        let (row, end) = try #require(young.row(at: place(1)))
        try young.apply([.remove(place(1)), put(2, at: 0)], of: [9].raw, counted: [])
        #expect([UInt8](copying: row.record) == [2] && end == 9)
        #expect(young.row(at: place(1)) == nil && mailbox == [[9]])
    }

    @Test("Ends come in order, and only those that are due")
    mutating func ends() throws {
        let frame: [UInt8] = [1, 2, 3]
        try young.apply(
            [put(1, at: 0, end: 30), put(2, at: 1, end: 10), put(3, at: 2, end: 20)], of: frame.raw,
            counted: [])
        #expect(try young.ends(by: 9, of: 0, limit: 9).isEmpty)
        #expect(try young.ends(by: 20, of: 0, limit: 9).map(\.sequence) == [2, 3])
        #expect(try young.ends(by: 40, of: 0, limit: 2).map(\.sequence) == [2, 3])
        try young.remove(place(2))
        #expect(try young.ends(by: 40, of: 0, limit: 9).map(\.sequence) == [3, 1])
    }
}
