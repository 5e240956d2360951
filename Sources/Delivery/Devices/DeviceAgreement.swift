import Basics

/// What is said twice must agree: an event and a state from the store carry the device that they are of, and so does what is in them.
extension DeviceEvent {
    /// Whether what the event carries is of a device.
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
        case .acknowledged, .writable, .congested, .idleChanged, .closed, .upstreamAnswered, .receiptStored,
            .receiptRefused, .installationFound, .forget, .unseen:
            true
        }
    }
}

extension DeviceState {
    /// Whether all that it holds is of one device.
    var isOfOneDevice: Bool {
        (record.map { $0.device == device } ?? true)
            && registrations.allSatisfy { $0.name.device == device }
            && subscriptions.allSatisfy { $0.name.device == device }
    }

    /// Whether registrations and messages come in their order, each once.
    var isInOrder: Bool {
        zip(registrations, registrations.dropFirst()).allSatisfy { $0.name.number < $1.name.number }
            && zip(mailbox, mailbox.dropFirst()).allSatisfy { $0.sequence < $1.sequence }
    }
}
