public import Basics

/// How far a turn has come in letting out what its partitions have decided.
struct OutputRound {
    /// The next partition in `TurnLoop.active`; `nil` before queued events are handled.
    var next: Int?
    /// Whether anything has been handled or let out since events were last handled.
    var hadOutput = false
    /// The partition whose commands the shell has; `nil` if they are its own answers.
    var source: HostedPartition?
    /// What that partition forwards, for after its commands.
    var forwards: [Event] = []
}

/// What a turn lets out, until its partitions have nothing more to say: a command may cause further events.
extension TurnLoop {
    /// Handles what is queued, and moves the next commands for sessions to an empty array. Returns `false` if nothing is left; then the
    /// batches of the turn have ended.
    ///
    /// The shell has the commands performed, then calls `giveBack`.
    public func next(_ commands: inout [(ConnectionID, SessionCommand)], now: Now) -> Bool {
        repeat {
            var at: Int
            if let next = round.next {
                at = next
            } else {
                at = 0
                round.next = 0
                round.hadOutput = handleQueued(now: now)
                if !answers.isEmpty {
                    round.hadOutput = true
                    swap(&commands, &answers)
                    return true
                }
            }
            // More partitions may become active in the loop.
            while at < active.count {
                let hosted = active[at]
                at += 1
                letOutUntil = min(letOutUntil, passGate(hosted))
                guard hosted.hasOutput else { continue }
                // Moved out, since applying them may add more of both.
                swap(&commands, &hosted.effects.commands)
                swap(&round.forwards, &hosted.effects.forwards)
                round.source = hosted
                round.hadOutput = true
                round.next = at
                return true
            }
            round.next = nil
        } while round.hadOutput || endBatches(now: now)
        return false
    }

    /// Takes back the storage of the commands of `next`, and accepts the events that came with them.
    public func giveBack(_ commands: inout [(ConnectionID, SessionCommand)], now: Now) {
        commands.removeAll(keepingCapacity: true)
        guard let hosted = round.source.take() else {
            if answers.isEmpty { swap(&commands, &answers) }
            return
        }
        if hosted.effects.commands.isEmpty { swap(&commands, &hosted.effects.commands) }
        for event in round.forwards { accept(event, now: now) }
        round.forwards.removeAll(keepingCapacity: true)
        if hosted.effects.forwards.isEmpty { swap(&round.forwards, &hosted.effects.forwards) }
    }

    /// Returns the connection of the next commands of a round, which is one of this reactor. Commands for others are moved to what crosses.
    public func nextSession(_ commands: inout CommandRound) -> ConnectionID? {
        while let connection = commands.next() {
            if connection.node != node {
                guard let command = commands.take(for: connection) else { continue }
                elsewhere.commands.append((connection, command))
            } else if Int(connection.reactor) != index {
                guard let command = commands.take(for: connection) else { continue }
                outgoing[Int(connection.reactor)].commands.append((connection, command))
            } else {
                return connection
            }
        }
        return nil
    }

    private func passGate(_ hosted: HostedPartition) -> Instant {
        guard let leaseTime else { return .distantFuture }
        return hosted.passGate(leaseTime)
    }

    /// Ends the batches of the turn, one per partition with writes. Returns whether a partition has something to let out: a batch that was
    /// refused for a broken invariant has its waiters answered.
    private func endBatches(now: Now) -> Bool {
        var hasOutput = giveTopicTurns(now: now)
        for hosted in active where !hosted.effects.mutations.isEmpty {
            if let batch = hosted.core.endTurn() {
                hosted.openRequests += 1
                effects.batches.append(PartitionBatch(partition: hosted.number, batch))
            }
            if hosted.hasOutput { hasOutput = true }
        }
        return hasOutput
    }

    // MARK: The end of a turn

    /// Removes and returns what the turn wants done, after `next` has returned `false`. What crosses may be performed while the leases hold.
    public func takeEffects() -> TurnEffects {
        var taken = TurnEffects()
        swap(&taken, &effects)
        for hosted in active {
            if !hosted.effects.loads.isEmpty {
                hosted.openRequests += hosted.effects.loads.count
                for load in hosted.effects.loads {
                    taken.loads.append(PartitionQuery(partition: hosted.number, load))
                }
                hosted.effects.loads.removeAll(keepingCapacity: true)
            }
            let lease = hosted.leased?.lease
            if !hosted.effects.deliveries.isEmpty {
                if let lease {
                    for at in hosted.effects.deliveries.indices {
                        hosted.effects.deliveries[at].lease = lease
                    }
                }
                taken.deliveries.append(contentsOf: hosted.effects.deliveries)
                hosted.effects.deliveries.removeAll(keepingCapacity: true)
            }
            if !hosted.effects.webhooks.isEmpty {
                // Those of a partition that leaves are dropped: it has no sessions.
                if !hosted.isLeaving { taken.webhooks += hosted.effects.webhooks.map { $0.under(lease) } }
                hosted.effects.webhooks.removeAll(keepingCapacity: true)
            }
            if hosted.effects.confirmsClock {
                hosted.effects.confirmsClock = false
                taken.confirmsClock = true
            }
        }
        if letOutUntil != .distantFuture {
            // The process may have stood still since: what goes to other threads is looked at there.
            for peer in outgoing.indices where !outgoing[peer].isEmpty {
                outgoing[peer].validUntil = letOutUntil
            }
            if !elsewhere.isEmpty { elsewhere.validUntil = letOutUntil }
        }
        return taken
    }

    /// Ends the turn, after all effects have been applied and what crosses was taken.
    public func endTurn() {
        for hosted in active {
            assert(!hosted.hasOutput && hosted.effects.mutations.isEmpty, "effects are left over")
            hosted.isActive = false
        }
        active.removeAll(keepingCapacity: true)
        letOutUntil = .distantFuture
    }
}
