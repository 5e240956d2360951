import Basics
import Delivery

extension WebhookGateway {
    /// Acts on the end of a request.
    mutating func answered(
        _ request: UInt64, _ answer: WebhookAnswer, _ now: Now, _ effects: inout WebhookEffects
    ) {
        guard let flight = flights[request] else { return }
        let sender = flight.sender
        if answer.isAcknowledgement {
            acknowledged(flight, now, &effects)
        } else {
            failed(request, flight, answer, now, &effects)
        }
        if answer.isAcknowledgement || flight.isWithdrawn || !keeps(flight, now.monotonic, &effects) {
            endpoints[sender]?.lanes[flight.lane]?.advance()
        }
        land(request, flight)
    }

    private mutating func acknowledged(
        _ flight: WebhookFlight, _ now: Now, _ effects: inout WebhookEffects
    ) {
        endpoints[flight.sender]?.status.acknowledged += 1
        endpoints[flight.sender]?.status.lastAcknowledgedAt = now.wall
        if endpoints[flight.sender]?.pace.succeeded() == true {
            effects.notices.append(.resumed(flight.sender))
        }
        if !flight.isWithdrawn { effects.outcomes.append(flight.item.finished(.acknowledged)) }
    }

    /// Counts a failure against the endpoint, which may pause or stop it.
    private mutating func failed(
        _ request: UInt64, _ flight: WebhookFlight, _ answer: WebhookAnswer, _ now: Now,
        _ effects: inout WebhookEffects
    ) {
        let sender = flight.sender
        endpoints[sender]?.status.failed += 1
        endpoints[sender]?.status.lastFailure = answer.words
        endpoints[sender]?.status.lastFailureAt = now.wall
        if case .status(410, _) = answer {
            if case .gone? = endpoints[sender]?.pace.state { return }
            endpoints[sender]?.pace.ended(now.monotonic)
            effects.gone.append(sender)
            return effects.notices.append(.gone(sender))
        }
        let pause = endpoints[sender]?.pace.failed(request, retryAfter: answer.retryAfter, now.monotonic)
        if let pause = pause ?? nil {
            effects.notices.append(.paused(sender, milliseconds: pause, reason: answer.words))
        }
    }

    /// Puts a message that was not acknowledged back for its next attempt, or ends it here. Returns whether it was put back.
    private mutating func keeps(
        _ flight: WebhookFlight, _ now: Instant, _ effects: inout WebhookEffects
    ) -> Bool {
        let item = flight.item
        if item.isPrompt {
            effects.outcomes.append(item.finished(.expired))
            return false
        }
        if sessions[item.session]?.isRecalled ?? true {
            effects.outcomes.append(item.finished(.returned))
            return false
        }
        endpoints[flight.sender]?.lanes[flight.lane]?.putBack(item, now)
        return endpoints[flight.sender]?.lanes[flight.lane] != nil
    }
}
