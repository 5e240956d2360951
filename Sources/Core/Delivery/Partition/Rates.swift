public import Basics

/// Message rates (ccs-xmpp 4.4, 5.4); unlimited unless set. The configuration's defaults are those of the original service.
public struct Rates: Sendable {
    /// Messages to one device, short-term.
    public var deviceShort = Rate.unlimited
    /// Messages to one device, long-term.
    public var deviceLong = Rate.unlimited
    /// Messages of one sender; each partition allows a share (`share(_:of:)`).
    public var sender = Rate.unlimited
    /// Messages with a collapse key sent to one app of one device; further ones wait and replace each other.
    public var collapsible = Rate.unlimited
    /// Upstream messages of one device.
    public var deviceUpstream = Rate.unlimited
    /// Upstream messages to one sender.
    public var senderUpstream = Rate.unlimited
    /// Topic subscriptions that app servers of one sender make or end; each partition allows a share (`share(_:of:)`).
    public var topicChanges = Rate.unlimited

    /// Creates unlimited rates.
    public init() {}

    /// Returns each of `count` partitions' share of a sender's rate: an equal part, but at least the rate of one device.
    ///
    /// A sender that sends to one device only uses the share of one partition only. With this minimum such a sender is refused for
    /// the device's rate or for its full own rate, never for the share. Where devices have no rate, the share is the sender's full
    /// rate.
    public func share(_ rate: Rate, of count: Int) -> Rate {
        guard rate.isLimited, count > 1 else { return rate }
        let device = deviceShort.isLimited ? deviceShort : deviceLong
        return rate.share(of: count).raised(to: rate.lowered(to: device))
    }
}

/// What is left of each sender's rate in one partition.
struct SenderBuckets {
    /// The partition's share of the rate.
    private var rate: Rate
    /// Contains only senders in the directory.
    private var buckets: [SenderID: TokenBucket] = [:]

    init(_ rate: Rate) { self.rate = rate }

    /// Returns whether the sender's rate allows one more.
    func allows(_ sender: SenderID, now: Instant) -> Bool {
        guard rate.isLimited, let bucket = buckets[sender] else { return true }
        return bucket.allows(rate, now: now)
    }

    /// Counts one use of the sender's rate.
    mutating func consume(_ sender: SenderID, now: Instant) {
        if rate.isLimited { buckets[sender, default: TokenBucket()].consume(rate, now: now) }
    }

    /// Applies another share.
    mutating func change(to new: Rate, now: Instant) {
        for sender in buckets.keys { buckets[sender]?.change(from: rate, to: new, now: now) }
        rate = new
        if !rate.isLimited { buckets = [:] }
    }

    /// Removes senders that are no longer in the directory.
    mutating func retainSenders(_ isKnown: (SenderID) -> Bool) {
        if !buckets.isEmpty { buckets = buckets.filter { isKnown($0.key) } }
    }
}

/// What is left of the rates of one device.
struct DeviceBuckets {
    private var short = TokenBucket()
    private var long = TokenBucket()
    private var upstream = TokenBucket()

    /// Applies other rates.
    mutating func change(from old: Rates, to new: Rates, _ now: Instant) {
        short.change(from: old.deviceShort, to: new.deviceShort, now: now)
        long.change(from: old.deviceLong, to: new.deviceLong, now: now)
        upstream.change(from: old.deviceUpstream, to: new.deviceUpstream, now: now)
    }

    /// Returns whether the device's rates allow one more message to it.
    func allowsMessage(_ rates: Rates, _ now: Instant) -> Bool {
        short.allows(rates.deviceShort, now: now) && long.allows(rates.deviceLong, now: now)
    }

    /// Counts a message to the device.
    mutating func countMessage(_ rates: Rates, _ now: Instant) {
        short.consume(rates.deviceShort, now: now)
        long.consume(rates.deviceLong, now: now)
    }

    /// Counts an upstream message of the device if its rate allows one more. Returns whether it does.
    mutating func countUpstreamIfAllowed(_ rates: Rates, _ now: Instant) -> Bool {
        guard upstream.allows(rates.deviceUpstream, now: now) else { return false }
        upstream.consume(rates.deviceUpstream, now: now)
        return true
    }
}
