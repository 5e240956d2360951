import Basics

/// Check-in, registration and their ends.
extension Dispatcher {
    mutating func checkedIn(_ checkIn: CheckIn, _ now: Now, _ effects: inout Effects) {
        let device = checkIn.claimed?.0 ?? checkIn.freshDevice
        guard let entry = ready(device, orWait: .checkIn(checkIn), &effects) else { return }
        defer { devices.rest(entry) }
        let origin = checkIn.origin
        guard let claimed = checkIn.claimed else {
            return create(checkIn, entry, now, &effects)
        }
        guard let record = entry.record, record.token == claimed.1 else {
            if checkIn.refusesWrongToken {
                effects.commands.append((origin.connection, .checkInRefused(ticket: origin.ticket)))
            } else {
                // A new device, which may belong to another partition.
                var fresh = checkIn
                fresh.claimed = nil
                effects.forwards.append(.checkIn(fresh))
            }
            return
        }
        seen(entry, record, now, &effects)
        giveBackPlace(of: origin, &effects)
        effects.commands.append(
            (origin.connection, .checkedIn(ticket: origin.ticket, device, freshToken: nil)))
    }

    private mutating func create(
        _ checkIn: CheckIn, _ entry: DeviceEntry, _ now: Now, _ effects: inout Effects
    ) {
        let origin = checkIn.origin
        guard entry.record == nil else {
            // The fresh number is taken; the odds are those of guessing it, so asking again is answer enough.
            effects.commands.append((origin.connection, .checkInRefused(ticket: origin.ticket)))
            return
        }
        if let refusal = refusalToAdd(for: nil, origin) {
            effects.commands.append(
                (origin.connection, .registrationRefused(ticket: origin.ticket, refusal)))
            return
        }
        let record = DeviceRecord(
            device: checkIn.freshDevice, token: checkIn.freshDigest, createdAt: contactTime(now),
            seenAt: contactTime(now), nextRegistration: 1, hasLoggedIn: false)
        keep(record, of: entry, &effects)
        turn.waiters.append(
            .request(
                origin.connection,
                success: .checkedIn(
                    ticket: origin.ticket, checkIn.freshDevice, freshToken: checkIn.freshToken),
                failure: .registrationRefused(ticket: origin.ticket, .serviceNotAvailable)))
    }

    /// Renews the time a device was last seen, if that is worth a write: once in so many seconds.
    mutating func seen(
        _ entry: DeviceEntry, _ record: DeviceRecord, every seconds: Int = Limits.seenGranularitySeconds,
        _ now: Now, _ effects: inout Effects
    ) {
        guard clock.doubt == nil || record.seenAt != Limits.contactInDoubt else { return }
        let age = now.wall - record.seenAt
        // One that lies ahead was noted by a clock that was wrong.
        let isAhead = age < -Int64(Limits.clockBehindSeconds) * 1_000
        guard isAhead || age >= seenGranularity(atMost: seconds) || clock.doubt != nil else { return }
        var record = record
        record.seenAt = contactTime(now)
        keep(record, of: entry, &effects)
    }

    /// A device has logged in. The first time is written at once: from then on it is no stranger.
    mutating func noteLogin(
        _ entry: DeviceEntry, _ record: DeviceRecord, _ now: Now, _ effects: inout Effects
    ) {
        guard !record.hasLoggedIn else { return seen(entry, record, now, &effects) }
        var record = record
        record.hasLoggedIn = true
        record.seenAt = contactTime(now)
        keep(record, of: entry, &effects)
    }

    /// Writes a device's record.
    mutating func keep(_ record: DeviceRecord, of entry: DeviceEntry, _ effects: inout Effects) {
        entry.record = record
        effects.mutations.append(.putDevice(record))
        touch(entry)
    }

    // MARK: Registrations

