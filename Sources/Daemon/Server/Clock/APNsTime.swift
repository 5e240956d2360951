import Basics
import Delivery

/// Times on the way to Apple and back: Apple has the machine's time, the core that of the server.
extension ClockStatus {
    /// Moves the times of deliveries back to the machine's.
    func moveToMachine(_ deliveries: inout [GatewayDelivery]) {
        let advance = advance
        guard advance != 0 else { return }
        for at in deliveries.indices {
            deliveries[at].message.acceptedAt -= advance
            deliveries[at].message.expiresAt -= advance
            deliveries[at].registeredAt? -= advance
        }
    }

    /// Returns an answer with the server's time for the end of a device token.
    func movedToServer(_ answer: GatewayAnswer) -> GatewayAnswer {
        let advance = advance
        guard advance != 0, case .tokenEnded(var verdict) = answer.outcome, let since = verdict.invalidSince
        else { return answer }
        verdict.invalidSince = since.addingReportingOverflow(advance).partialValue
        var moved = answer
        moved.outcome = .tokenEnded(verdict)
        return moved
    }
}
