import Basics

/// An upstream message or receipt that an app server has and has not answered.
struct OutstandingUpstream {
    let sequence: Sequence
    let expiresAt: UnixMilliseconds
    /// The device it came from, for order; 0 for a receipt.
    let device: UInt64
    let isReceipt: Bool
    let isStored: Bool
    /// When it was handed over.
    let sentAt: Instant
}

/// What one connection has been sent and has not answered: messages up to the window, receipts apart so that they never
/// stop messages.
///
/// This is the only window of upstream messages. The session keeps the IDs of what it has written, however many the core sends, and
/// forgets an ID when the core withdraws it.
struct PendingWindow {
    private(set) var messages: [OutstandingUpstream] = []
    private(set) var receipts: [OutstandingUpstream] = []
    /// How many of the oldest receipts the session was asked to report once they are written.
    private var releasing = 0

    /// Adds one, in order of sequence (what goes again may be older than what is there).
    mutating func insert(_ item: OutstandingUpstream) {
        if item.isReceipt { receipts.append(item) } else { Self.insert(item, into: &messages) }
    }

    private static func insert(_ item: OutstandingUpstream, into list: inout [OutstandingUpstream]) {
        var at = list.count
        while at > 0, list[at - 1].sequence > item.sequence { at -= 1 }
        list.insert(item, at: at)
    }

    /// Takes one out; nil if it is not there.
    mutating func remove(_ sequence: Sequence) -> OutstandingUpstream? {
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
    mutating func nextRelease(keeping limit: Int) -> Sequence? {
        guard receipts.count - releasing > limit else { return nil }
        releasing += 1
        return receipts[releasing - 1].sequence
    }

    /// Whether one is there.
    func contains(_ sequence: Sequence) -> Bool {
        messages.contains { $0.sequence == sequence } || receipts.contains { $0.sequence == sequence }
    }
}

/// A session of an app server.
struct AppServerSessionState {
    /// How far it is.
    enum Mode {
        /// Logged in, not yet bound.
        case loggedIn
        /// Takes upstream messages.
        case ready
        /// Takes no more; what it has still counts.
        case draining

        /// Whether a session may go from this mode to another one.
        func mayBecome(_ next: Mode) -> Bool {
            switch (self, next) {
            case (.loggedIn, .ready), (_, .draining): true
            default: false
            }
        }
    }

    let connection: ConnectionID
    var mode = Mode.loggedIn
    /// Whether it does not read: what is handed over would only wait there.
    var isCongested = false
    var window = PendingWindow()

    /// Whether it may have another message, with so many unanswered at most.
    func takesMessage(window limit: Int) -> Bool {
        mode == .ready && !isCongested && window.messages.count < limit
    }

    /// Whether it may have another receipt.
    ///
    /// Most app servers never answer a receipt. As many as the window are kept for an answer; as many older ones may wait for the
    /// session's report that they are written, so that a receipt leaves the store only then.
    func takesReceipt(window limit: Int) -> Bool {
        mode == .ready && !isCongested && window.receipts.count < 2 * limit
    }
}

/// A sender in the memory of its partition: its sessions, and how far its mailbox has been handed out.
///
/// Bodies are in memory only between the store's answer and the handing over: at most a page of them (`backlog`).
final class SenderEntry {
    /// A question to the store.
    struct Load {
        /// From where it was asked.
        let after: Sequence
        /// The newest message known to be on disk when it was asked.
        let target: Sequence
    }

    let sender: SenderID
    var sessions: [AppServerSessionState] = []
    /// Streams that may be resumed, those without a connection oldest first.
    var streams: [KnownStream] = []
    /// Read and not handed over: their device's session is full. Oldest first, none after `cursor`.
    var backlog: [StoredUpstream] = []
    /// Everything on disk up to here is in a window, in the backlog or on its way out of the store.
    var cursor = Sequence(0)
    /// The newest message known to be on disk.
    var newest = Sequence(0)
    /// Whether there may be messages on disk after `cursor`.
    var isBehind = true
    var load: Load?
    /// Where the outstanding messages of a device are, so that its order holds.
    var sticky: [UInt64: Sticky] = [:]
    /// Removed, but the store has not confirmed it: a page may still show them.
    var leaving: Set<UInt64> = []
    /// Removals that failed: tried again at the next tick.
    var failedRemovals: [Mutation] = []
    /// Messages put less messages removed since it is in memory: a bound on growth, not an exact count.
    var stored = 0
    /// Which devices those are from.
    var shares = UpstreamShares()
    /// What is left of the rate of messages to it.
    var bucket = TokenBucket()

