import Basics
import Delivery

/// What time alone brings about.
extension APNsGateway {
    mutating func tick(_ now: Now, _ effects: inout APNsEffects) {
        resume(now)
        for pool in pools {
            for connection in pool.connections { check(connection, of: pool, now, &effects) }
            answerOverdue(pool, now, &effects)
            mark(pool)
        }
        pools.removeAll { $0.entry.isRemoved && $0.connections.isEmpty }
        if let drainEnds, drainEnds <= now.monotonic { giveUp(now, &effects) }
    }

    /// Closes a connection that takes too long to open or to end.
    private mutating func check(
        _ connection: PoolConnection, of pool: Pool, _ now: Now, _ effects: inout APNsEffects
    ) {
        let age = now.monotonic.milliseconds(since: connection.since)
        switch connection.state {
        case .opening where age >= Int64(Limits.APNsGateway.openSeconds) * 1_000:
            effects.notices.append(.connectFailed(pool.endpoint, .unreachable))
            close(connection, of: pool, .slow, now, &effects)
        case .retiring(let reason) where age >= Int64(Limits.APNsGateway.leavingSeconds) * 1_000:
            close(connection, of: pool, reason, now, &effects)
        default: break
        }
    }

    /// Answers what has waited for a stream for too long.
    private mutating func answerOverdue(_ pool: Pool, _ now: Now, _ effects: inout APNsEffects) {
        while let first = pool.queue.first, case .queued(_, let since) = pending[first].state,
            since.advanced(seconds: Limits.APNsGateway.queueSeconds) <= now.monotonic,
            let index = pool.queue.popFirst(&pending)
        {
            finish(index, later(), &effects)
        }
    }

    /// Starts to drain: only what is in flight goes on.
    mutating func drain(_ now: Now, _ effects: inout APNsEffects) {
        guard drainEnds == nil else { return }
        drainEnds = now.monotonic.advanced(seconds: Limits.APNsGateway.leavingSeconds)
        while let index = paused.popFirst(&pending) { finish(index, later(), &effects) }
        for pool in pools {
            flush(pool, now, &effects) { $0.later() }
            for connection in pool.connections { retire(connection, of: pool, .drained, now, &effects) }
        }
    }

    /// Closes what is left when draining has taken too long, and so answers the rest.
    private mutating func giveUp(_ now: Now, _ effects: inout APNsEffects) {
        for pool in pools {
            for connection in pool.connections { close(connection, of: pool, .drained, now, &effects) }
        }
    }
}
