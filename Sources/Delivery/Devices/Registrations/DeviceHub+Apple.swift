import Basics

/// iOS apps that register by their installation and name no device (mcs-device 5.6), and those that app servers bring along
/// from elsewhere by what Apple gave them (http 7.4).
///
/// An import finds what the app has registered before. The other way round an app never gets the token that was imported for it,
/// but one of its own: app servers and logs know what Apple gave it, and whoever learns that could otherwise make the imported
/// token lead to another phone. The app server drops the imported token when the app tells it the new one.
extension DeviceHub {
    /// Notes where Apple reaches an app: in the registration that is there, else in one of a new device.
    mutating func note(
        _ address: AppleAddress, of names: [RegistrationName], _ entry: DeviceEntry,
        _ request: InstallationRequest, _ turn: inout Turn
    ) {
        let at = entry.registrations.lastIndex { state in
            let registration = state.registration
            let isIt =
                address.isImport
                ? registration.apnsToken == address.token : request.isServed(by: registration)
            return isIt && registration.category == address.bundle && request.mayUse(registration)
        }
        if let at { return renew(at, entry, address, request.origin, &turn) }
        let others = names.filter { $0.device != entry.device }
        if let next = others.first {
            turn.forward(.installationFound(request, others, at: next.device))
        } else if entry.device != address.freshDevice {
            turn.forward(.installationFound(request, [], at: address.freshDevice))
        } else {
            make(address, entry, request, &turn)
        }
    }

    /// Makes a device that has this one registration and never logs in.
    private mutating func make(
        _ address: AppleAddress, _ entry: DeviceEntry, _ request: InstallationRequest, _ turn: inout Turn
    ) {
        let origin = request.origin
        // One that was made for the same token is there although its registration is gone.
        let isFree = entry.record == nil || address.isImport
        guard isFree else { return turn.refuse(origin, .serviceNotAvailable) }
        guard let owner = request.sender, turn.directory[owner] != nil else {
            return turn.refuse(origin, .invalidSender)
        }
        if let refusal = turn.refusalToAdd(for: entry.record, origin) { return turn.refuse(origin, refusal) }
        turn.demand(
            entry.device == address.freshDevice, "an app of Apple's gets a device of another name", of: entry)
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
        add(registration, record, entry, origin, &turn)
    }

    /// Gives a registration its new token and version, if they are new, and answers when that is on disk.
    private mutating func renew(
        _ at: Int, _ entry: DeviceEntry, _ address: AppleAddress, _ origin: Origin, _ turn: inout Turn
    ) {
        var registration = entry.registrations[at].registration
        registration.apnsToken = address.token
        if !address.appVersion.isEmpty { registration.appVersion = address.appVersion }
        change(at, of: entry, to: registration, &turn)
        if let record = entry.record { seen(entry, record, &turn) }
        answerOnceStored(entry.registrations[at], origin, &turn)
    }

    // MARK: Places

    /// Changes what is stored of a registration, and where it is found, if anything is new.
    mutating func change(
        _ at: Int, of entry: DeviceEntry, to registration: Registration, _ turn: inout Turn
    ) {
        let old = entry.registrations[at].registration
        guard registration != old else { return }
        turn.demand(registration.name == old.name, "a registration changes its name", of: entry)
        entry.registrations[at].registration = registration
        entry.registrations[at].batch = turn.ledger.nextTicket
        turn.write(.putRegistration(registration))
        let (before, after) = (turn.settings.places(of: old), turn.settings.places(of: registration))
        for place in before where !after.contains(place) {
            turn.write(.unlinkInstallation(place, registration.name))
        }
        for place in after where !before.contains(place) {
            turn.write(.linkInstallation(place, registration.name))
        }
        turn.touch(entry)
    }
}

extension DeliverySettings {
    /// Under what a registration is found by those who do not know its token: its installation, and what Apple gave the app.
    func places(of registration: Registration) -> [[UInt8]] {
        var places = registration.installation.map { [$0] } ?? []
        if !registration.apnsToken.isEmpty {
            places.append(
                seal.place(ofBundle: registration.category, token: registration.apnsToken))
        }
        return places
    }
}
