import Basics
import Delivery

/// What Apple's answers lead to (apns 1.7).
extension APNsGateway {
    mutating func answered(
        _ id: APNsConnectionID, _ number: UInt64, _ answer: APNsAnswer, _ now: Now,
        _ effects: inout APNsEffects
    ) {
        guard let (index, pool, connection) = ended(id, number) else { return }
        let (kind, verdict) = (answer.kind(to: pending[index].request.id), answer.verdict)
        effects.judgements.append(APNsJudgement(kind, verdict, pool.endpoint.environment))
        if kind.provesCredential { prove(pool, connection, pending[index].request.topic, &effects) }
        decide(index, kind, verdict, pool, connection, now, &effects)
        closeIfFinished(connection, of: pool, now, &effects)
    }

    /// Notes that a request is no longer in flight. Returns what it belongs to, or `nil` if it was given up before.
    mutating func ended(
        _ id: APNsConnectionID, _ number: UInt64
    ) -> (index: Int32, pool: Pool, connection: PoolConnection)? {
        guard let index = pending.find(number),
            case .inFlight(let pool, let connection) = pending[index].state,
            connection.id == id
        else { return nil }
        connection.ended(bytes: pending[index].bytes)
        mark(pool)
        return (index, pool, connection)
    }

    /// Apple has accepted the credential: a refusal of before is over.
    private mutating func prove(
        _ pool: Pool, _ connection: PoolConnection, _ topic: [UInt8], _ effects: inout APNsEffects
    ) {
        connection.isProven = true
        pool.proved()
        if pool.refusal != nil {
            pool.refusal = nil
            effects.notices.append(.credentialOn(pool.endpoint))
        }
        if !pool.topicRefusals.isEmpty, pool.topicRefusals.removeValue(forKey: topic) != nil {
            effects.notices.append(.topicOn(pool.endpoint, topic: topic))
        }
    }

    private mutating func finishAccepted(_ index: Int32, _ now: Now, _ effects: inout APNsEffects) {
        let environment = pending[index].request.environment
        if pending[index].isForDevice {
            _ = trusts(index, isBad: false, now, &effects)
            if environment != pending[index].environment {
                effects.notices.append(.environmentCorrected(pending[index].registration, environment))
            }
        }
        finish(index, .accepted(environment), &effects)
    }

    /// Does what the class of an answer asks for.
    private mutating func decide(
        _ index: Int32, _ kind: VerdictClass, _ verdict: APNsVerdict, _ pool: Pool,
        _ connection: PoolConnection, _ now: Now, _ effects: inout APNsEffects
    ) {
        let attempt = pending[index].attempt
        switch kind {
        case .accepted: finishAccepted(index, now, &effects)
        case .badRequest where pending[index].isCustom:
            finish(index, .refused(APNsRefusal(.invalid, verdict)), &effects)
        case .badRequest, .internalFault:
            effects.notices.append(.internalFault(verdict))
            finish(index, .refused(APNsRefusal(.internalFault, verdict)), &effects)
        case .tooLarge: finish(index, .refused(APNsRefusal(.tooLarge, verdict)), &effects)
        case .tokenUnknown: tokenUnknown(index, verdict, now, &effects)
        case .tokenMismatched: tokenMismatched(index, verdict, now, &effects)
        case .tokenEnded: tokenEnded(index, verdict, &effects)
        case .credential:
            let isProbe = pending[index].tried.contains(.credentialProbe)
            finishUnserved(index, pool, .refused(APNsRefusal(.credential, verdict)), now, &effects)
            turnOff(pool, verdict, isProbe: isProbe, now, &effects)
        case .topic:
            turnOffTopic(of: index, pool, verdict, now, &effects)
            finishUnserved(index, pool, .refused(APNsRefusal(.credential, verdict)), now, &effects)
        case .tokenExpired: tokenExpired(index, verdict, pool, connection, now, &effects)
        case .unrelatedKey:
            retire(connection, of: pool, .wedged, now, &effects)
            // Otherwise the connection began with this key, and the next one would be refused as well.
            if pool.allowsResend(after: connection), retriesOnce(index, .unrelatedKey) {
                return resend(index)
            }
            finishUnserved(index, pool, .refused(APNsRefusal(.credential, verdict)), now, &effects)
            turnOff(pool, verdict, isProbe: false, now, &effects)
        case .tooManyTokens, .connection:
            retire(connection, of: pool, kind == .connection ? .leaving : .parked, now, &effects)
            resendAtOnce(index, verdict, after: connection, of: pool, &effects)
        case .tooManyRequests:
            let wait = RetryDelay.device(attempt: attempt, &random)
            finish(index, .later(milliseconds: wait, APNsRefusal(.rateExceeded, verdict)), &effects)
        case .shutdown:
            retire(connection, of: pool, .leaving, now, &effects)
            if pool.allowsResend(after: connection), retriesOnce(index, .shutdown) { return resend(index) }
            postpone(index, verdict, &effects)
        case .busy: postpone(index, verdict, &effects)
        case .foreign:
            pool.failed(now.monotonic)
            effects.notices.append(.foreignAnswer(pool.endpoint, verdict))
            postpone(index, verdict, &effects)
        }
    }

    /// Answers a delivery that Apple has not accepted, or may not have: it comes back with the same `apns-id`, after a wait that
    /// grows with each attempt.
    mutating func postpone(_ index: Int32, _ verdict: APNsVerdict?, _ effects: inout APNsEffects) {
        let wait = RetryDelay.busy(attempt: pending[index].attempt, &random)
        finish(index, .later(milliseconds: wait, APNsRefusal(.unavailable, verdict)), &effects)
    }

    /// Returns whether something has not been tried yet, and notes that it is.
    mutating func retriesOnce(_ index: Int32, _ what: PendingDelivery.Tried) -> Bool {
        pending[index].tried.insert(what).inserted
    }

    /// Sends a request again that Apple has certainly not processed, unless that happens too often.
    mutating func resendAtOnce(
        _ index: Int32, _ verdict: APNsVerdict?, after connection: PoolConnection, of pool: Pool,
        _ effects: inout APNsEffects
    ) {
        pending[index].resends += 1
        let isAllowed = !connection.isRetiring || pool.allowsResend(after: connection)
        guard isAllowed, pending[index].resends <= Limits.APNsGateway.resends else {
            return postpone(index, verdict, &effects)
        }
        resend(index)
    }
}
