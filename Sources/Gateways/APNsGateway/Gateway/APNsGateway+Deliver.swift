import Basics
import Delivery

/// The way of a delivery from the core to a pool, and its end.
extension APNsGateway {
    /// Why a registration ends whose device token Apple was not asked about.
    static let invalidToken = "InvalidDeviceToken"

    mutating func deliver(_ delivery: GatewayDelivery, _ now: Now, _ effects: inout APNsEffects) {
        func answer(_ outcome: GatewayOutcome) {
            effects.answers.append(
                GatewayAnswer(
                    registration: delivery.registration, sequence: delivery.message.sequence, outcome: outcome
                ))
        }
        guard drainEnds == nil, pending.count < Limits.APNsGateway.queuedRequests else {
            return answer(later())
        }
        // A row from a release that did not check device tokens. No attempt can succeed, so the registration ends.
        guard AppleToken.isValid(delivery.app.parts.apnsToken) else {
            return answer(.tokenEnded(APNsVerdict(status: 0, reason: Self.invalidToken)))
        }
        let request: APNsRequest
        do throws(APNsRefusal) {
            request = try settings.mapping(delivery, now.wall)
        } catch {
            return answer(.refused(error))
        }
        let lane = LaneKey(request.deviceToken.bytes, laneHash)
        let index = pending.add(PendingDelivery(delivery, request, now))
        pending[index].lane = lane
        if let place = lanes.index(forKey: lane) { return lanes.values[place].append(index, &pending) }
        lanes[lane] = PendingQueue()
        enqueue(index, isFirst: false, now, &effects)
    }

    /// Queues a delivery that is the first of its device token, or answers it if there is no way to Apple.
    mutating func enqueue(_ index: Int32, isFirst: Bool, _ now: Now, _ effects: inout APNsEffects) {
        let environment = pending[index].request.environment
        guard drainEnds == nil else { return finish(index, later(), &effects) }
        guard let entry = entry(for: index, in: environment, now),
            entry.credential.permits(topic: pending[index].request.topic)
        else { return finish(index, .refused(APNsRefusal(.credential)), &effects) }
        let pool = pool(of: entry, environment)
        if let outcome = refuses(pool, index, now) {
            return finishUnserved(index, pool, outcome, now, &effects)
        }
        pending[index].state = .queued(pool, since: now.monotonic)
        if isFirst {
            pool.queue.prepend(index, &pending)
        } else {
            pool.queue.append(index, &pending)
        }
        mark(pool)
    }

    /// Returns the credential that serves a delivery in an environment, or `nil` if there is none.
    mutating func entry(
        for index: Int32, in environment: APNsEnvironment, _ now: Now
    ) -> CredentialEntry? {
        directory.entry(for: pending[index].bundle, of: pending[index].sender, in: environment, now)
    }

    private mutating func pool(of entry: CredentialEntry, _ environment: APNsEnvironment) -> Pool {
        if let pool = entry[environment] { return pool }
        let pool = Pool(entry, environment)
        entry[environment] = pool
        pools.append(pool)
        return pool
    }

    /// Queues a delivery again, before all others or after them.
    mutating func resend(_ index: Int32, isFirst: Bool = true) {
        pending[index].state = .inLane
        ready.append((index, isFirst))
    }

    /// Answers a delivery. The next one for its device token follows.
    mutating func finish(_ index: Int32, _ outcome: GatewayOutcome, _ effects: inout APNsEffects) {
        effects.answers.append(
            GatewayAnswer(
                registration: pending[index].registration, sequence: pending[index].sequence,
                outcome: outcome))
        if let place = lanes.index(forKey: pending[index].lane) {
            if let next = lanes.values[place].popFirst(&pending) {
                ready.append((next, false))
            } else {
                lanes.remove(at: place)
            }
        }
        pending.remove(index)
    }

    /// Answers a delivery that has found no way to Apple. If that was a probe of an environment that has been closed to us for an
    /// hour, the verdict of the other one stands.
    mutating func finishUnserved(
        _ index: Int32, _ pool: Pool, _ outcome: GatewayOutcome, _ now: Now, _ effects: inout APNsEffects
    ) {
        guard let verdict = pending[index].firstVerdict, pool.isHopeless(now.monotonic) else {
            return finish(index, outcome, &effects)
        }
        finishUnknown(index, verdict, now, &effects)
    }

    /// Answers everything that waits for a connection of a pool.
    mutating func flush(
        _ pool: Pool, _ now: Now, _ effects: inout APNsEffects, _ outcome: (inout Self) -> GatewayOutcome
    ) {
        while let index = pool.queue.popFirst(&pending) {
            finishUnserved(index, pool, outcome(&self), now, &effects)
        }
    }

    /// The answer for a delivery that was not attempted: it comes back after the given time and up to a second.
    mutating func later(
        _ milliseconds: Int64 = Limits.APNsGateway.laterMilliseconds, _ verdict: APNsVerdict? = nil
    ) -> GatewayOutcome {
        let jitter = Int64.random(in: 0...Limits.APNsGateway.laterMilliseconds, using: &random)
        return .later(
            milliseconds: milliseconds + jitter, APNsRefusal(.unavailable, verdict), isAttempt: false)
    }
}
