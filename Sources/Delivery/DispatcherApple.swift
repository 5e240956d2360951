import Basics

/// iOS apps that register by their installation and name no device (mcs-device 5.6).
extension Dispatcher {
    /// Notes where Apple reaches an app: in the registration that its installation has, else in one of a new device.
    mutating func note(
        _ address: AppleAddress, of names: [RegistrationName], _ entry: DeviceEntry,
        _ request: InstallationRequest, _ now: Now, _ effects: inout Effects
    ) {
        let at = entry.registrations.lastIndex {
            $0.registration.installation == request.installation
                && $0.registration.category == address.bundle && $0.registration.allows(request.sender)
        }
        if let at { return renew(at, entry, address, request.origin, &effects) }
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
        guard directory[request.sender] != nil, entry.record == nil else {
            let refusal: RegistrationRefusal =
                entry.record == nil ? .invalidSender : .serviceNotAvailable
            effects.commands.append(
                (origin.connection, .registrationRefused(ticket: origin.ticket, refusal)))
            return
        }
        let record = DeviceRecord(
            device: entry.device, token: address.freshDigest, createdAt: now.wall, seenAt: now.wall,
            nextRegistration: 1)
        let sender = Array(String(request.sender.number).utf8)
        var registration = Registration(
            name: nextName(entry, record), category: address.bundle, subtype: sender, senderText: sender,
            sender: request.sender, instance: request.installation, createdAt: now.wall)
        registration.apnsToken = address.token
        add(registration, record, entry, origin, now, &effects)
    }

    /// Gives a registration its new token, if it is new, and answers when it is on disk.
    private mutating func renew(
        _ at: Int, _ entry: DeviceEntry, _ address: AppleAddress, _ origin: Origin,
        _ effects: inout Effects
    ) {
        if entry.registrations[at].registration.apnsToken != address.token {
            entry.registrations[at].registration.apnsToken = address.token
            entry.registrations[at].batch = ledger.nextTicket
            effects.mutations.append(.putRegistration(entry.registrations[at].registration))
            touch(entry)
        }
        answerOnceStored(entry.registrations[at], origin, &effects)
    }
}
