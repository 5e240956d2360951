import Basics

/// The messages of one connection that wait for the core, with what an ACK or NACK must repeat (ccs-xmpp 5.1).
struct AppServerSubmissions {
    struct Entry {
        var messageID: [UInt8]
        /// `to`, as sent.
        var to: [UInt8]
        /// The hash of the message ID, to free it for a retry.
        var hash: UInt64
        /// The number of the stanza in a managed stream.
        var number: UInt32
        /// When the message arrived.
        var receivedAt: Instant
    }

    private struct Slot {
        var entry: Entry?
        /// The generation of the slot, so that a late answer never matches a later message.
        var tenant: UInt16 = 0
    }

    private(set) var count = 0
    private var window: Int
    private var slots: [Slot] = []
    private var free: [UInt16] = []

    init(window: Int) { self.window = Self.bounded(window) }

    /// Changes the limit; surplus messages stay.
    mutating func setWindow(_ window: Int) { self.window = Self.bounded(window) }

    private static func bounded(_ window: Int) -> Int { min(max(window, 1), Int(UInt16.max)) }

    /// Whether one more message may be added.
    var hasRoom: Bool { count < window }

    /// Adds a message and returns its request ID.
    mutating func open(
        messageID: [UInt8], to: [UInt8], hash: UInt64, number: UInt32 = 0,
        receivedAt: Instant = .distantPast
    ) -> UInt32 {
        precondition(hasRoom, "the window is full")
        let entry = Entry(
            messageID: messageID, to: to, hash: hash, number: number, receivedAt: receivedAt)
        count += 1
        guard let slot = free.popLast() else {
            slots.append(Slot(entry: entry))
            return UInt32(slots.count - 1)
        }
        slots[Int(slot)].entry = entry
        return UInt32(slots[Int(slot)].tenant) << 16 | UInt32(slot)
    }

    /// Removes and returns the message of a request ID; `nil` if it is unknown.
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
