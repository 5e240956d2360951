import Basics
import ClusterLog
import Delivery

/// Counts what the thread of the cluster does, in the shard of that thread.
struct ClusterTally {
    private let shard: MetricShard

    /// Creates counters in a shard.
    init(shard: MetricShard) { self.shard = shard }

    // MARK: Partitions

    func took() { shard.add(to: .clusterTakeovers) }

    func lost() { shard.add(to: .clusterLosses) }

    // MARK: The log

    /// Counts a frame that is appended.
    func appended(_ bytes: Int, isRepeated: Bool) {
        let kind: Metric.FrameKind = isRepeated ? .repeated : .first
        shard.add(to: .clusterFrames, kind.position)
        shard.add(bytes, to: .clusterFrameBytes, kind.position)
    }

    /// Counts a frame of this node that is confirmed and applied.
    func confirmed(after nanoseconds: Int64?) {
        shard.add(to: .clusterApplied, Metric.FrameOrigin.own.position)
        guard let nanoseconds else { return }
        shard.observe(microseconds: Int(max(0, nanoseconds) / 1_000), in: .clusterConfirmTimes)
    }

    /// Counts a frame of another node that is applied.
    func applied() { shard.add(to: .clusterApplied, Metric.FrameOrigin.other.position) }

    func disconnected() { shard.add(to: .clusterLogDisconnects) }

    /// Counts a request that the log has refused.
    func refused(_ action: Metric.LogAction) { shard.add(to: .clusterLogFailures, action.position) }

    // MARK: Links

    /// Counts a parcel.
    func parcel(_ bytes: Int, _ direction: Metric.LinkDirection) {
        shard.add(to: .clusterParcels, direction.position)
        shard.add(bytes, to: .clusterParcelBytes, direction.position)
    }

    /// Counts an event or a command for another node, or from one.
    func forwarded(_ kind: Metric.ForwardedKind, _ direction: Metric.LinkDirection) {
        shard.add(to: .clusterForwarded, kind.position, direction.position)
    }

    /// Counts a copy of a store.
    func copied(_ direction: Metric.LinkDirection, _ outcome: Metric.CopyOutcome) {
        shard.add(to: .clusterCopies, direction.position, outcome.position)
    }

    /// Counts events that are answered without their owner.
    func unreached(_ count: Int, _ reason: Metric.UnreachedReason) {
        shard.add(count, to: .clusterUnreached, reason.position)
    }

    // MARK: Gauges

    /// Sets the gauge of a label with one value for each word.
    func set<Word: LabelWord & Hashable>(_ metric: Metric, to counts: [Word: Int]) {
        for word in Word.allCases { shard.set(metric, to: counts[word] ?? 0, word.position) }
    }

    /// Sets a gauge without labels, or a counter that is counted elsewhere.
    func set(_ metric: Metric, to value: Int) { shard.set(metric, to: value) }
}

/// When the frames of an owner were first appended: at most those that may be unconfirmed.
struct AppendTimes {
    private var claim: Claim?
    private var highest: UInt64 = 0
    private var open: [(number: UInt64, since: Instant)] = []

    /// Notes that a frame is appended. Returns whether it was appended before.
    mutating func note(_ name: FrameName, _ now: Instant) -> Bool {
        if name.claim != claim { (claim, highest, open) = (name.claim, 0, []) }
        guard name.number > highest else { return true }
        highest = name.number
        open.append((name.number, now))
        return false
    }

    /// Removes the frames up to a confirmed one. Returns the nanoseconds since its first append.
    mutating func confirm(_ number: UInt64, _ now: Instant) -> Int64? {
        var since: Instant?
        open.removeAll { entry in
            if entry.number == number { since = entry.since }
            return entry.number <= number
        }
        return since.map { now.nanoseconds - $0.nanoseconds }
    }
}
