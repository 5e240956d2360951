import Basics

/// The pairs of topic messages that a partition has stored, and how many mailbox entries share each.
///
/// Those of a message that leaves the log before it expires are removed with the last mailbox entry. What an earlier process has stored is
/// not counted, and stays until it expires.
struct TopicBodies {
    /// The removal of pairs.
    struct Removal {
        var name: TopicMessageName
        var endsAt: UnixMilliseconds
    }

    private struct Body {
        var endsAt: UnixMilliseconds
        var shares = 0
        /// Whether the message is in the log.
        var isLive = true
    }

    private var bodies: [TopicMessageName: Body] = [:]
    /// The messages whose mailbox entries unanswered batches remove.
    private var released: [UInt64: [TopicMessageName]] = [:]

    /// Number of messages whose pairs are counted.
    var count: Int { bodies.count }

    /// A message was stored by this process; `isCopied`: it is also one that is being passed on, with the same pairs, until `release`.
    mutating func add(_ message: TopicMessage, isCopied: Bool) {
        bodies[message.name] = Body(endsAt: message.bodyEndsAt, shares: isCopied ? 1 : 0)
    }

    /// A mailbox entry shares the pairs.
    mutating func share(_ name: TopicMessageName) { bodies[name]?.shares += 1 }

    /// A batch removes a mailbox entry that shares the pairs.
    mutating func release(_ name: TopicMessageName, in batch: UInt64) {
        if bodies[name] != nil { released[batch, default: []].append(name) }
    }

    /// A batch is on disk, or has failed: then the mailbox entries may be there, and their removal is repeated. Returns the removals of
    /// pairs that nothing needs any more.
    mutating func committed(_ batch: UInt64, hasFailed: Bool) -> [Removal] {
        guard let names = released.removeValue(forKey: batch), !hasFailed else { return [] }
        return names.compactMap { release($0) }
    }

    /// A mailbox entry that shares the pairs is gone, or all partitions have the message. Returns their removal if nothing needs them any
    /// more.
    mutating func release(_ name: TopicMessageName) -> Removal? {
        guard bodies[name] != nil else { return nil }
        bodies[name]?.shares -= 1
        return removeIfUnused(name)
    }

    /// The message has left the log. Returns the removal of its pairs if nothing needs them any more.
    mutating func leave(_ name: TopicMessageName) -> Removal? {
        bodies[name]?.isLive = false
        return removeIfUnused(name)
    }

    /// The pairs are removed, since they have expired.
    mutating func expired(_ name: TopicMessageName) { bodies[name] = nil }

    private mutating func removeIfUnused(_ name: TopicMessageName) -> Removal? {
        guard let body = bodies[name], !body.isLive, body.shares <= 0 else { return nil }
        bodies[name] = nil
        return Removal(name: name, endsAt: body.endsAt)
    }
}
