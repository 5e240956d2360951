import Basics

/// An upstream message or receipt that was sent to an app server and is not answered.
struct OutstandingUpstream {
    let sequence: SequenceNumber
    let expiresAt: UnixMilliseconds
    /// The device that it came from, for order; 0 for a receipt.
    let device: UInt64
    let isReceipt: Bool
    let isStored: Bool
    /// When it was sent.
    let sentAt: Instant
}

/// The unanswered messages of one connection, up to the pending window, and separately its unanswered receipts, so that
/// receipts never block messages.
///
/// This is the only window of upstream messages: the session keeps the ID of whatever the core sends, until an answer names it or
/// the core withdraws it.
struct PendingWindow {
    private(set) var messages: [OutstandingUpstream] = []
    private(set) var receipts: [OutstandingUpstream] = []
    /// How many of the oldest receipts the session was asked to report once they are written.
    private var releasing = 0

    /// Adds an item in the order of sequences; one that is sent again may be older than those in the window.
    mutating func insert(_ item: OutstandingUpstream) {
        if item.isReceipt { receipts.append(item) } else { Self.insert(item, into: &messages) }
    }

    private static func insert(_ item: OutstandingUpstream, into list: inout [OutstandingUpstream]) {
        var at = list.count
        while at > 0, list[at - 1].sequence > item.sequence { at -= 1 }
        list.insert(item, at: at)
    }

    /// Removes and returns an item. Returns `nil` if it is not there.
    mutating func remove(_ sequence: SequenceNumber) -> OutstandingUpstream? {
        if let at = messages.firstIndex(where: { $0.sequence == sequence }) { return messages.remove(at: at) }
        if let at = receipts.firstIndex(where: { $0.sequence == sequence }) { return removeReceipt(at: at) }
        return nil
    }

    private mutating func removeReceipt(at index: Int) -> OutstandingUpstream {
        if index < releasing { releasing -= 1 }
        return receipts.remove(at: index)
    }

    /// Takes the oldest receipt out if it was sent at or before an instant.
    mutating func removeReceipt(sentBy instant: Instant) -> OutstandingUpstream? {
        guard let first = receipts.first, first.sentAt <= instant else { return nil }
        return removeReceipt(at: 0)
    }

    /// Returns the oldest receipt that is to be released, if more than `limit` would be kept without that; once for each.
    mutating func nextRelease(keeping limit: Int) -> SequenceNumber? {
        guard receipts.count - releasing > limit else { return nil }
        releasing += 1
        return receipts[releasing - 1].sequence
    }

    /// Whether nothing is outstanding.
    var isEmpty: Bool { messages.isEmpty && receipts.isEmpty }

    /// Whether the window has an item with a sequence.
    func contains(_ sequence: SequenceNumber) -> Bool {
        messages.contains { $0.sequence == sequence } || receipts.contains { $0.sequence == sequence }
    }
}

/// A session of an app server, as its sender's partition tracks it.
struct AppServerSessionState {
    /// The progress of a session.
    enum Mode {
        /// Logged in, not yet bound.
        case loggedIn
        /// Bound: accepts upstream messages.
        case ready
        /// Accepts no more messages; those that it was sent still count.
        case draining

        /// Whether a session may change from this mode to another one.
        func mayBecome(_ next: Mode) -> Bool {
            switch (self, next) {
            case (.loggedIn, .ready), (_, .draining): true
            default: false
            }
        }
    }

    /// What has the session.
    enum Kind {
        case appServer
        /// The sender's webhook, which stands in while no app server is ready.
        case webhook
        /// A recorder (`DeliverySettings.recorderKey`), which stands in while there is nothing else.
        case recorder
    }

    let connection: ConnectionID
    let kind: Kind
    /// The server key of its login. `nil` for those that stand in.
    let key: SecretDigest?
    var mode = Mode.loggedIn
    /// Whether its outbound buffer is full because the app server does not read.
    var isCongested = false
    var window = PendingWindow()

    init(connection: ConnectionID, kind: Kind, key: SecretDigest? = nil) {
        self.connection = connection
        self.kind = kind
        self.key = key
    }

    /// Whether it accepts another message with up to `limit` unanswered ones.
    func takesMessage(window limit: Int) -> Bool {
        let limit = kind == .webhook ? Limits.Webhook.held : limit
        return mode == .ready && !isCongested && window.messages.count < limit
    }

    /// Whether it accepts another receipt.
    ///
    /// Most app servers never answer a receipt. Up to the window are kept for an answer; as many older ones may wait for the
    /// session's report that they are written, so that a receipt is removed from the store only then. A webhook answers each.
    func takesReceipt(window limit: Int) -> Bool {
        let most = kind == .webhook ? Limits.Webhook.held : 2 * limit
        return mode == .ready && !isCongested && window.receipts.count < most
    }
}

/// A sender in the memory of its partition: its sessions, and the delivery progress of its mailbox.
///
/// Bodies are in memory only between the store's answer and delivery: at most a page of them (`backlog`).
final class SenderEntry {
    /// A read of a page of the mailbox.
    struct PageRead {
        /// The cursor when the read started.
        let after: SequenceNumber
        /// The newest message known to be on disk when the read started.
        let target: SequenceNumber
    }

