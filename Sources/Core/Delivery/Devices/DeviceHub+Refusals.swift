import Basics

/// Refusal of events that cannot wait for the store any longer.
extension DeviceHub {
    /// Refuses such an event. Events without an answer are dropped: the device repeats them. `refusal` is that of messages.
    mutating func refuse(
        _ event: DeviceEvent, of device: DeviceID, as refusal: Refusal = .unavailable, _ turn: inout Turn
    ) {
        switch event {
        case .submitted(let submission):
            turn.traceSubmission(submission, .refused, detail: refusal.detail)
            turn.countRefused(refusal, of: submission.sender)
            turn.refuse(submission.replyTo, refusal)
        case .login(let login) where refusal == .storeDamaged:
            turn.send(.close(.storeDamaged), to: login.connection)
        case .login(let login): turn.send(DeviceCommand.loginRefused(.unavailable), to: login.connection)
        case .upstreamReceived(let upstream): turn.refuseUpstream(upstream, .unavailable)
        case .checkIn(let request): turn.refuseRequest(request.requester, .serviceNotAvailable)
        case .register(let request), .unregister(let request):
            turn.refuseRequest(request.requester, .serviceNotAvailable)
        case .registerWeb(let request): turn.refuseRequest(request.requester, .serviceNotAvailable)
        case .subscribe(let request): turn.refuseRequest(request.requester, .serviceNotAvailable)
        case .token(let request): turn.reply(.tokenRefused(.unavailable), to: request.requester)
        case .installationFound(let request, _):
            if request.action.isChange {
                turn.answerVouch(request, isProved: false)
            } else {
                turn.refuseInstallation(request, .serviceNotAvailable)
            }
        case .imported(let rows): turn.refuseRequest(rows.requester, .serviceNotAvailable)
        case .forget(let requester), .unregisterToken(_, let requester):
            turn.refuseRequest(requester, .serviceNotAvailable)
        case .cancel(let request): refuse(request, as: refusal, &turn)
        case .upstreamReturned(let gone):
            // The next search for expired messages returns it again.
            turn.forward(.upstreamReturnFinished(gone.sender, gone.sequence, hasFailed: true))
        case .gatewayAnswered(let answer): gatewayAnswerDropped(answer, &turn)
        case .gatewayDue(let number):
            // Nothing else would offer the message before the next start.
            gateway.deferred.add(
                RegistrationName(device: device, number: number),
                due: turn.now.monotonic.advanced(milliseconds: Int64(Limits.Store.sweepMilliseconds)))
        case .markedForGateway: gateway.search.missed(device, turn.now.monotonic)
        case .topicsDue: topicDeviceVisited(hasFailed: true, &turn)
        // The next search for due messages finds it again.
        case .due: break
        case .acknowledged, .receiptStored, .unseen, .writable, .congested, .idleChanged, .closed,
            .upstreamAnswered, .receiptRefused:
            break
        }
    }
}
