import Basics

/// A partition that is served as soon as its place is free.
struct AwaitedPartition {
    var make: () -> Partition
    var lease: any DecisionLease
}

/// A partition that was to leave: the number of the last request for that, and when it has left whatever the store still owes it.
struct Leave {
    var number: UInt64
    var until: Instant
}

/// What has become of partitions that were to leave a reactor.
public struct Departures {
    /// Those that have left, with the numbers of the requests for that. The store owes them nothing, or answers too late: what depends on
    /// that is refused.
    public var left: [(partition: Int, number: UInt64)] = []
    /// Whether one that has come back is served from the next turn on, which must follow.
    public var needsTurn = false
}

/// Partitions that come from other nodes of a cluster, and leave to them.
extension TurnLoop {
    /// Serves a partition of this reactor from now on, or as soon as its place is free. Later events follow those that have been passed on
    /// before, until the shell reports that those have come back (`fencePassed`).
    public func take(_ partition: Int, _ lease: any DecisionLease, make: @escaping () -> Partition) {
        if doors[partition].take() {
            serve(partition, make(), lease)
        } else {
            awaited[partition] = AwaitedPartition(make: make, lease: lease)
        }
    }

    private func serve(_ partition: Int, _ core: consuming Partition, _ lease: any DecisionLease) {
        precondition(all[partition - first] == nil, "a partition is taken that has not left")
        leaves[partition] = nil
        all[partition - first] = HostedPartition(
            partition, core, (lease, OutputGate(partition: partition, of: map.partitions)))
    }

    /// All events are here that had been passed on when a partition was taken.
    public func fencePassed(_ partition: Int) { doors[partition].fencePassed() }

    /// Takes an event that was passed on, and is for a partition that this node owns.
    public func acceptOwned(_ event: consuming Event) {
        guard let partition = event.key?.partition(of: map.partitions) else { return }
        pass(consume event, of: partition, isPassedBack: true)
    }

    /// Has an event go the way of the door of its partition.
    func pass(_ event: consuming Event, of partition: Int, isPassedBack: Bool) {
        switch doors[partition].way(isPassedBack: isPassedBack) {
        case .serve: queue(consume event, of: partition)
        case .keep: doors[partition].keep(consume event)
        case .passOn: elsewhere.events.append(consume event)
        }
    }

    /// Looks at what waits for the lease of a partition.
    public func leaseRenewed(_ partition: Int) {
        if let hosted = all[partition - first] { activate(hosted) }
    }

    /// Lets no decision of a partition out any more: another node may decide.
    public func surrender(_ partition: Int) { all[partition - first]?.presence = .surrendered }

    /// Stops serving a partition of this reactor, for the request with this number; it stays until all its requests to the store have been
    /// answered (`removeLeft`). Returns what the webhooks must forget.
    public func leave(_ partition: Int, _ number: UInt64) -> [WebhookOrder] {
        elsewhere.events += doors[partition].leave()
        awaited[partition] = nil
        let now = leaseTime?() ?? .distantPast
        leaves[partition] = Leave(
            number: number, until: now.advanced(milliseconds: Limits.Cluster.leaveMilliseconds))
        guard let hosted = all[partition - first] else { return [] }
        if hosted.presence == .serving { hosted.presence = .leaving }
        // What waits for its lease leaves, or is answered.
        activate(hosted)
        return hosted.core.webhooksLeft()
    }

    /// Removes the partitions that have left, and serves those that have come back, from the next turn on. Called between turns, with what
    /// collects the last counts of those that are removed.
    ///
    /// Requests that wait for the store are handled first: another node gets the partition once they are answered, or after a while.
    public func removeLeft(_ collect: (inout Effects) -> Void = { _ in }) -> Departures {
        var departures = Departures()
        for at in all.indices {
            guard let hosted = all[at], hosted.isLeaving, hosted.openRequests == 0 else { continue }
            hosted.core.topicsLeft()
            collect(&hosted.effects)
            all[at] = nil
            let partition = first + at
            guard let events = doors[partition].becomeFree(),
                let next = awaited.removeValue(forKey: partition)
            else { continue }
            serve(partition, next.make(), next.lease)
            for event in events { queue(event, of: partition) }
            departures.needsTurn = true
        }
        guard !leaves.isEmpty else { return departures }
        let now = leaseTime?() ?? .distantFuture
        for (partition, leave) in leaves where all[partition - first] == nil || leave.until <= now {
            departures.left.append((partition, leave.number))
            leaves[partition] = nil
        }
        return departures
    }
}