    mutating func register(_ request: RegistrationRequest, _ now: Now, _ effects: inout Effects) {
        guard let entry = ready(request.device, orWait: .register(request), &effects) else { return }
        defer { devices.rest(entry) }
        let origin = request.origin
        guard let record = authenticated(request, entry, &effects) else { return }
        if record.hasLoggedIn { giveBackPlace(of: origin, &effects) }
        if let at = entry.registrations.lastIndex(where: { $0.isFor(request) }),
            entry.registrations[at].isOfInstance(request.instance)
        {
            seen(entry, record, now, &effects)
            return renew(at, request, entry, origin, &effects)
        }
        switch senders(of: request) {
        case .failure(let refusal): refuse(request, refusal, &effects)
        case .success where entry.registrations.count >= settings.registrationsPerDevice:
            refuse(request, .tooManyRegistrations, &effects)
        case .success(let senders)
        where !entry.hasRoom(for: senders, category: request.category, subtype: request.subtype):
            refuse(request, .tooManyRegistrations, &effects)
        case .success(let senders):
            if let refusal = refusalToAdd(for: record, origin) {
                return refuse(request, refusal, &effects)
            }
            var registration = Registration(
                name: nextName(entry, record), category: request.category, subtype: request.subtype,
                senderText: request.senderText, sender: senders.first ?? SenderID(0),
                otherSenders: Array(senders.dropFirst()), instance: request.instance,
                createdAt: now.wall)
            registration.scope = request.scope
            registration.isProved = request.isProved
            registration.apnsToken = request.apnsToken
            registration.appVersion = request.appVersion
            add(registration, record, entry, origin, now, &effects)
        }
    }

    /// Answers with a registration that is there; the token that Apple gave the app may be new, and so may its version.
    private mutating func renew(
        _ at: Int, _ request: RegistrationRequest, _ entry: DeviceEntry, _ origin: Origin,
        _ effects: inout Effects
    ) {
        var registration = entry.registrations[at].registration
        if !request.apnsToken.isEmpty { registration.apnsToken = request.apnsToken }
        if !request.appVersion.isEmpty { registration.appVersion = request.appVersion }
        registration.scope = request.scope
        if request.isProved {
            registration.instance = request.instance
            registration.isProved = true
        }
        change(at, of: entry, to: registration, &effects)
        answerOnceStored(entry.registrations[at], origin, &effects)
    }

    /// Of the registrations that newer ones of the same app have replaced only the last ones stay.
    private mutating func removeReplaced(
        by newest: Registration, _ entry: DeviceEntry, _ effects: inout Effects
    ) {
        let numbers = entry.registrations.map(\.registration).filter { $0.isSameApp(as: newest) }
            .map(\.name.number)
        for number in numbers.dropLast(1 + Limits.replacedRegistrations) {
            _ = removeRegistration(number, entry, &effects)
        }
    }

    /// What the next registration of a device is called.
    func nextName(_ entry: DeviceEntry, _ record: DeviceRecord) -> RegistrationName {
        RegistrationName(device: entry.device, number: RegistrationNumber(record.nextRegistration))
    }

    /// Adds a registration of the next name, and answers when it is on disk.
    mutating func add(
        _ registration: Registration, _ record: DeviceRecord, _ entry: DeviceEntry, _ origin: Origin,
        _ now: Now, _ effects: inout Effects
    ) {
        var record = record
        record.nextRegistration += 1
        record.seenAt = contactTime(now)
        entry.record = record
        entry.registrations.append(RegistrationState(registration, batch: ledger.nextTicket))
        effects.mutations.append(.putDevice(record))
        effects.mutations.append(.putRegistration(registration))
        for place in places(of: registration) {
            effects.mutations.append(.linkInstallation(place, registration.name))
        }
        touch(entry)
        turn.waiters.append(
            .request(
                origin.connection,
                success: .registered(ticket: origin.ticket, registration.name),
                failure: .registrationRefused(ticket: origin.ticket, .serviceNotAvailable)))
        removeReplaced(by: registration, entry, &effects)
    }

    /// Answers at once where the registration is on disk, else together with it.
    mutating func answerOnceStored(
        _ known: RegistrationState, _ origin: Origin, _ effects: inout Effects
    ) {
        let answer = SessionCommand.registered(ticket: origin.ticket, known.registration.name)
        let waiter = Waiter.request(
            origin.connection, success: answer,
            failure: .registrationRefused(ticket: origin.ticket, .serviceNotAvailable))
        if known.batch == ledger.nextTicket {
            turn.waiters.append(waiter)
        } else if let ticket = known.batch, ledger.wait(waiter, for: ticket) {
            return
        } else {
            effects.commands.append((origin.connection, answer))
        }
    }

