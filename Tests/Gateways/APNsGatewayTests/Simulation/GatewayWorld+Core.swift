import APNsGateway
import Basics
import Delivery

/// The core, and what befalls the world.
extension GatewayWorld {
    /// Offers the current message of a registration.
    func offer(_ index: Int) {
        let receiver = receivers[index]
        let delivery = Samples.delivery(
            UInt64(index * 1_000 + receiver.sent + 1), registration: UInt64(index), token: receiver.token,
            bundle: receiver.bundle, attempt: receiver.attempt)
        offer(delivery)
    }

    func offer(_ delivery: GatewayDelivery) {
        checkers.offered(delivery)
        feed(.deliver(delivery))
    }

    func answered(_ answer: GatewayAnswer) {
        checkers.answered(answer)
        if let core { return core.answered(answer) }
        let index = Int(answer.registration.number.number)
        guard receivers.indices.contains(index) else { return }
        checkers.judged(answer.outcome, isGood: receivers[index].fate.isGood)
        switch answer.outcome {
        case .later(let milliseconds, _, let isAttempt):
            checkers.mustHold(milliseconds > 0, "answers: later, but at once")
            if isAttempt { receivers[index].attempt += 1 }
            after(milliseconds) { $0.offer(index) }
        case .refused(let refusal) where refusal.kind == .credential:
            receivers[index].attempt += 1
            after(60_000) { $0.offer(index) }
        case .accepted:
            accepted += 1
            advance(index)
        case .refused, .tokenEnded, .tokenUnknown, .tokenMismatched: advance(index)
        }
    }

    private func advance(_ index: Int) {
        receivers[index].sent += 1
        receivers[index].attempt = 0
        guard receivers[index].sent < settings.messages else {
            receivers[index].isDone = true
            return
        }
        after(Int64.random(in: 0...settings.pause, using: &random)) { $0.offer(index) }
    }

    /// Plans outages, jumps of the clock and changes of the credentials. All end with the faults.
    func scheduleTrouble() {
        let end = settings.faultMilliseconds
        if settings.hasOutages {
            after(Int64.random(in: 0...end / 2, using: &random)) { world in
                world.isOutage = true
                for id in world.connections.keys.sorted(by: { $0.number < $1.number }) {
                    if let connection = world.connections[id], connection.isOpen { world.lose(connection) }
                }
            }
            after(end) { $0.isOutage = false }
        }
        if settings.refusesConnections {
            isOutage = true
            after(end) { $0.isOutage = false }
        }
        if settings.jumps {
            let jump = Int64.random(in: -3...3, using: &random) * 3_600_000
            // Often the clock is wrong from the start.
            after(chance(50) ? 0 : Int64.random(in: 0...end, using: &random)) { $0.wallShift = jump }
            after(end) { $0.wallShift = 0 }
        }
        if settings.refusesCredential {
            after(Int64.random(in: 0...end / 2, using: &random)) { $0.refusesAll = true }
            after(end) { $0.refusesAll = false }
        }
        if settings.replacesCredentials {
            let removal = Int64.random(in: 0...end / 2, using: &random)
            after(removal) { $0.use([]) }
            after(removal + Int64.random(in: 0...end / 2, using: &random)) {
                $0.checkers.replacedKey()
                $0.use([Samples.key(revision: 1)])
            }
        }
        if settings.drains { after(end / 2) { $0.feed(.drain) } }
    }
}
