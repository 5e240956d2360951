import Basics

/// The messages of one connection that the core has not answered yet: what an ACK or NACK must repeat (ccs-xmpp 5.1).
struct AppServerSubmissions {
    /// What an answer repeats.
    struct Entry {
        var messageID: [UInt8]
        /// `to`, as sent.
        var to: [UInt8]
        /// Of the message id, to free it.
        var hash: UInt64
        /// Of its stanza in a managed stream.
        var number: UInt32
    }

    private struct Slot {
        var entry: Entry?
        /// Counts the tenants, so that a late answer never meets a successor.
        var tenant: UInt16 = 0
    }

    /// How many are open.
    private(set) var count = 0
    private var window: Int
    private var slots: [Slot] = []
    private var free: [UInt16] = []

    /// A table for so many, at least 1.
    init(window: Int) { self.window = Self.bounded(window) }

    /// Changes how many may be open; those over a smaller number stay.
    mutating func setWindow(_ window: Int) { self.window = Self.bounded(window) }

    private static func bounded(_ window: Int) -> Int { min(max(window, 1), Int(UInt16.max)) }

    /// Whether one more may be opened.
    var hasRoom: Bool { count < window }

    /// Opens a request ID.
    mutating func open(messageID: [UInt8], to: [UInt8], hash: UInt64, number: UInt32 = 0) -> UInt32 {
        precondition(hasRoom, "the window is full")
        let entry = Entry(messageID: messageID, to: to, hash: hash, number: number)
        count += 1
        guard let slot = free.popLast() else {
            slots.append(Slot(entry: entry))
            return UInt32(slots.count - 1)
        }
        slots[Int(slot)].entry = entry
        return UInt32(slots[Int(slot)].tenant) << 16 | UInt32(slot)
    }

    /// Closes a request ID and gives what it stands for; nil if it is not open.
    mutating func close(_ requestID: UInt32) -> Entry? {
        let slot = Int(requestID & 0xFFFF)
        guard slot < slots.count, slots[slot].tenant == UInt16(requestID >> 16),
            let entry = slots[slot].entry.take()
        else { return nil }
        slots[slot].tenant &+= 1
        free.append(UInt16(slot))
        count -= 1
        return entry
    }
}
