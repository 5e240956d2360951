import Basics

/// Tokens of web apps that the server encrypts for, and tokens that apps give up (mcs-device 5.3, 5.6).
///
/// The endpoint that such a token is made from is known to every app server of the web app. So it is enough to make a token
/// beside those that are there, but changes and ends none of them: that takes a proof, or the keys of the subscription.
extension DeviceHub {
    /// Makes the second registration of a web push subscription: same app as its endpoint, but with keys.
    mutating func registerWeb(
        _ request: WebRegistrationRequest, _ entry: DeviceEntry, _ turn: inout Turn
    ) {
        do throws(RegistrationRefusal) {
            let wanted = try self.wanted(request, entry, turn)
            let before = entry.registrations.count
            if let known = try renewed(request, wanted, entry, &turn)
                ?? known(wanted, request.proof, entry)
            {
                return update(known, wanted, entry, request.origin, &turn)
            }
            guard entry.registrations.count < turn.settings.registrationsPerDevice,
                entry.registrations.count(where: { $0.registration.isOfEndpoint(wanted) })
                    < Limits.Registration.perEndpoint,
                entry.hasRoom(
                    for: wanted.sender.map { [$0] } ?? [], category: wanted.category, subtype: wanted.subtype)
            else { throw .tooManyRegistrations }
            guard let record = entry.record else { throw .notRegistered }
            if record.hasLoggedIn { turn.giveBackPlace(of: request.origin) }
            // What takes the place of one that is gone adds nothing.
            let isReplacing = entry.registrations.count < before
            if !isReplacing, let refusal = turn.refusalToAdd(for: record, request.origin) { throw refusal }
            add(wanted, record, entry, request.origin, &turn)
        } catch {
            turn.refuse(request.origin, error)
        }
    }

    /// The registration that a request asks for, by its next name.
    ///
    /// Of the endpoint's sender text only the key of an application server is kept, which a browser looks its own keys up by
    /// (mcs-device 5.2): a message that a project sends must not be shown as another's.
    private func wanted(
        _ request: WebRegistrationRequest, _ entry: DeviceEntry, _ turn: borrowing Turn
    ) throws(RegistrationRefusal) -> Registration {
        guard let record = entry.record, let at = entry.index(of: request.endpoint.number) else {
            throw .notRegistered
        }
        guard request.instance.count <= Limits.Registration.fieldBytes else { throw .invalidParameters }
        var registration = entry.registrations[at].registration
        guard registration.isEndpoint else { throw .invalidParameters }
        let sender = try turn.directory.sender(of: request.project)
        if registration.sender != nil {
            // An endpoint of sender IDs is theirs alone.
            guard registration.allows(sender) else { throw .invalidParameters }
            registration.senderText = Array(String(sender.number).utf8)
        }
        registration.name = nextName(entry, record)
        registration.sender = sender
        registration.otherSenders = []
        if !request.instance.isEmpty {
            registration.instance = request.instance
            registration.isProved = request.isProved
        }
        registration.web = request.keys
        registration.createdAt = turn.now.wall
        return registration
    }

    /// The registration that is renewed and stays, as it is of the same endpoint; nil where there is none to renew, or it was of
    /// another endpoint and is gone now.
    private mutating func renewed(
        _ request: WebRegistrationRequest, _ wanted: Registration, _ entry: DeviceEntry,
        _ turn: inout Turn
    ) throws(RegistrationRefusal) -> Int? {
        guard let claim = request.renewed else { return nil }
        if claim.name.device == entry.device, let at = entry.index(of: claim.name.number) {
            let old = entry.registrations[at].registration
            guard old.web != nil else { throw .invalidParameters }
            // Nothing changes: an app whose installation is a new one has no other way to renew its token.
            if old.isSameApp(as: wanted) { return at }
        }
        guard let at = try place(of: claim, entry, turn) else { throw .notRegistered }
        if entry.registrations[at].registration.isOfSameEndpoint(as: wanted) { return at }
        _ = removeRegistration(claim.name.number, entry, &turn)
        return nil
    }

    /// The registration that a request for another one is answered with: of the same keys, or of older keys where the request
    /// shows that it may change them.
    private func known(
        _ wanted: Registration, _ proof: RegistrationProof, _ entry: DeviceEntry
    ) -> Int? {
        let same = entry.registrations.lastIndex {
            $0.registration.isSameApp(as: wanted) && $0.isOfInstance(wanted.instance)
        }
        return same
            ?? entry.registrations.lastIndex {
                $0.registration.isOfSameEndpoint(as: wanted) && isProved($0.registration, by: proof, entry)
            }
    }

    /// Gives a registration its new keys, if they are new, and answers when they are on disk.
    private mutating func update(
        _ at: Int, _ wanted: Registration, _ entry: DeviceEntry, _ origin: Origin,
        _ turn: inout Turn
    ) {
        var registration = entry.registrations[at].registration
        registration.web = wanted.web
        if registration.instance.isEmpty || registration.instance == wanted.instance {
            registration.instance = wanted.instance
            registration.isProved = registration.isProved || wanted.isProved
        }
        change(at, of: entry, to: registration, &turn)
        answerOnceStored(entry.registrations[at], origin, &turn)
    }

    /// Removes the registration of a token; one that is gone already is no mistake.
    mutating func unregisterToken(
        _ claim: TokenClaim, _ origin: Origin, _ entry: DeviceEntry, _ turn: inout Turn
    ) {
        do throws(RegistrationRefusal) {
            guard try place(of: claim, entry, turn) != nil else {
                return turn.reply(.unregistered, to: origin)
            }
            _ = removeRegistration(claim.name.number, entry, &turn)
            turn.replyWhenStored(.unregistered, to: origin)
        } catch {
            turn.refuse(origin, error)
        }
    }
}

extension SenderDirectory {
    /// The account that may use the token.
    func sender(
        of project: WebRegistrationRequest.Project
    ) throws(RegistrationRefusal) -> SenderID {
        switch project {
        case .sender(let sender):
            guard self[sender] != nil else { throw .invalidSender }
            return sender
        case .label(let label):
            guard !label.isEmpty,
                let record = all.first(where: { $0.isProject(label) })
                    ?? all.first(where: { Array($0.label.utf8) == label })
            else { throw .invalidSender }
            return record.sender
        }
    }
}
