public import Basics

/// Rates of messages (ccs-xmpp 4.4, 5.4); unlimited unless set: those of the service are defaults of the configuration.
public struct Rates: Sendable {
    /// Messages to one device, over a short time.
    public var deviceShort = Rate.unlimited
    /// Messages to one device, over a long time.
    public var deviceLong = Rate.unlimited
    /// Messages of one sender; each partition allows a share (`share(_:of:)`).
    public var sender = Rate.unlimited
    /// Messages with collapse key handed to one app of one device; further ones wait and replace each other.
    public var collapsible = Rate.unlimited
    /// Upstream messages of one device.
    public var deviceUpstream = Rate.unlimited
    /// Upstream messages to one sender.
    public var senderUpstream = Rate.unlimited
    /// Subscriptions to topics that app servers of one sender make or end; each partition allows a share (`share(_:of:)`).
    public var topicChanges = Rate.unlimited

    /// No bounds.
    public init() {}

    /// What each of `count` partitions allows of a sender's rate: an equal share, but at least a device's worth.
    ///
    /// **A device's worth** is what one device may be sent: a sender that sends to one device alone, whose messages meet one share
    /// alone, is refused for the rate of the device or for all of its own rate, never for the share. Where devices have no rate,
    /// the share is all of the sender's.
    public func share(_ rate: Rate, of count: Int) -> Rate {
        guard rate.isLimited, count > 1 else { return rate }
        let device = deviceShort.isLimited ? deviceShort : deviceLong
        return rate.share(of: count).raised(to: rate.lowered(to: device))
    }
}

/// What is left of the rate of each sender in one partition, which has a share of it.
struct SenderBuckets {
    /// That share.
    private var rate: Rate
    /// Of senders in the directory alone.
    private var buckets: [SenderID: TokenBucket] = [:]

    init(_ rate: Rate) { self.rate = rate }

    /// Whether it may happen once more.
    func allows(_ sender: SenderID, now: Instant) -> Bool {
        guard rate.isLimited, let bucket = buckets[sender] else { return true }
        return bucket.allows(rate, now: now)
    }

    /// Notes that it has happened.
    mutating func take(_ sender: SenderID, now: Instant) {
        if rate.isLimited { buckets[sender, default: TokenBucket()].take(rate, now: now) }
    }

    /// Another share holds from now on.
    mutating func change(to new: Rate, now: Instant) {
        for sender in buckets.keys { buckets[sender]?.change(from: rate, to: new, now: now) }
        rate = new
        if !rate.isLimited { buckets = [:] }
    }

    /// Forgets senders that are gone.
    mutating func keep(_ isKnown: (SenderID) -> Bool) {
        if !buckets.isEmpty { buckets = buckets.filter { isKnown($0.key) } }
    }
}

/// What is left of the rates of one device.
struct DeviceBuckets {
    private var short = TokenBucket()
    private var long = TokenBucket()
    private var upstream = TokenBucket()

    /// Other rates hold from now on.
    mutating func change(from old: Rates, to new: Rates, _ now: Instant) {
        short.change(from: old.deviceShort, to: new.deviceShort, now: now)
        long.change(from: old.deviceLong, to: new.deviceLong, now: now)
        upstream.change(from: old.deviceUpstream, to: new.deviceUpstream, now: now)
    }

    /// Whether the device may be sent one more.
    func allowsMessage(_ rates: Rates, _ now: Instant) -> Bool {
        short.allows(rates.deviceShort, now: now) && long.allows(rates.deviceLong, now: now)
    }

    /// Notes that it is sent one.
    mutating func takeMessage(_ rates: Rates, _ now: Instant) {
        short.take(rates.deviceShort, now: now)
        long.take(rates.deviceLong, now: now)
    }

    /// Whether the device may send one more; notes it, if so.
    mutating func takeUpstream(_ rates: Rates, _ now: Instant) -> Bool {
        guard upstream.allows(rates.deviceUpstream, now: now) else { return false }
        upstream.take(rates.deviceUpstream, now: now)
        return true
    }
}