    /// A device's outstanding messages.
    struct Sticky {
        var connection: ConnectionID
        var count: Int
    }

    init(_ sender: SenderID) { self.sender = sender }

    /// Moves a session to another mode.
    func setMode(_ mode: AppServerSessionState.Mode, at index: Int, _ turn: inout Turn) {
        guard
            turn.demand(
                sessions[index].mode.mayBecome(mode), "a session cannot go to this mode", of: self)
        else { return }
        sessions[index].mode = mode
    }

    /// Place of a session in `sessions`.
    func index(of connection: ConnectionID) -> Int? { sessions.firstIndex { $0.connection == connection } }

    /// The session with the fewest outstanding messages among those that may have one more.
    func leastOutstanding(window: Int) -> Int? {
        var best: Int?
        for at in sessions.indices where sessions[at].takesMessage(window: window) {
            let count = sessions[at].window.messages.count
            if let found = best, sessions[found].window.messages.count <= count { continue }
            best = at
        }
        return best
    }

    /// The session for a receipt: that of its original, else the one with the fewest receipts among those that may have it.
    func sessionForReceipt(from origin: ConnectionID?, window: Int) -> Int? {
        if let origin, let at = index(of: origin), sessions[at].takesReceipt(window: window) { return at }
        var best: Int?
        for at in sessions.indices where sessions[at].takesReceipt(window: window) {
            let count = sessions[at].window.receipts.count
            if let found = best, sessions[found].window.receipts.count <= count { continue }
            best = at
        }
        return best
    }

    /// Whether there is any session that takes messages.
    var hasReadySession: Bool { sessions.contains { $0.mode == .ready } }

    /// Goes back so that everything from a message on is read again.
    func rewind(before sequence: Sequence) {
        let before = Sequence(sequence.number &- 1)
        isBehind = true
        guard before < cursor else { return }
        cursor = before
        backlog.removeAll { $0.sequence > before }
    }

    /// Whether a message is in someone's hands or on its way out.
    func holds(_ sequence: Sequence) -> Bool {
        leaving.contains(sequence.number) || sessions.contains { $0.window.contains(sequence) }
    }

    /// A message left a window.
    func released(_ item: OutstandingUpstream, _ turn: inout Turn) {
        guard !item.isReceipt else { return }
        let sticky = turn.demand(
            self.sticky[item.device], "a message leaves a session whose device has none there", of: self)
        guard var sticky else { return }
        turn.demand(sticky.count > 0, "more messages of a device leave sessions than came", of: self)
        sticky.count -= 1
        self.sticky[item.device] = sticky.count > 0 ? sticky : nil
    }

    /// One message less is in the mailbox; those put before the sender came into memory are not counted.
    func countRemoved() { stored = max(0, stored - 1) }

    /// Forgets what was read, and counts again what the sessions have.
    func startAnew() {
        rewind(before: Sequence(1))
        sticky = [:]
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

    /// A sender in memory.
    subscript(_ sender: SenderID) -> SenderEntry? { table[sender.number] }

    /// All senders in memory, in the table's order.
    var all: [SenderEntry] { table.all }

    /// A sender, taken into memory if it is not there.
    mutating func entry(_ sender: SenderID) -> SenderEntry {
        if let entry = table[sender.number] { return entry }
        let entry = SenderEntry(sender)
        table.insert(entry, for: sender.number)
        return entry
    }

    /// Lets go of a sender.
    mutating func remove(_ sender: SenderID) { table.remove(sender.number) }
}