    let sender: SenderID
    var sessions: [AppServerSessionState] = []
    /// The resumable streams; those without a connection are in the order of their loss.
    var streams: [KnownStream] = []
    /// Messages that are read and wait since their device's session is full. Oldest first, none after `cursor`.
    var backlog: [StoredUpstream] = []
    /// Every message on disk up to here is in a window, in the backlog or being removed from the store.
    var cursor = SequenceNumber(0)
    /// The newest message known to be on disk.
    var newest = SequenceNumber(0)
    /// Whether there may be messages on disk after `cursor`.
    var isBehind = true
    /// The read of the next page, while the store has not answered it.
    var pageRead: PageRead?
    /// The session that has a device's outstanding messages, so that their order is preserved.
    var sticky: [UInt64: Sticky] = [:]
    /// The first message of each device that is left in the store, with all later ones, for those before it: see `park`.
    var parked: [UInt64: SequenceNumber] = [:]
    /// Messages whose removal the store has not confirmed: a page may still contain them.
    var leaving: Set<UInt64> = []
    /// Those of them that are being returned to their devices, until that is answered.
    var returning: [UInt64: UpstreamReturn] = [:]
    /// Failed removals, which are tried again at the next tick.
    var failedRemovals: [Mutation] = []
    /// Messages stored minus messages removed since it is in memory: a bound on growth, not an exact count.
    var stored = 0
    /// The distribution of these messages over devices.
    var shares = UpstreamShares()
    /// The rate limit of upstream messages to the sender.
    var bucket = TokenBucket()

    /// The session and number of a device's outstanding messages.
    struct Sticky {
        var connection: ConnectionID
        var count: Int
    }

    init(_ sender: SenderID) { self.sender = sender }

    /// Changes the mode of a session.
    func setMode(_ mode: AppServerSessionState.Mode, at index: Int, _ turn: inout Turn) {
        guard
            turn.demand(
                sessions[index].mode.mayBecome(mode), "a session cannot change to this mode", of: self)
        else { return }
        sessions[index].mode = mode
    }

    /// Returns the index of a session in `sessions`.
    func index(of connection: ConnectionID) -> Int? { sessions.firstIndex { $0.connection == connection } }

    /// Returns the session with the fewest outstanding messages among those that accept another one.
    func leastOutstanding(window: Int) -> Int? {
        session(with: { $0.messages.count }) { $0.takesMessage(window: window) }
    }

    /// Returns the session for a receipt: that of the original message, else the one with the fewest receipts that accepts it.
    func sessionForReceipt(from requester: ConnectionID?, window: Int) -> Int? {
        if let requester, let at = index(of: requester), sessions[at].takesReceipt(window: window) {
            return at
        }
        return session(with: { $0.receipts.count }) { $0.takesReceipt(window: window) }
    }

    /// Returns the session with the lowest count among those that accept something and are in charge.
    private func session(
        with count: (PendingWindow) -> Int, where accepts: (AppServerSessionState) -> Bool
    ) -> Int? {
        var best: Int?
        for at in sessions.indices where accepts(sessions[at]) && isInCharge(at) {
            if let found = best, count(sessions[found].window) <= count(sessions[at].window) { continue }
            best = at
        }
        return best
    }

    /// Whether a session may be given something: a recorder stands back as long as there is an app server or a webhook, even one that
    /// accepts nothing now. (`adaptWebhook` drains a webhook's session.)
    func isInCharge(_ index: Int) -> Bool {
        sessions[index].kind != .recorder || sessions.allSatisfy { $0.kind == .recorder }
    }

    /// Whether any session accepts messages.
    var hasReadySession: Bool { sessions.contains { $0.mode == .ready } }

    /// Moves the cursor back so that all messages from `sequence` on are read again.
    func rewind(before sequence: SequenceNumber) {
        let before = SequenceNumber(sequence.number &- 1)
        isBehind = true
        guard before < cursor else { return }
        cursor = before
        backlog.removeAll { $0.sequence > before }
    }

    /// Whether a message is outstanding on a session or being removed.
    func holds(_ sequence: SequenceNumber) -> Bool {
        leaving.contains(sequence.number) || sessions.contains { $0.window.contains(sequence) }
    }

    /// Updates the order of a device after one of its messages has left a window.
    func released(_ item: OutstandingUpstream, _ turn: inout Turn) {
        guard !item.isReceipt else { return }
        let sticky = turn.demand(
            self.sticky[item.device], "a message leaves a session that has none of its device", of: self)
        guard var sticky else { return }
        turn.demand(sticky.count > 0, "the count of outstanding messages of a device is negative", of: self)
        sticky.count -= 1
        self.sticky[item.device] = sticky.count > 0 ? sticky : nil
    }

    /// Counts a message that has left the mailbox; messages stored before the sender was loaded are not counted.
    func countRemoved() { stored = max(0, stored - 1) }

    /// Drops the messages that were read, and recounts those outstanding on sessions.
    func reset() {
        rewind(before: SequenceNumber(1))
        sticky = [:]
        parked = [:]
        for session in sessions {
            for item in session.window.messages {
                let count = sticky[item.device]?.count ?? 0
                sticky[item.device] = Sticky(connection: session.connection, count: count + 1)
            }
        }
    }
}

/// The senders in the memory of one partition.
struct SenderTable {
    private var table: IdentifierTable<SenderEntry>

    init(hash: SipHash) { table = IdentifierTable(hash: hash) }

    /// Returns a sender in memory, or `nil` if it is not there.
    subscript(_ sender: SenderID) -> SenderEntry? { table[sender.number] }

    /// All senders in memory, in the table's order.
    var all: [SenderEntry] { table.all }

    /// Returns a sender, which is added if it is not in memory.
    mutating func entry(_ sender: SenderID) -> SenderEntry {
        if let entry = table[sender.number] { return entry }
        let entry = SenderEntry(sender)
        table.insert(entry, for: sender.number)
        return entry
    }

    /// Removes a sender from memory.
    mutating func remove(_ sender: SenderID) { table.remove(sender.number) }
}
