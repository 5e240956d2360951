import Basics

/// The pairs that a partition has stored for several messages, and how many mailbox entries share each.
///
/// They are removed with the last of the entries, once no further one can be added: a topic message is in the log until then, and a request
/// to many is open for some seconds, until its devices have been read. What is not counted stays until it expires: what an earlier process
/// has stored, and the pairs of open requests when a batch fails.
struct SharedBodies {
    /// The removal of pairs.
    struct Removal {
        var name: SharedBodyName
        var endsAt: UnixMilliseconds
    }

    private struct Count {
        var endsAt: UnixMilliseconds
        var shares = 0
        /// Whether entries may be added.
        var isLive = true
    }

    /// The pairs of a request whose messages are being stored.
    private struct Open {
        let sender: SenderID
        let body: EncodedAppData
        let apns: [UInt8]?
        let until: Instant
        /// Messages that have these pairs as their own: there may be no others.
        var own = 1
        /// The shared pairs, from then on.
        var shared: Shared?

        func isOf(_ message: StoredMessage) -> Bool {
            message.body == body && sender == message.sender
                && (message.apns == nil || message.apns == apns ?? [])
                && shared.map { message.expiresAt <= $0.latestEnd } ?? true
        }
    }

    private struct Shared {
        let reference: SharedReference
        /// Messages that expire later cannot share the pairs.
        let latestEnd: UnixMilliseconds

        var endsAt: UnixMilliseconds { latestEnd + Int64(Limits.SharedBody.graceSeconds) * 1_000 }
    }

    private var counts: [SharedBodyName: Count] = [:]
    /// The pairs whose mailbox entries unanswered batches remove, and how many.
    private var released: [UInt64: [(name: SharedBodyName, shares: Int)]] = [:]
    /// The newest requests, oldest first.
    private var open: [Open] = []

    /// Number of pairs that are counted.
    var count: Int { counts.count }

    // MARK: Entries

    /// A topic message was stored by this process; `isCopied`: it is also one that is being passed on, with the same pairs, until `release`.
    mutating func add(_ message: TopicMessage, isCopied: Bool) {
        counts[.topic(message.name)] = Count(endsAt: message.bodyEndsAt, shares: isCopied ? 1 : 0)
    }

    /// A mailbox entry shares the pairs.
    mutating func share(_ name: SharedBodyName) { counts[name]?.shares += 1 }

    /// A batch removes a mailbox entry that shares the pairs.
    mutating func release(_ name: SharedBodyName, in batch: UInt64) {
        guard counts[name] != nil else { return }
        Self.add(name, to: &released[batch, default: []])
    }

    /// The entries of a message to many are often removed one after the other.
    private static func add(_ name: SharedBodyName, to list: inout [(name: SharedBodyName, shares: Int)]) {
        guard let last = list.indices.last, list[last].name == name else { return list.append((name, 1)) }
        list[last].shares += 1
    }

    /// A batch is on disk, or has failed: then the mailbox entries may be there, and their removal is repeated; and pairs that it put may
    /// be lost, so that requests begin again. Returns the removals of pairs that nothing needs any more.
    mutating func committed(_ batch: UInt64, hasFailed: Bool) -> [Removal] {
        if hasFailed {
            for name in open.compactMap(\.shared?.reference.name) { counts[name] = nil }
            open = []
        }
        guard let gone = released.removeValue(forKey: batch), !hasFailed else { return [] }
        return gone.compactMap { release($0.name, shares: $0.shares) }
    }

    /// A mailbox entry that shares the pairs is gone, or all partitions have the topic message. Returns their removal if nothing needs
    /// them any more.
    mutating func release(_ name: SharedBodyName, shares: Int = 1) -> Removal? {
        guard let at = counts.index(forKey: name) else { return nil }
        counts.values[at].shares -= shares
        return removeIfUnused(name)
    }

    /// No further entry is added. Returns the removal of the pairs if nothing needs them any more.
    mutating func leave(_ name: SharedBodyName) -> Removal? {
        counts[name]?.isLive = false
        return removeIfUnused(name)
    }

    /// The pairs are removed, since they have expired.
    mutating func expired(_ name: SharedBodyName) { counts[name] = nil }

    private mutating func removeIfUnused(_ name: SharedBodyName) -> Removal? {
        guard let count = counts[name], !count.isLive, count.shares <= 0 else { return nil }
        counts[name] = nil
        return Removal(name: name, endsAt: count.endsAt)
    }

    // MARK: Requests to many

    /// How the pairs of a message are stored.
    enum Place {
        case own
        /// They are shared, and put in this batch unless that is `nil`: then an earlier one has put them.
        case shared(SharedReference, put: (SharedBody, endsAt: UnixMilliseconds)?)
    }

    /// Decides about the pairs of a message of a request to many: after `least` messages with the same pairs of their own, they are shared.
    mutating func place(
        _ message: StoredMessage, of sender: SenderID, after least: Int, limit: Int, _ now: Instant
    ) -> Place {
        guard let at = open.lastIndex(where: { $0.isOf(message) }) else {
            let until = now.advanced(seconds: Limits.SharedBody.openSeconds)
            open.append(Open(sender: sender, body: message.body, apns: message.apns, until: until))
            return .own
        }
        if let shared = open[at].shared { return .shared(shared.reference, put: nil) }
        guard open[at].own >= least, counts.count < limit else {
            open[at].own += 1
            return .own
        }
        let shared = Shared(
            reference: SharedReference(.request(sender, message.sequence)),
            latestEnd: message.expiresAt + Int64(Limits.SharedBody.openSeconds) * 1_000)
        counts[shared.reference.name] = Count(endsAt: shared.endsAt)
        open[at].shared = shared
        let body = SharedBody(reference: shared.reference, body: open[at].body, apns: open[at].apns)
        return .shared(shared.reference, put: (body, shared.endsAt))
    }

    /// Ends the requests whose time is over, or that are too many. Returns the removals of pairs that nothing needs any more.
    mutating func endRequests(_ now: Instant) -> [Removal] {
        let surplus = max(0, open.count - Limits.SharedBody.open)
        let ended = max(surplus, open.firstIndex { $0.until > now } ?? open.count)
        guard ended > 0 else { return [] }
        defer { open.removeFirst(ended) }
        return open[..<ended].compactMap { $0.shared.flatMap { leave($0.reference.name) } }
    }
}
