import Basics
import Delivery

/// Sending what waits, and opening and closing connections.
extension APNsGateway {
    /// Sends what the connections of a pool have room for, and sees to it that they suffice.
    mutating func serve(_ pool: Pool, _ now: Now, _ effects: inout APNsEffects) {
        while sendFirst(of: pool, now, &effects) {}
        pool.observe(now.monotonic)
        if let (connection, reason) = pool.retirable(now.monotonic) {
            retire(connection, of: pool, reason, now, &effects)
        }
        guard drainEnds == nil, pool.wantsConnection(cap: settings.connections, now.monotonic) else { return }
        if pool.pace.allows(now.monotonic) {
            open(pool, now, &effects)
        } else if pool.usable == 0 {
            // App servers should not wait for a connection that is not even attempted.
            let wait = max(Limits.APNsGateway.laterMilliseconds, pool.pace.wait(now.monotonic))
            flush(pool, now, &effects) { $0.later(wait) }
        }
    }

    /// Sends the first request of the queue. Returns whether it was possible.
    private mutating func sendFirst(of pool: Pool, _ now: Now, _ effects: inout APNsEffects) -> Bool {
        guard let index = pool.queue.first else { return false }
        if let lease = pending[index].lease, lease.until <= now.monotonic {
            // Another node may own the device: this one offers the message again once its lease is confirmed, or never.
            _ = pool.queue.popFirst(&pending)
            finish(index, later(), &effects)
            return true
        }
        let bytes = pending[index].bytes
        guard let connection = pool.connection(for: bytes) else { return false }
        var providerToken: [UInt8]?
        if pool.entry.credential.isKey {
            var mustMint = false
            let current = pool.entry.clock.use(now, mustMint: &mustMint)
            if mustMint { effects.mints.append(pool.entry.credential.id) }
            guard let current else { return false }
            providerToken = current.token
            pending[index].tokenSerial = current.serial
        }
        _ = pool.queue.popFirst(&pending)
        connection.sent(bytes: bytes)
        pending[index].state = .inFlight(pool, connection)
        effects.sends.append(
            APNsSend(
                connection: connection.id, requestNumber: pending.nextRequestNumber(index),
                request: pending[index].request, providerToken: providerToken,
                lease: pending[index].lease))
        return true
    }

    /// Lets a connection take no more requests, and closes it when it has none in flight.
    mutating func retire(
        _ connection: PoolConnection, of pool: Pool, _ reason: APNsCloseReason, _ now: Now,
        _ effects: inout APNsEffects
    ) {
        connection.retire(reason, now.monotonic)
        closeIfFinished(connection, of: pool, now, &effects)
        mark(pool)
    }

    /// Closes a retiring connection without requests.
    mutating func closeIfFinished(
        _ connection: PoolConnection, of pool: Pool, _ now: Now, _ effects: inout APNsEffects
    ) {
        guard case .retiring(let reason) = connection.state, connection.inFlight == 0 else { return }
        close(connection, of: pool, reason, now, &effects)
    }

    /// Closes a connection; what is in flight on it has an unknown outcome.
    mutating func close(
        _ connection: PoolConnection, of pool: Pool, _ reason: APNsCloseReason, _ now: Now,
        _ effects: inout APNsEffects
    ) {
        effects.closes.append((connection.id, reason))
        forget(connection, of: pool, now, &effects)
    }

    /// Removes a connection that is closed.
    mutating func forget(
        _ connection: PoolConnection, of pool: Pool, _ now: Now, _ effects: inout APNsEffects
    ) {
        pool.remove(connection)
        owners[connection.id] = nil
        if !connection.isProven, !connection.endsByChoice {
            pool.pace.failed(now.monotonic, &random)
            pool.troubled(now.monotonic)
        }
        if connection.inFlight > 0 {
            for index in pending.indices {
                guard case .inFlight(_, let other) = pending[index].state, other === connection else {
                    continue
                }
                unanswered(index, now, &effects)
            }
        }
        mark(pool)
    }
}

extension PoolConnection {
    /// Whether the gateway closes it for reasons of its own, which show nothing about Apple.
    var endsByChoice: Bool {
        guard case .retiring(let reason) = state else { return false }
        return switch reason {
        case .rotated, .shrunk, .removed, .drained: true
        case .leaving, .parked, .wedged, .slow: false
        }
    }
}
