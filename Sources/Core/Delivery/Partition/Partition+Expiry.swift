import Basics

/// The sweep for expired messages: a query at each tick, and the removal of what it finds.
extension Partition {
    mutating func searchForExpired() {
        guard !expirySweep.isAsking, turn.clock.knowsTime, turn.now.monotonic >= expirySweep.next else {
            return
        }
        expirySweep.isAsking = true
        expirySweep.next = turn.now.monotonic.advanced(milliseconds: Int64(Limits.Store.sweepMilliseconds))
        turn.load(
            .expired(by: turn.now.wall, limit: turn.shares.expiredPerSweep, partition: turn.partition))
    }

    mutating func expiredLoaded(_ entries: [ExpiredEntry]) {
        turn.demand(
            entries.count <= Limits.Store.expiredPerSweep, "a search returned more entries than its limit")
        expirySweep.isAsking = false
        for entry in entries { expired(entry) }
    }

    private mutating func expired(_ entry: ExpiredEntry) {
        // The query may date from a time when the clock was wrong.
        guard turn.clock.knowsTime else { return }
        switch entry {
        case .message(let device, let sequence, let end): devices.expired(sequence, end, of: device, &turn)
        case .upstream(let sender, let sequence, let end, let author):
            senders.expired(sequence, at: end, by: author, of: sender, &turn)
        case .sharedBody(let name, let partition, let end):
            devices.bodies.expired(name)
            turn.write(.removeSharedBody(name, partition: partition, expiresAt: end))
        case .scheduled(let device, let sequence, let dueAt):
            // Its message has expired: what is left would be found for ever if the device cannot be read.
            if dueAt + 1_000 * Int64(Limits.Message.lifetimeSeconds) <= turn.now.wall {
                turn.write(.removeSchedule(device, sequence, dueAt: dueAt))
            }
            devices.handle(.due(sequence, dueAt), of: device, &turn)
        }
    }
}

/// The search for expired messages of this partition.
struct ExpirySweep {
    /// Whether a query is unanswered.
    var isAsking = false
    /// When the next query is due.
    var next = Instant.distantPast
}
