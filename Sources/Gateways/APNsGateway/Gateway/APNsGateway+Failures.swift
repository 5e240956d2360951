import Basics
import Delivery
import Wire

/// Failures of requests and connections (apns 1.7).
extension APNsGateway {
    mutating func failed(
        _ id: APNsConnectionID, _ number: UInt64, _ failure: HTTP2RequestFailure, _ now: Now,
        _ effects: inout APNsEffects
    ) {
        // Apple's answers are short.
        if case .bodyTooLong(let status) = failure {
            return answered(id, number, APNsAnswer(status: status), now, &effects)
        }
        guard let (index, pool, connection) = ended(id, number) else { return }
        switch failure.isRetryable {
        case true where connection.leavesFirst(): leftUnprocessed(index, connection, &effects)
        case true: resendAtOnce(index, nil, after: connection, of: pool, &effects)
        case false: unanswered(index, now, &effects)
        }
        closeIfFinished(connection, of: pool, now, &effects)
    }

    /// A request that was not sent. The core offers the message again if it still decides about it.
    mutating func unsent(
        _ id: APNsConnectionID, _ number: UInt64, _ now: Now, _ effects: inout APNsEffects
    ) {
        guard let (index, pool, connection) = ended(id, number) else { return }
        finish(index, later(), &effects)
        closeIfFinished(connection, of: pool, now, &effects)
    }

    /// The first request that Apple has left unprocessed with GOAWAY may be the cause. It is sent once more, after all others; when it
    /// ends another connection, it waits. Otherwise it would end one after the other, and the others would hardly ever be sent.
    private mutating func leftUnprocessed(
        _ index: Int32, _ connection: PoolConnection, _ effects: inout APNsEffects
    ) {
        let isFirstTime = pending[index].attempt == 0 && connection.isProven
        guard isFirstTime, retriesOnce(index, .goAway) else { return postpone(index, nil, &effects) }
        resend(index, isFirst: false)
    }

    /// A request that Apple may have got. The core offers a stored message again. A now-or-never message is sent once more from here,
    /// if its app server still waits for the answer then (apns 1.7).
    mutating func unanswered(_ index: Int32, _ now: Now, _ effects: inout APNsEffects) {
        let again = now.monotonic.advanced(milliseconds: Limits.APNsGateway.laterMilliseconds)
        let isAwaited =
            again.milliseconds(since: pending[index].deliveredAt) < Limits.APNs.verdictMilliseconds
        guard !pending[index].isStored, isAwaited, drainEnds == nil, retriesOnce(index, .unanswered) else {
            return postpone(index, nil, &effects)
        }
        pending[index].state = .paused(until: again)
        paused.append(index, &pending)
    }

    /// Sends again what has paused for long enough. All pause equally long.
    mutating func resume(_ now: Now) {
        while let first = paused.first, case .paused(let until) = pending[first].state,
            until <= now.monotonic,
            let index = paused.popFirst(&pending)
        {
            resend(index, isFirst: false)
        }
    }

    mutating func openFailed(
        _ id: APNsConnectionID, _ failure: APNsOpenFailure, _ now: Now, _ effects: inout APNsEffects
    ) {
        guard let pool = owners[id], let connection = pool[id] else { return }
        effects.notices.append(.connectFailed(pool.endpoint, failure))
        let refusesCredential = failure == .credentialRefused
        if refusesCredential, !connection.isProven { refuseAll(on: connection, of: pool, now, &effects) }
        forget(connection, of: pool, now, &effects)
        guard refusesCredential else { return }
        turnOff(pool, nil, isProbe: pool.refusal?.allowsProbe(now.monotonic) == false, now, &effects)
    }

    /// Refuses what is in flight on a connection whose client certificate is refused: no request was read before that.
    private mutating func refuseAll(
        on connection: PoolConnection, of pool: Pool, _ now: Now, _ effects: inout APNsEffects
    ) {
        for index in pending.indices {
            guard case .inFlight(_, let other) = pending[index].state, other === connection else { continue }
            connection.ended(bytes: pending[index].bytes)
            finishUnserved(index, pool, .refused(APNsRefusal(.credential)), now, &effects)
        }
    }

    /// GOAWAY. Requests that Apple has not processed are reported as failed; the others may still be answered.
    mutating func leaving(
        _ id: APNsConnectionID, _ reason: [UInt8], _ now: Now, _ effects: inout APNsEffects
    ) {
        guard let pool = owners[id], let connection = pool[id] else { return }
        let word = APNsAnswer.reason(reason).reason
        effects.notices.append(.leaving(pool.endpoint, reason: word))
        retire(connection, of: pool, .leaving, now, &effects)
        guard VerdictTable.refusesCredential(word) else { return }
        // A new connection would end in the same way.
        let isProbe = pool.refusal?.allowsProbe(now.monotonic) == false
        turnOff(pool, APNsVerdict(status: 403, reason: word), isProbe: isProbe, now, &effects)
    }

    mutating func closed(_ id: APNsConnectionID, _ now: Now, _ effects: inout APNsEffects) {
        guard let pool = owners[id], let connection = pool[id] else { return }
        forget(connection, of: pool, now, &effects)
    }
}
