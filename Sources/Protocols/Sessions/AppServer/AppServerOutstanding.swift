import Basics
import Delivery

/// The upstream messages and receipts written on one connection that its app server has not answered (ccs-xmpp 4.2).
///
/// The core decides how many there are (`PendingWindow`): this table finds the message that an answer names. It also remembers
/// what the core withdrew last, because a late answer must not be taken for the answer to a newer message with the same ID.
struct AppServerOutstanding {
    struct Entry {
        var sequence: SequenceNumber
        /// The device's token: what `to` of the ack must be. Not compared for a receipt.
        var token: [UInt8]
        /// The message's ID; for a receipt that of the original, without `dr2:`.
        var messageID: [UInt8]
    }

    /// What an answer names.
    enum Answered: Equatable {
        /// A message or receipt that was waiting for it.
        case outstanding(SequenceNumber)
        /// One that the core has withdrawn: the answer is too late.
        case withdrawn
        case unknown
    }

    private static let receiptPrefix = Array("dr2:".utf8)

    private var messages: [Entry] = []
    private var receipts: [Entry] = []
    /// The newest withdrawn messages, oldest first.
    private var withdrawnMessages: [Entry] = []
    /// The newest withdrawn receipts, oldest first.
    private var withdrawnReceipts: [Entry] = []

    /// The number of unanswered messages; receipts need no answer.
    var messageCount: Int { messages.count }

    /// Adds a message. One that is sent again after it was withdrawn waits for its answer again.
    mutating func add(message entry: Entry) {
        Self.forget(entry.sequence, in: &withdrawnMessages)
        messages.append(entry)
    }

    /// Adds a receipt, like a message.
    mutating func add(receipt entry: Entry) {
        Self.forget(entry.sequence, in: &withdrawnReceipts)
        receipts.append(entry)
    }

    private static func forget(_ sequence: SequenceNumber, in list: inout [Entry]) {
        if let index = list.firstIndex(where: { $0.sequence == sequence }) { list.remove(at: index) }
    }

    /// Stops waiting for an answer. Returns whether there was a message or receipt of this sequence.
    mutating func withdraw(_ sequence: SequenceNumber) -> Bool {
        if let index = messages.firstIndex(where: { $0.sequence == sequence }) {
            Self.remember(messages.remove(at: index), in: &withdrawnMessages)
        } else if let index = receipts.firstIndex(where: { $0.sequence == sequence }) {
            Self.remember(receipts.remove(at: index), in: &withdrawnReceipts)
        } else {
            return false
        }
        return true
    }

    private static func remember(_ entry: Entry, in list: inout [Entry]) {
        if list.count == Limits.AppServer.withdrawnRemembered { list.removeFirst() }
        list.append(entry)
    }

    /// Removes and returns what an answer names, the oldest where IDs are equal.
    ///
    /// A message is found by its device's token and ID, since IDs are unique per device only. A receipt is found by its ID with or
    /// without `dr2:`, wherever the ack is addressed to: clients differ in both.
    mutating func removeAnswered(to: [UInt8], messageID: [UInt8]) -> Answered {
        let isMessage = { (entry: Entry) in entry.messageID == messageID && entry.token == to }
        let isReceipt = { (entry: Entry) in Self.names(messageID, entry.messageID) }
        if Self.remove(from: &withdrawnMessages, where: isMessage) != nil { return .withdrawn }
        if let found = Self.remove(from: &messages, where: isMessage) { return .outstanding(found.sequence) }
        if Self.remove(from: &withdrawnReceipts, where: isReceipt) != nil { return .withdrawn }
        if let found = Self.remove(from: &receipts, where: isReceipt) { return .outstanding(found.sequence) }
        return .unknown
    }

    private static func remove(from list: inout [Entry], where isNamed: (Entry) -> Bool) -> Entry? {
        list.firstIndex(where: isNamed).map { list.remove(at: $0) }
    }

    /// Whether an answer's ID is that of a receipt for a message, with or without the prefix.
    private static func names(_ id: [UInt8], _ original: [UInt8]) -> Bool {
        if id == original { return true }
        return id.count == original.count + receiptPrefix.count
            && id.starts(with: receiptPrefix) && id.dropFirst(receiptPrefix.count) == original[...]
    }
}
