import Basics

/// Consistency checks: a device event and a state from the store name their device, and so do the values in them.
extension DeviceEvent {
    /// Whether the values in the event belong to the device.
    func isFor(_ device: DeviceID) -> Bool {
        switch self {
        case .submitted(let submission): submission.target.device == device
        case .login(let login): login.device == device
        case .upstreamReceived(let upstream): upstream.device == device
        case .upstreamReturned(let gone): gone.author.from.device == device
        case .checkIn(let checkIn): (checkIn.claimed?.0 ?? checkIn.freshDevice) == device
        case .register(let request), .unregister(let request): request.device == device
        case .registerWeb(let request): request.endpoint.device == device
        case .unregisterToken(let claim, _): claim.name.device == device
        case .subscribe(let request): request.name.device == device
        case .token(let request): request.name.device == device
        case .gatewayAnswered(let answer): answer.registration.device == device
        case .cancel(let request): request.device == device
        case .imported(let rows):
            rows.device == device && rows.record.map { $0.device == device } ?? true
                && rows.registrations.allSatisfy { $0.name.device == device }
                && rows.subscriptions.allSatisfy { $0.name.device == device }
        case .acknowledged, .writable, .congested, .idleChanged, .closed, .upstreamAnswered, .receiptStored,
            .receiptRefused, .installationFound, .gatewayDue, .markedForGateway, .topicsDue, .forget,
            .unseen, .due:
            true
        }
    }
}

extension DeviceState {
    /// Whether all records belong to the same device.
    var isOfOneDevice: Bool {
        (record.map { $0.device == device } ?? true)
            && registrations.allSatisfy { $0.name.device == device }
            && subscriptions.allSatisfy { $0.name.device == device }
    }

    /// Whether registrations and messages are strictly ascending.
    var isInOrder: Bool {
        zip(registrations, registrations.dropFirst()).allSatisfy { $0.name.number < $1.name.number }
            && zip(mailbox, mailbox.dropFirst()).allSatisfy { $0.sequence < $1.sequence }
    }
}
