import Basics

/// Tokens of web apps that the server encrypts for, and tokens given up by whoever knows them (mcs-device 5.3, 5.6).
extension Dispatcher {
    /// Makes the second registration of a web push subscription: same app and senders as its endpoint, but with keys.
    mutating func registerWeb(_ request: WebRegistrationRequest, _ now: Now, _ effects: inout Effects) {
        let device = request.endpoint.device
        guard let entry = ready(device, orWait: .registerWeb(request), &effects) else { return }
        defer { devices.rest(entry) }
        do throws(RegistrationRefusal) {
            let wanted = try self.wanted(request, entry, now)
            try renew(request.renewed, wanted, entry, &effects)
            let known = entry.registrations.lastIndex { $0.registration.isSameApp(as: wanted) }
            if let known, entry.registrations[known].isOfInstance(wanted.instance) {
                return update(known, wanted, entry, request.origin, &effects)
            }
            guard entry.registrations.count < settings.registrationsPerDevice,
                entry.hasRoom(for: [wanted.sender], category: wanted.category, subtype: wanted.subtype)
            else { throw .tooManyRegistrations }
            guard let record = entry.record else { throw .notRegistered }
            if record.hasLoggedIn { giveBackPlace(of: request.origin, &effects) }
            guard mayAdd(for: record, request.origin) else { throw .tooManyStrangers }
            add(wanted, record, entry, request.origin, now, &effects)
        } catch {
            effects.commands.append(
                (request.origin.connection, .registrationRefused(ticket: request.origin.ticket, error)))
        }
    }

    /// The registration that a request asks for, by its next name.
    private func wanted(
        _ request: WebRegistrationRequest, _ entry: DeviceEntry, _ now: Now
    ) throws(RegistrationRefusal) -> Registration {
        guard let record = entry.record, let at = entry.index(of: request.endpoint.number) else {
            throw .notRegistered
        }
        guard request.instance.count <= Limits.registrationFieldBytes else { throw .invalidParameters }
        var registration = entry.registrations[at].registration
        guard registration.web == nil else { throw .invalidParameters }
        registration.name = nextName(entry, record)
        registration.sender = try sender(of: request.project)
        registration.otherSenders = []
        if !request.instance.isEmpty { registration.instance = request.instance }
        registration.web = request.keys
        registration.createdAt = now.wall
        return registration
    }

    /// The account that may use the token.
    private func sender(
        of project: WebRegistrationRequest.Project
    ) throws(RegistrationRefusal) -> SenderID {
        switch project {
        case .sender(let sender):
            guard directory[sender] != nil else { throw .invalidSender }
            return sender
        case .label(let label):
            guard !label.isEmpty,
                let record = directory.all.first(where: { $0.isProject(label) })
                    ?? directory.all.first(where: { Array($0.label.utf8) == label })
            else { throw .invalidSender }
            return record.sender
        }
    }

    /// Removes the token that is to be renewed, unless it is the one that the request will be answered with.
    private mutating func renew(
        _ renewed: RegistrationName?, _ wanted: Registration, _ entry: DeviceEntry,
        _ effects: inout Effects
    ) throws(RegistrationRefusal) {
        guard let renewed else { return }
        guard renewed.device == entry.device, let at = entry.index(of: renewed.number) else {
            throw .notRegistered
        }
        let old = entry.registrations[at].registration
        guard old.web != nil else { throw .invalidParameters }
        guard !old.isSameApp(as: wanted) else { return }
        _ = removeRegistration(renewed.number, entry, &effects)
    }

    /// Gives a registration its new keys, if they are new, and answers when they are on disk.
    private mutating func update(
        _ at: Int, _ wanted: Registration, _ entry: DeviceEntry, _ origin: Origin,
        _ effects: inout Effects
    ) {
        var registration = entry.registrations[at].registration
        registration.web = wanted.web
        if registration.instance.isEmpty { registration.instance = wanted.instance }
        change(at, of: entry, to: registration, &effects)
        answerOnceStored(entry.registrations[at], origin, &effects)
    }

    /// Removes the registration of a token; one that is gone already is no mistake.
    mutating func unregisterToken(
        _ name: RegistrationName, _ origin: Origin, _ effects: inout Effects
    ) {
        let event = Event.unregisterToken(name, origin)
        guard let entry = ready(name.device, orWait: event, &effects) else { return }
        defer { devices.rest(entry) }
        let answer = SessionCommand.unregistered(ticket: origin.ticket)
        guard entry.index(of: name.number) != nil else {
            effects.commands.append((origin.connection, answer))
            return
        }
        _ = removeRegistration(name.number, entry, &effects)
        turn.waiters.append(
            .request(
                origin.connection, success: answer,
                failure: .registrationRefused(ticket: origin.ticket, .serviceNotAvailable)))
    }
}
