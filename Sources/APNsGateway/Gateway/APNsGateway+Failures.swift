import Basics
import Delivery
import Wire

/// Failures of requests and connections (apns 1.7).
extension APNsGateway {
    mutating func failed(
        _ id: APNsConnectionID, _ number: UInt64, _ failure: HTTP2RequestFailure, _ now: Now,
        _ effects: inout APNsEffects
    ) {
        guard let (index, pool, connection) = ended(id, number) else { return }
        if failure.isRetryable {
            resendAtOnce(index, nil, after: connection, of: pool, &effects)
        } else {
            postpone(index, nil, &effects)
        }
        closeIfFinished(connection, of: pool, now, &effects)
    }

    mutating func openFailed(
        _ id: APNsConnectionID, _ failure: APNsOpenFailure, _ now: Now, _ effects: inout APNsEffects
    ) {
        guard let pool = owners[id], let connection = pool[id] else { return }
        effects.notices.append(.connectFailed(pool.endpoint, failure))
        forget(connection, of: pool, now, &effects)
        guard failure == .credentialRefused else { return }
        turnOff(pool, nil, isProbe: pool.refusal?.allowsProbe(now.monotonic) == false, now, &effects)
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
