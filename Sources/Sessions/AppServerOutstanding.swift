import Basics

/// The upstream messages and receipts written on one connection that its app server has not answered (ccs-xmpp 4.2).
struct AppServerOutstanding {
    /// One of them.
    struct Entry {
        var sequence: Sequence
        var isReceipt: Bool
        /// The device's token: what `to` of the ack must be; for a receipt anything will do.
        var token: [UInt8]
        /// The message's id; for a receipt that of the original, without `dr2:`.
        var messageID: [UInt8]
    }

    private static let receiptPrefix = Array("dr2:".utf8)

    /// How many there may be, at least 1.
    private(set) var window: Int
    private var entries: [Entry] = []

    init(window: Int) { self.window = max(window, 1) }

    /// Changes how many there may be; those over a smaller number stay.
    mutating func setWindow(_ window: Int) { self.window = max(window, 1) }

    /// How many there are.
    var count: Int { entries.count }

    /// Adds one; the core keeps to the window, but forgets receipts that most clients never answer, so the oldest goes.
    mutating func add(_ entry: Entry) {
        if entries.count >= window, let oldest = entries.firstIndex(where: \.isReceipt) {
            entries.remove(at: oldest)
        }
        entries.append(entry)
    }

    /// Removes what an ack names; nil if there is no such thing.
    ///
    /// A message by its device's token and id, since ids are unique per device only. A receipt by its id with or without
    /// `dr2:`, wherever the ack is addressed to: clients differ in both.
    mutating func settle(to: [UInt8], messageID: [UInt8]) -> Sequence? {
        guard
            let found = entries.firstIndex(where: {
                !$0.isReceipt && $0.messageID == messageID && $0.token == to
            }) ?? entries.firstIndex(where: { $0.isReceipt && names(messageID, $0.messageID) })
        else { return nil }
        return entries.remove(at: found).sequence
    }

    private func names(_ id: [UInt8], _ original: [UInt8]) -> Bool {
        if id == original { return true }
        return id.count == original.count + Self.receiptPrefix.count
            && id.starts(with: Self.receiptPrefix) && id.dropFirst(Self.receiptPrefix.count) == original[...]
    }
}
