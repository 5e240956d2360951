import Basics

/// iOS apps that register by their installation and name no device (mcs-device 5.6), and those that app servers bring along
/// from elsewhere by what Apple gave them (http 7.4).
///
/// An import finds what the app has registered before. The other way round an app never gets the token that was imported for it,
/// but one of its own: app servers and logs know what Apple gave it, and whoever learns that could otherwise make the imported
/// token lead to another phone. The app server drops the imported token when the app tells it the new one.
extension Dispatcher {
    /// Notes where Apple reaches an app: in the registration that is there, else in one of a new device.
    mutating func note(
        _ address: AppleAddress, of names: [RegistrationName], _ entry: DeviceEntry,
        _ request: InstallationRequest, _ now: Now, _ effects: inout Effects
    ) {
        let at = entry.registrations.lastIndex { state in
            let registration = state.registration
            let isIt =
                address.isImport
                ? registration.apnsToken == address.token : serves(registration, request)
            return isIt && registration.category == address.bundle && registration.allows(request.sender)
        }
        if let at { return renew(at, entry, address, request.origin, now, &effects) }
        let others = names.filter { $0.device != entry.device }
        if let next = others.first {
            effects.forwards.append(.installationFound(request, others, at: next.device))
        } else if entry.device != address.freshDevice {
            effects.forwards.append(.installationFound(request, [], at: address.freshDevice))
        } else {
            make(address, entry, request, now, &effects)
        }
    }

    /// Makes a device that has this one registration and never logs in.
    private mutating func make(
        _ address: AppleAddress, _ entry: DeviceEntry, _ request: InstallationRequest, _ now: Now,
        _ effects: inout Effects
    ) {
        let origin = request.origin
        // One that was made for the same token is there although its registration is gone.
        let isFree = entry.record == nil || address.isImport
        let isKnown = directory[request.sender] != nil
        let refusal: RegistrationRefusal? =
            !isFree
            ? .serviceNotAvailable : isKnown ? refusalToAdd(for: entry.record, origin) : .invalidSender
        if let refusal {
            effects.commands.append(
                (origin.connection, .registrationRefused(ticket: origin.ticket, refusal)))
            return
        }
        let record =
            entry.record
            ?? DeviceRecord(
                device: entry.device, token: address.freshDigest, createdAt: contactTime(now),
                seenAt: contactTime(now), nextRegistration: 1, hasLoggedIn: false)
        let sender = Array(String(request.sender.number).utf8)
        var registration = Registration(
            name: nextName(entry, record), category: address.bundle, subtype: sender, senderText: sender,
            sender: request.sender, instance: address.isImport ? [] : request.installation,
            createdAt: now.wall)
        registration.apnsToken = address.token
        registration.appVersion = address.appVersion
        registration.isProved = request.mark != nil
        add(registration, record, entry, origin, now, &effects)
    }

    /// Gives a registration its new token and version, if they are new, and answers when that is on disk.
    private mutating func renew(
        _ at: Int, _ entry: DeviceEntry, _ address: AppleAddress, _ origin: Origin, _ now: Now,
        _ effects: inout Effects
    ) {
        var registration = entry.registrations[at].registration
        registration.apnsToken = address.token
        if !address.appVersion.isEmpty { registration.appVersion = address.appVersion }
        change(at, of: entry, to: registration, &effects)
        if let record = entry.record { seen(entry, record, now, &effects) }
        answerOnceStored(entry.registrations[at], origin, &effects)
    }

    // MARK: Places

    /// Under what a registration is found by those who do not know its token: its installation, and what Apple gave the app.
    func places(of registration: Registration) -> [[UInt8]] {
        var places = registration.installation.map { [$0] } ?? []
        if !registration.apnsToken.isEmpty {
            places.append(
                settings.seal.place(ofBundle: registration.category, token: registration.apnsToken))
        }
        return places
    }

    /// Changes what is stored of a registration, and where it is found, if anything is new.
    mutating func change(
        _ at: Int, of entry: DeviceEntry, to registration: Registration, _ effects: inout Effects
    ) {
        let old = entry.registrations[at].registration
        guard registration != old else { return }
        entry.registrations[at].registration = registration
        entry.registrations[at].batch = ledger.nextTicket
        effects.mutations.append(.putRegistration(registration))
        let (before, after) = (places(of: old), places(of: registration))
        for place in before where !after.contains(place) {
            effects.mutations.append(.unlinkInstallation(place, registration.name))
        }
        for place in after where !before.contains(place) {
            effects.mutations.append(.linkInstallation(place, registration.name))
        }
        touch(entry)
    }
}