    mutating func unregister(_ request: RegistrationRequest, _ now: Now, _ effects: inout Effects) {
        guard let entry = ready(request.device, orWait: .unregister(request), &effects) else { return }
        defer { devices.rest(entry) }
        let origin = request.origin
        guard authenticated(request, entry, &effects) != nil else { return }
        let anySender = request.senderText.isEmpty || request.senderText == [UInt8(ascii: "*")]
        let names = entry.registrations.map(\.registration).filter {
            $0.category == request.category
                && (request.subtype.isEmpty || $0.subtype == request.subtype)
                && (anySender || $0.senderText == request.senderText)
                && $0.isEnded(by: request)
        }.map(\.name.number)
        for name in names { _ = removeRegistration(name, entry, &effects) }
        let answer = SessionCommand.unregistered(ticket: origin.ticket)
        guard !names.isEmpty else {
            effects.commands.append((origin.connection, answer))
            return
        }
        turn.waiters.append(
            .request(
                origin.connection, success: answer,
                failure: .registrationRefused(ticket: origin.ticket, .serviceNotAvailable)))
    }

    /// Removes a registration with its messages; how many they were, markers not counted.
    mutating func removeRegistration(
        _ number: RegistrationNumber, _ entry: DeviceEntry, _ effects: inout Effects
    ) -> Int {
        var messages = 0
        var index = 0
        while index < entry.mailbox.slots.count {
            let slot = entry.mailbox.slots[index]
            guard slot.entry.registration == number else {
                index += 1
                continue
            }
            if slot.entry.kind == .message { messages += 1 }
            remove(at: index, of: entry, reason: .removed, &effects)
        }
        removeBelongings(of: number, entry, &effects)
        if let at = entry.index(of: number) { entry.registrations.remove(at: at) }
        effects.mutations.append(
            .removeRegistration(RegistrationName(device: entry.device, number: number)))
        touch(entry)
        return messages
    }

    mutating func forget(
        _ device: DeviceID, _ origin: Origin, _ now: Now, _ effects: inout Effects
    ) {
        guard let entry = ready(device, orWait: .forgetDevice(device, origin), &effects) else { return }
        defer { devices.rest(entry) }
        let registrations = entry.registrations.count
        guard entry.record != nil || registrations > 0 else {
            effects.commands.append(
                (
                    origin.connection,
                    .forgotten(ticket: origin.ticket, registrations: 0, messages: 0)
                ))
            return
        }
        let messages = dissolve(entry, &effects)
        if let link = entry.link {
            effects.commands.append((link.connection, .close(.deviceForgotten)))
            entry.link?.mode = .closing
        }
        turn.waiters.append(
            .request(
                origin.connection,
                success: .forgotten(
                    ticket: origin.ticket, registrations: registrations, messages: messages),
                failure: .registrationRefused(ticket: origin.ticket, .serviceNotAvailable)))
    }

    /// Takes a device out of the store with its registrations and messages; how many messages they were, markers not counted.
    mutating func dissolve(_ entry: DeviceEntry, _ effects: inout Effects) -> Int {
        var messages = 0
        for number in entry.registrations.map(\.registration.name.number) {
            messages += removeRegistration(number, entry, &effects)
        }
        effects.mutations.append(.removeDevice(entry.device))
        touch(entry)
        entry.record = nil
        traceConnection(entry.device, .forgotten, &effects)
        return messages
    }

    // MARK: Checks

