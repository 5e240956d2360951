import Basics

/// Registrations: creation, renewal and end (mcs-device 5.2, 5.3).
extension DeviceHub {
    mutating func register(_ request: RegistrationRequest, _ entry: DeviceEntry, _ turn: inout Turn) {
        let requester = request.requester
        guard let record = authenticated(request, entry, &turn) else { return }
        if record.hasLoggedIn { turn.refundQuota(of: requester) }
        if let at = entry.registrations.lastIndex(where: { $0.isFor(request) }),
            entry.registrations[at].isOfInstance(request.instance)
        {
            updateLastSeen(entry, record, &turn)
            return renew(request, at: at, entry, &turn)
        }
        switch senders(of: request, turn.directory) {
        case .failure(let refusal): turn.refuseRequest(requester, refusal)
        case .success where entry.registrations.count >= turn.settings.registrationsPerDevice:
            turn.refuseRequest(requester, .tooManyRegistrations)
        case .success(let senders)
        where !entry.hasRoom(for: senders, category: request.category, subtype: request.subtype):
            turn.refuseRequest(requester, .tooManyRegistrations)
        case .success(let senders):
            if let refusal = turn.refusalToAdd(for: record, requester) {
                return turn.refuseRequest(requester, refusal)
            }
            var registration = Registration(
                name: nextName(entry, record), category: request.category, subtype: request.subtype,
                senderText: request.senderText, sender: senders.first,
                otherSenders: Array(senders.dropFirst()), instance: request.instance,
                createdAt: turn.now.wall)
            registration.scope = request.scope
            registration.isProved = request.isProved
            registration.prefixToken(with: request.instance)
            registration.apnsToken = request.apnsToken
            if registration.usesAPNs { registration.apnsState.confirmedAt = turn.now.wall }
            registration.appVersion = request.appVersion
            add(registration, to: record, entry, for: requester, &turn)
        }
    }

    /// Answers with an existing registration, after updating its APNs device token, version and scope.
    private mutating func renew(
        _ request: RegistrationRequest, at: Int, _ entry: DeviceEntry, _ turn: inout Turn
    ) {
        var registration = entry.registrations[at].registration
        if !request.apnsToken.isEmpty {
            revive(&registration, &turn)
            registration.apnsToken = request.apnsToken
        }
        if !request.appVersion.isEmpty { registration.appVersion = request.appVersion }
        registration.scope = request.scope
        if request.isProved {
            registration.instance = request.instance
            registration.isProved = true
        }
        registration.prefixToken(with: request.instance)
        change(at, of: entry, to: registration, &turn)
        answerOnceStored(entry.registrations[at], request.requester, &turn)
    }

    /// Returns the name of a device's next registration.
    func nextName(_ entry: DeviceEntry, _ record: DeviceRecord) -> RegistrationName {
        RegistrationName(device: entry.device, number: RegistrationNumber(record.nextRegistration))
    }

    /// Adds a registration under the next name, and answers when it is on disk.
    mutating func add(
        _ registration: Registration, to record: DeviceRecord, _ entry: DeviceEntry,
        for requester: Requester, _ turn: inout Turn
    ) {
        turn.demand(
            registration.name.number.number == record.nextRegistration,
            "a registration does not get the next number", of: entry)
        turn.demand(
            entry.registrations.last.map { $0.registration.name.number < registration.name.number } ?? true,
            "the number of a registration is not the highest", of: entry)
        var record = record
        record.nextRegistration += 1
        record.seenAt = turn.contactTime
        entry.write(record, &turn)
        insert(registration, at: entry.registrations.count, entry, &turn)
        turn.replyWhenStored(.registered(registration.tokenName), to: requester)
        removeReplaced(by: registration, entry, &turn)
    }

    /// Writes a new registration with its lookup keys.
    mutating func insert(
        _ registration: Registration, at: Int, _ entry: DeviceEntry, seal: TokenSeal? = nil,
        _ turn: inout Turn
    ) {
        entry.insert(registration, at: at, in: turn.ledger.nextBatchNumber)
        entry.storeTopicPosition(&turn)
        turn.write(.putRegistration(registration), of: entry)
        for place in registration.lookupKeys(seal ?? turn.settings.seal) {
            turn.write(.linkInstallation(place, registration.name))
        }
        endSubscriptions(replacedBy: registration, entry, &turn)
    }

    /// Answers at once if the registration is on disk, else when it is.
    mutating func answerOnceStored(
        _ known: RegistrationState, _ requester: Requester, _ turn: inout Turn
    ) {
        turn.reply(.registered(known.registration.tokenName), to: requester, whenStored: known.batch)
    }

