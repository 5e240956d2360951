public import Basics
import Delivery

/// Credentials: their replacement, and what happens when Apple refuses one (apns 1.7).
extension APNsGateway {
    mutating func replaceCredentials(
        _ credentials: [APNsCredential], _ now: Now, _ effects: inout APNsEffects
    ) {
        for entry in directory.replace(with: credentials) {
            for pool in entry.pools {
                entry[pool.environment] = nil
                while let index = pool.queue.popFirst(&pending) {
                    // Another credential may serve it.
                    pending[index].state = .inLane
                    ready.append((index, false))
                }
                for connection in pool.connections { retire(connection, of: pool, .removed, now, &effects) }
            }
        }
    }

    /// Returns the answer for a delivery while Apple refuses the credential or the topic, or `nil` if it may be sent. One request from
    /// time to time is.
    mutating func refuses(_ pool: Pool, _ index: Int32, _ now: Now) -> GatewayOutcome? {
        let topic = pending[index].request.topic
        if let refusal = pool.refusal, !pending[index].tried.contains(.credentialProbe),
            !refusal.allowsProbe(now.monotonic)
        {
            return outcome(of: refusal, now)
        }
        if !pool.topicRefusals.isEmpty, let refusal = pool.topicRefusals[topic],
            !pending[index].tried.contains(.topicProbe)
        {
            guard refusal.allowsProbe(now.monotonic) else { return outcome(of: refusal, now) }
            pool.topicRefusals[topic]?.probe(now.monotonic)
            pending[index].tried.insert(.topicProbe)
        }
        if pool.refusal != nil, pending[index].tried.insert(.credentialProbe).inserted {
            pool.refusal?.probe(now.monotonic)
        }
        return nil
    }

    private mutating func outcome(of refusal: RefusalState, _ now: Now) -> GatewayOutcome {
        refusal.isClock
            ? later(refusal.wait(now.monotonic), refusal.verdict)
            : .refused(APNsRefusal(.credential, refusal.verdict))
    }

    /// Apple refuses the credential: what waits for it fails now.
    mutating func turnOff(
        _ pool: Pool, _ verdict: APNsVerdict?, isClock: Bool = false, isProbe: Bool, _ now: Now,
        _ effects: inout APNsEffects
    ) {
        pool.troubled(now.monotonic)
        if pool.refusal == nil {
            pool.refusal = RefusalState(verdict, isClock: isClock, now: now.monotonic)
            if !isClock { effects.notices.append(.credentialOff(pool.endpoint, verdict)) }
        } else if isProbe {
            pool.refusal?.refusedAgain(verdict, isClock: isClock, now: now.monotonic)
        }
        guard let refusal = pool.refusal else { return }
        flush(pool, now, &effects) { $0.outcome(of: refusal, now) }
    }

    /// Apple refuses the credential for the topic of a delivery. What waits is judged when it is answered.
    mutating func turnOffTopic(
        of index: Int32, _ pool: Pool, _ verdict: APNsVerdict, _ now: Now, _ effects: inout APNsEffects
    ) {
        let topic = pending[index].request.topic
        if pool.topicRefusals[topic] != nil {
            guard pending[index].tried.contains(.topicProbe) else { return }
            pool.topicRefusals[topic]?.refusedAgain(verdict, isClock: false, now: now.monotonic)
        } else if pool.topicRefusals.count < Limits.APNsGateway.refusedTopics {
            pool.topicRefusals[topic] = RefusalState(verdict, now: now.monotonic)
            effects.notices.append(.topicOff(pool.endpoint, topic: topic, verdict))
        }
    }

    /// `ExpiredProviderToken`: the connection is of no more use. A request is sent once more, on another one. If a new connection
    /// begins with that refusal of a young token, the clock of this server is wrong, and a new token would have the same fault.
    mutating func tokenExpired(
        _ index: Int32, _ verdict: APNsVerdict, _ pool: Pool, _ connection: PoolConnection, _ now: Now,
        _ effects: inout APNsEffects
    ) {
        let wasRetiring = connection.isRetiring
        retire(connection, of: pool, .wedged, now, &effects)
        let isYoung = pool.entry.clock.expired(serial: pending[index].tokenSerial, now: now)
        // One alarm for a connection, not one for each of its requests.
        if isYoung, !wasRetiring {
            let age = Int(pool.entry.clock.age(now) / 1_000)
            effects.notices.append(.clockAlarm(pool.entry.credential.id, tokenAgeSeconds: age))
        }
        if !isYoung || pool.allowsResend(after: connection), retriesOnce(index, .tokenExpired) {
            return resend(index)
        }
        let isProbe = pending[index].tried.contains(.credentialProbe)
        finish(index, later(Limits.APNsGateway.laterMilliseconds, verdict), &effects)
        if isYoung { turnOff(pool, verdict, isClock: true, isProbe: isProbe, now, &effects) }
    }

    /// Returns the state of each credential in each of its environments.
    public func status(now: Now) -> [APNsCredentialStatus] {
        directory.entries.flatMap { entry in
            [APNsEnvironment.production, .sandbox].filter { entry.credential.environments.contains($0) }.map {
                let pool = entry[$0]
                return APNsCredentialStatus(
                    id: entry.credential.id, environment: $0, health: pool?.health ?? .unused,
                    refusedTopics: pool?.topicRefusals.keys.sorted { $0.lexicographicallyPrecedes($1) } ?? [],
                    connections: pool?.connections.count ?? 0,
                    requestsInFlight: pool?.requestsInFlight ?? 0, waiting: pool?.queue.count ?? 0,
                    failingSeconds: pool?.failingSeconds(now.monotonic),
                    tokenAgeSeconds: entry.clock.current.map { _ in Int(entry.clock.age(now) / 1_000) })
            }
        }
    }
}

extension Pool {
    var health: APNsCredentialStatus.Health {
        guard let refusal else { return isProven ? .accepted : .unused }
        return refusal.isClock ? .clockDoubted : .refused(refusal.verdict)
    }
}
