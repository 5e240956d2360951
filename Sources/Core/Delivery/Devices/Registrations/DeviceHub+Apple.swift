import Basics

/// iOS apps that register by their installation without naming a device (mcs-device 5.6), and iOS apps that app servers import
/// by their APNs device token (http 7.4).
///
/// An import finds a registration that the app has made before. Conversely, an app that registers never gets the token that was
/// imported for it, but a new one: the APNs device token is also in app servers and logs, and with it an attacker could
/// otherwise redirect the imported token to another phone. The app server drops the imported token when the app sends it the
/// new one.
extension DeviceHub {
    /// Records an app's APNs device token in its existing registration, else in a registration of a new device.
    mutating func recordAPNsToken(
        _ address: AppleRegistration, of names: [RegistrationName], _ entry: DeviceEntry,
        for request: InstallationRequest, _ turn: inout Turn
    ) {
        let at = entry.registrations.lastIndex { state in
            let registration = state.registration
            let isIt =
                address.isImport
                ? registration.apnsToken == address.token : request.isServed(by: registration)
            return isIt && registration.category == address.bundle && request.mayUse(registration)
        }
        if let at { return renew(address, at: at, entry, for: request, &turn) }
        if let next = request.next(names, after: entry) {
            turn.forward(next)
        } else if entry.device != address.freshDevice {
            turn.forward(.installationFound(request, [], at: address.freshDevice))
        } else {
            make(address, entry, for: request, &turn)
        }
    }

    /// Makes a device that has only this registration and never logs in.
    private mutating func make(
        _ address: AppleRegistration, _ entry: DeviceEntry, for request: InstallationRequest,
        _ turn: inout Turn
    ) {
        let requester = request.requester
        // The device of an earlier import of the same token may still exist although its registration is gone.
        let isFree = entry.record == nil || address.isImport
        guard isFree else { return turn.refuseRequest(requester, .serviceNotAvailable) }
        guard let owner = request.sender, turn.directory[owner] != nil else {
            return turn.refuseRequest(requester, .invalidSender)
        }
        if let refusal = turn.refusalToAdd(for: entry.record, requester) {
            return turn.refuseRequest(requester, refusal)
        }
        turn.demand(
            entry.device == address.freshDevice, "an iOS app gets a device with another id", of: entry)
        let record =
            entry.record
            ?? DeviceRecord(
                device: entry.device, token: address.freshDigest, createdAt: turn.contactTime,
                seenAt: turn.contactTime, nextRegistration: 1, hasLoggedIn: false)
        let sender = Array(String(owner.number).utf8)
        var registration = Registration(
            name: nextName(entry, record), category: address.bundle, subtype: sender, senderText: sender,
            sender: owner, instance: address.isImport ? [] : request.installation,
            createdAt: turn.now.wall)
        registration.apnsToken = address.token
        registration.appVersion = address.appVersion
        registration.isProved = request.mark != nil
        if !address.isImport { registration.prefixToken(with: request.installation) }
        add(registration, to: record, entry, for: requester, &turn)
    }

    /// Updates the APNs device token and version of a registration, and answers when they are on disk.
    private mutating func renew(
        _ address: AppleRegistration, at: Int, _ entry: DeviceEntry, for request: InstallationRequest,
        _ turn: inout Turn
    ) {
        var registration = entry.registrations[at].registration
        // An import comes from an app server, which does not know whether the app still exists.
        if !address.isImport {
            revive(&registration, &turn)
            registration.prefixToken(with: request.installation)
        }
        registration.apnsToken = address.token
        if !address.appVersion.isEmpty { registration.appVersion = address.appVersion }
        change(at, of: entry, to: registration, &turn)
        if let record = entry.record { updateLastSeen(entry, record, &turn) }
        answerOnceStored(entry.registrations[at], request.requester, &turn)
    }

    // MARK: Lookup keys

    /// Replaces a registration and its lookup keys in the store, if it differs.
    mutating func change(
        _ at: Int, of entry: DeviceEntry, to registration: Registration, seal: TokenSeal? = nil,
        _ turn: inout Turn
    ) {
        let old = entry.registrations[at].registration
        guard registration != old else { return }
        turn.demand(registration.name == old.name, "a registration changes its name", of: entry)
        let batch = turn.ledger.nextBatchNumber
        entry.update(at) { $0.replace(with: registration, in: batch) }
        turn.write(.putRegistration(registration), of: entry)
        if registration.usesAPNs != old.usesAPNs {
            for subscription in entry.registrations[at].topics.all(of: registration.name) {
                turn.write(
                    registration.usesAPNs ? .listForGateway(subscription) : .unlistForGateway(subscription))
            }
        }
        let seal = seal ?? turn.settings.seal
        let (before, after) = (old.lookupKeys(seal), registration.lookupKeys(seal))
        for place in before where !after.contains(place) {
            turn.write(.unlinkInstallation(place, registration.name))
        }
        for place in after where !before.contains(place) {
            turn.write(.linkInstallation(place, registration.name))
        }
        if registration.instance != old.instance { endSubscriptions(replacedBy: registration, entry, &turn) }
    }
}

extension Registration {
    /// Returns the keys under which it is found without its token: its installation and its APNs device token.
    func lookupKeys(_ seal: TokenSeal) -> [[UInt8]] {
        var places = installation.map { [$0] } ?? []
        if !apnsToken.isEmpty { places.append(seal.indexKey(ofBundle: category, token: apnsToken)) }
        return places
    }
}