    mutating func unregister(_ request: RegistrationRequest, _ entry: DeviceEntry, _ turn: inout Turn) {
        let requester = request.requester
        guard authenticated(request, entry, &turn) != nil else { return }
        let anySender = request.senderText.isEmpty || request.senderText == [UInt8(ascii: "*")]
        let named = entry.registrations.filter {
            $0.registration.category == request.category
                && (request.subtype.isEmpty || $0.registration.subtype == request.subtype)
                && (anySender || $0.registration.senderText == request.senderText)
                && $0.registration.isEnded(by: request)
        }
        // An instance ends its own registrations and those that they have replaced, not those of an instance that came after it.
        let own = named.filter { $0.isOfInstance(request.instance) }.map(\.registration)
        let names = named.map(\.registration).filter { old in
            own.contains { $0.name == old.name || $0.replaces(old) }
        }.map(\.name.number)
        for name in names { _ = removeRegistration(name, entry, &turn) }
        if names.isEmpty {
            // The request may repeat one that is not on disk.
            answerOnceCommitted(.unregistered, entry, to: requester, &turn)
        } else {
            turn.replyWhenStored(.unregistered, to: requester)
        }
    }

    /// Removes a registration with its messages. Returns the number of messages, markers not counted.
    mutating func removeRegistration(
        _ number: RegistrationNumber, _ entry: DeviceEntry, _ turn: inout Turn
    ) -> Int {
        var messages = 0
        removeAll(of: entry, reason: .removed, &turn) {
            guard $0.entry.registration == number else { return false }
            if $0.entry.kind == .message { messages += 1 }
            return true
        }
        guard let at = entry.place(of: number, &turn) else { return messages }
        removeBelongings(at, entry, &turn)
        refuseUnstored(of: at, entry, &turn)
        entry.removeRegistration(at: at)
        entry.storeTopicPosition(&turn)
        listTopics(entry)
        turn.write(.removeRegistration(RegistrationName(device: entry.device, number: number)), of: entry)
        return messages
    }

    // MARK: Checks

    private func authenticated(
        _ request: RegistrationRequest, _ entry: DeviceEntry, _ turn: inout Turn
    ) -> DeviceRecord? {
        guard let record = entry.record(ofToken: request.token) else {
            turn.refuseRequest(request.requester, .authenticationFailed)
            return nil
        }
        let scope = if case .only(let text) = request.scope { text.count } else { 0 }
        let longest = max(
            request.category.count, request.subtype.count, request.instance.count, scope,
            request.apnsToken.count)
        guard !request.category.isEmpty, longest <= Limits.Registration.fieldBytes,
            request.senderText.count <= Limits.Registration.senderTextBytes
        else {
            turn.refuseRequest(request.requester, .invalidParameters)
            return nil
        }
        return record
    }

    /// Returns the accounts that may send to a registration, a known one first; none for the key of a web app.
    ///
    /// At least one of the named accounts must be known; the others may be added to the server later. A packaged app must name
    /// sender IDs or the key of an application server: no other sender could ever send to it.
    private func senders(of request: RegistrationRequest, _ directory: borrowing SenderDirectory) -> Result<
        [SenderID], RegistrationRefusal
    > {
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
            guard senders.count < Limits.Registration.sendersPerRegistration else {
                return .failure(.invalidParameters)
            }
            if known == nil, directory[sender] != nil { known = senders.count }
            senders.append(sender)
        }
        if let known {
            senders.insert(senders.remove(at: known), at: 0)
            return .success(senders)
        }
        // Chromium registers itself with a Google sender at every start, and must not be refused (mcs-device 5.2).
        let isBrowserItself = request.category.raw.equals("com.google.android.gms")
        return hasNumber && !isBrowserItself ? .failure(.invalidSender) : .success([])
    }

    /// Whether a category is the package or bundle name of an app: not an extension, whose id has no dot, nor a browser, which
    /// registers itself and its web apps (mcs-device 5.2).
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
    /// Whether an app stays within `Limits.Registration.sendersPerApp` with further senders, counted over all its registrations.
    func hasRoom(for senders: [SenderID], category: [UInt8], subtype: [UInt8]) -> Bool {
        var all = Set(senders)
        for state in registrations where state.registration.isOfApp(category, subtype: subtype) {
            let registration = state.registration
            if let sender = registration.sender { all.insert(sender) }
            all.formUnion(registration.otherSenders)
        }
        return all.count <= Limits.Registration.sendersPerApp
    }
}

extension RegistrationState {
    /// Whether a request is from the same app for the same senders.
    fileprivate func isFor(_ request: RegistrationRequest) -> Bool {
        registration.web == nil && registration.category == request.category
            && registration.subtype == request.subtype
            && registration.senderText == request.senderText
            && registration.isFor(request.scope, instance: request.instance)
    }

    /// Whether it may belong to this instance of the app; old clients name no instance.
    func isOfInstance(_ instance: [UInt8]) -> Bool {
        registration.instance.isEmpty || instance.isEmpty || registration.instance == instance
    }
}
