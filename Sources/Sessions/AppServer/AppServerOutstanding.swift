import Basics

/// The upstream messages and receipts written on one connection that its app server has not answered (ccs-xmpp 4.2).
struct AppServerOutstanding {
    /// One of them.
    struct Entry {
        var sequence: Sequence
        /// The device's token: what `to` of the ack must be; for a receipt anything will do.
        var token: [UInt8]
        /// The message's id; for a receipt that of the original, without `dr2:`.
        var messageID: [UInt8]
        /// When the core forgets it, milliseconds since 1970.
        var expiresAt: UnixMilliseconds
    }

    private static let receiptPrefix = Array("dr2:".utf8)

    /// How many of each there may be, at least 1.
    private(set) var window: Int
    private var messages: [Entry] = []
    /// Messages whose time is over, the newest ones: an answer that comes late must not settle a newer one of the same id.
    private var lapsed: [Entry] = []
    private var receipts: [Entry] = []

    init(window: Int) { self.window = max(window, 1) }

    /// How many messages there are; receipts need not be answered.
    var messageCount: Int { messages.count }

    /// Changes how many there may be: messages over a smaller number stay, of receipts the oldest go: their sequences.
    mutating func setWindow(_ window: Int) -> [Sequence] {
        self.window = max(window, 1)
        let surplus = receipts.prefix(max(0, receipts.count - self.window)).map(\.sequence)
        receipts.removeFirst(surplus.count)
        return surplus
    }

    /// Adds a message; the core keeps to the window, but counts none whose time is over.
    mutating func add(message entry: Entry, now: UnixMilliseconds) {
        if messages.count >= window {
            lapsed.append(contentsOf: messages.filter { $0.expiresAt <= now })
            lapsed.removeFirst(max(0, lapsed.count - window))
            messages.removeAll { $0.expiresAt <= now }
        }
        messages.append(entry)
    }

    /// Adds a receipt; most clients never answer one, so the oldest goes if there are too many: its sequence.
    mutating func add(receipt entry: Entry) -> Sequence? {
        receipts.append(entry)
        return receipts.count > window ? receipts.removeFirst().sequence : nil
    }

    /// Removes what an ack names; nil if there is no such thing.
    ///
    /// A message by its device's token and id, since ids are unique per device only. A receipt by its id with or without
    /// `dr2:`, wherever the ack is addressed to: clients differ in both.
    mutating func settle(to: [UInt8], messageID: [UInt8]) -> Sequence? {
        let isNamed = { (entry: Entry) in entry.messageID == messageID && entry.token == to }
        if let found = lapsed.firstIndex(where: isNamed) { return lapsed.remove(at: found).sequence }
        if let found = messages.firstIndex(where: isNamed) { return messages.remove(at: found).sequence }
        guard let found = receipts.firstIndex(where: { names(messageID, $0.messageID) }) else { return nil }
        return receipts.remove(at: found).sequence
    }

    private func names(_ id: [UInt8], _ original: [UInt8]) -> Bool {
        if id == original { return true }
        return id.count == original.count + Self.receiptPrefix.count
            && id.starts(with: Self.receiptPrefix) && id.dropFirst(Self.receiptPrefix.count) == original[...]
    }
}
