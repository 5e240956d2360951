import Basics

/// Installation requests, at the devices that have the registrations (mcs-device 5.4, 5.5; http 8.2).
extension DeviceHub {
    /// Performs an installation request on this device, which has the first of the installation's registrations.
    mutating func installationFound(
        _ request: InstallationRequest, of names: [RegistrationName], _ entry: DeviceEntry,
        _ turn: inout Turn
    ) {
        switch request.action {
        case .remove: remove(names, of: entry, for: request, &turn)
        case .apple(let address): recordAPNsToken(address, of: names, entry, for: request, &turn)
        case .subscribe(let topic): change(names, of: entry, topic, isEnd: false, for: request, &turn)
        case .unsubscribe(let topic): change(names, of: entry, topic, isEnd: true, for: request, &turn)
        case .address(let action): token(action, names, of: entry, for: request, &turn)
        case .send(let content): send(content, names, of: entry, for: request, &turn)
        case .create(let offer): vouch(offer, entry, for: request, &turn)
        case .vouch, .claim, .vouched, .refresh, .end, .revoke, .imported:
            turn.demand(false, "a device received an installation request that it cannot perform", of: entry)
            turn.refuseInstallation(request, .serviceNotAvailable)
        }
    }

    /// Changes a subscription of the installation's newest registration with the sender. If several devices have the same
    /// installation id, it was copied with the app's data: all present the same token, so the devices are tried one after another.
    private mutating func change(
        _ names: [RegistrationName], of entry: DeviceEntry, _ topic: TopicName, isEnd: Bool,
        for request: InstallationRequest, _ turn: inout Turn
    ) {
        do throws(RegistrationRefusal) {
            // The proof is that of its own installation, not of one that has replaced it.
            guard let at = entry.serving(request), canonical(of: at, entry, &turn) == at else {
                guard let next = request.next(names, after: entry) else { throw .notRegistered }
                return turn.forward(next)
            }
            guard let sender = request.sender ?? entry.registrations[at].registration.sender else {
                throw .invalidSender
            }
            try changeSubscription(
                to: topic, of: sender, isEnd: isEnd, at: at, entry, for: request.requester, &turn)
        } catch {
            turn.refuseInstallation(request, error)
        }
    }

    private mutating func remove(
        _ names: [RegistrationName], of entry: DeviceEntry, for request: InstallationRequest,
        _ turn: inout Turn
    ) {
        for registration in entry.registrations.map(\.registration)
        where request.isServed(by: registration) {
            _ = removeRegistration(registration.name.number, entry, &turn)
        }
        guard let next = request.next(names, after: entry) else {
            return answerOnceCommitted(.unregistered, entry, to: request.requester, &turn)
        }
        if !waitUntilCommitted(.next(next, request.requester), entry, &turn) { turn.forward(next) }
    }

    /// Sends a message to the installation's newest registration with the sender, on any of its devices, as if the message were
    /// addressed to the token of that registration.
    func send(
        _ content: MessageContent, _ names: [RegistrationName], of entry: DeviceEntry,
        for request: InstallationRequest, _ turn: inout Turn
    ) {
        if let found = entry.serving(request), let sender = request.sender {
            let submission = Submission(
                requester: request.requester, entitlement: .account(sender),
                target: entry.registrations[found].registration.name, content: content)
            return turn.forward(.submitted(submission))
        }
        if let next = request.next(names, after: entry) { return turn.forward(next) }
        let isForeign = entry.registrations.contains { request.isServed(by: $0.registration) }
        turn.refuseSend(request, isForeign ? .senderMismatch : .notRegistered)
    }

    /// Verifies the check-in pair of a request to make an installation: it must belong to a device that has registered it.
    mutating func vouch(
        _ offer: InstallationOffer, _ entry: DeviceEntry, for request: InstallationRequest,
        _ turn: inout Turn
    ) {
        var isProved = false
        if let (device, token) = offer.device, device == entry.device, entry.record(ofToken: token) != nil {
            for at in entry.registrations.indices
            where request.isServed(by: entry.registrations[at].registration) {
                isProved = true
                var registration = entry.registrations[at].registration
                registration.isProved = true
                change(at, of: entry, to: registration, &turn)
            }
        }
        turn.answerVouch(request, isProved: isProved)
    }
}

extension InstallationRequest {
    /// Returns the event that continues the request at the next device of the installation. Returns `nil` after the last one.
    func next(_ names: [RegistrationName], after entry: DeviceEntry) -> Event? {
        let others = names.filter { $0.device != entry.device }
        return others.first.map { .installationFound(self, others, at: $0.device) }
    }
}

extension DeviceEntry {
    /// Returns the index of the installation's newest registration with the sender of a request, or with any if that is `nil`.
    func serving(_ request: InstallationRequest) -> Int? {
        registrations.lastIndex {
            request.isServed(by: $0.registration)
                && (request.sender == nil || request.mayUse($0.registration))
        }
    }
}