    private func authenticated(
        _ request: RegistrationRequest, _ entry: DeviceEntry, _ effects: inout Effects
    ) -> DeviceRecord? {
        // An unknown device takes as long as a wrong token.
        let expected = entry.record?.token ?? SecretDigest(octets: [UInt8](repeating: 0, count: 32))
        guard expected == request.token, let record = entry.record else {
            refuse(request, .authenticationFailed, &effects)
            return nil
        }
        let scope = if case .only(let text) = request.scope { text.count } else { 0 }
        let longest = max(
            request.category.count, request.subtype.count, request.instance.count, scope,
            request.apnsToken.count)
        guard !request.category.isEmpty, longest <= Limits.registrationFieldBytes,
            request.senderText.count <= Limits.senderTextBytes
        else {
            refuse(request, .invalidParameters, &effects)
            return nil
        }
        return record
    }

    private func refuse(
        _ request: RegistrationRequest, _ refusal: RegistrationRefusal, _ effects: inout Effects
    ) {
        let origin = request.origin
        effects.commands.append(
            (origin.connection, .registrationRefused(ticket: origin.ticket, refusal)))
    }

    /// The accounts that may send to a registration, a known one first; none for the key of a web app.
    ///
    /// One of those that the app names must be known; the others may be added to the server later. What an app of a package
    /// names must be a sender ID or the key of an application server: nothing else will ever send to it.
    private func senders(of request: RegistrationRequest) -> Result<[SenderID], RegistrationRefusal> {
        guard !request.senderText.isEmpty else { return .failure(.invalidSender) }
        let isOfPackage = Self.isPackage(request.category, subtype: request.subtype)
        var hasNumber = false
        var senders: [SenderID] = []
        var known: Int?
        for part in request.senderText.split(separator: UInt8(ascii: ",")) {
            guard part.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else {
                guard !isOfPackage || WebKeys.isPoint(part) else { return .failure(.invalidSender) }
                continue
            }
            hasNumber = true
            guard let sender = SenderID(decimal: part), !senders.contains(sender) else { continue }
            guard senders.count < Limits.sendersPerRegistration else { return .failure(.invalidParameters) }
            if known == nil, directory[sender] != nil { known = senders.count }
            senders.append(sender)
        }
        if let known {
            senders.insert(senders.remove(at: known), at: 0)
            return .success(senders)
        }
        // Chromium registers itself with a sender of Google's at every start, and must not be refused (mcs-device 5.2).
        let isBrowserItself = request.category.raw.equals("com.google.android.gms")
        return hasNumber && !isBrowserItself ? .failure(.invalidSender) : .success([])
    }

    /// Whether an app is one with a package or bundle name of its own: not an extension, whose id has no dot, nor a browser,
    /// which registers itself and its web apps (mcs-device 5.2).
    private static func isPackage(_ category: [UInt8], subtype: [UInt8]) -> Bool {
        let browsers: [StaticString] = ["org.chromium.", "com.chrome.", "com.google.android.gms"]
        let isBrowser = browsers.contains { browser in
            let length = browser.utf8CodeUnitCount
            return category.count >= length && category.raw.extracting(0..<length).equals(browser)
        }
        return category.contains(UInt8(ascii: ".")) && !isBrowser && !subtype.starts(with: "wp:".utf8)
    }
}

extension DeviceEntry {
    /// Whether an app may be sent messages by further senders: `Limits.sendersPerApp`, over all of its registrations.
    func hasRoom(for senders: [SenderID], category: [UInt8], subtype: [UInt8]) -> Bool {
        var all = Set(senders)
        for state in registrations where state.registration.isOfApp(category, subtype: subtype) {
            let registration = state.registration
            if registration.sender != SenderID(0) { all.insert(registration.sender) }
            all.formUnion(registration.otherSenders)
        }
        return all.count <= Limits.sendersPerApp
    }
}

extension RegistrationState {
    /// Whether a request is of the same app for the same senders.
    fileprivate func isFor(_ request: RegistrationRequest) -> Bool {
        registration.web == nil && registration.category == request.category
            && registration.subtype == request.subtype
            && registration.senderText == request.senderText
            && registration.isFor(request.scope, instance: request.instance)
    }

    /// Whether it was made for this instance of the app; old clients name none.
    func isOfInstance(_ instance: [UInt8]) -> Bool {
        registration.instance.isEmpty || instance.isEmpty || registration.instance == instance
    }
}
