import Basics

/// A queue of the messages received while the window was full, as JSON text, oldest first.
struct AppServerInboundQueue: ~Copyable {
    private struct Entry {
        /// Bytes of the stanza's ID. `nil` if it has none.
        var idLength: Int?
        var textLength: Int
        /// The number of the stanza in a managed stream.
        var number: UInt32
        /// When the message arrived.
        var receivedAt: Instant
        var length: Int { (idLength ?? 0) + textLength }
    }

    private var bytes = ByteBuffer()
    private var entries: [Entry] = []
    private var head = 0
    private var headOffset = 0

    init() {}

    var isEmpty: Bool { head == entries.count }

    /// The number of bytes.
    var count: Int { bytes.count - headOffset }

    mutating func append(
        _ text: RawSpan, id: String?, number: UInt32 = 0, receivedAt: Instant = .distantPast
    ) {
        if let id { bytes.append(text: id) }
        bytes.append(text)
        entries.append(
            Entry(
                idLength: id?.utf8.count, textLength: text.byteCount, number: number,
                receivedAt: receivedAt))
    }

    /// The text of the oldest message; the queue must not be empty.
    var first: RawSpan {
        @_lifetime(borrow self)
        get {
            let start = headOffset + (entries[head].idLength ?? 0)
            return bytes.bytes.extracting(start..<start + entries[head].textLength)
        }
    }

    /// The ID of the oldest message's stanza; `nil` if it has none.
    var firstID: String? {
        guard let length = entries[head].idLength else { return nil }
        let id = bytes.bytes.extracting(headOffset..<headOffset + length)
        return String(decoding: [UInt8](copying: id), as: UTF8.self)
    }

    /// The number of the oldest message's stanza; the queue must not be empty.
    var firstNumber: UInt32 { entries[head].number }

    /// When the oldest message arrived; the queue must not be empty.
    var firstReceivedAt: Instant { entries[head].receivedAt }

    /// Removes the oldest message; the queue must not be empty.
    mutating func removeFirst() {
        headOffset += entries[head].length
        head += 1
        if isEmpty {
            bytes.removeAll()
            entries.removeAll()
            head = 0
            headOffset = 0
        } else if headOffset > bytes.count / 2 {
            // Amortised, each byte is moved once.
            bytes.removeFirst(headOffset)
            entries.removeFirst(head)
            head = 0
            headOffset = 0
        }
    }
}
