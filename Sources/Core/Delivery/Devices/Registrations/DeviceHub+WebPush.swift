import Basics

/// Tokens of web apps that the server encrypts for, and the end of tokens (mcs-device 5.3, 5.6).
///
/// Every app server of the web app has the endpoint that such a token is made from. So the endpoint suffices to make another
/// token, but not to change or end an existing one: that needs a proof, or the keys of the subscription.
extension DeviceHub {
    /// Makes the second registration of a web push subscription: the same app as its endpoint, but with keys.
    mutating func registerWeb(
        _ request: WebRegistrationRequest, _ entry: DeviceEntry, _ turn: inout Turn
    ) {
        do throws(RegistrationRefusal) {
            let wanted = try self.wanted(request, entry, turn)
            let before = entry.registrations.count
            if let known = try renewed(request, as: wanted, entry, &turn)
                ?? known(wanted, request.proof, entry)
            {
                return update(to: wanted, at: known, entry, for: request.requester, &turn)
            }
            guard entry.registrations.count < turn.settings.registrationsPerDevice,
                entry.registrations.count(where: { $0.registration.isOfEndpoint(wanted) })
                    < Limits.Registration.perEndpoint,
                entry.hasRoom(
                    for: wanted.sender.map { [$0] } ?? [], category: wanted.category, subtype: wanted.subtype)
            else { throw .tooManyRegistrations }
            guard let record = entry.record else { throw .notRegistered }
            if record.hasLoggedIn { turn.refundQuota(of: request.requester) }
            // A registration that replaces a removed one adds no row.
            let isReplacing = entry.registrations.count < before
            if !isReplacing, let refusal = turn.refusalToAdd(for: record, request.requester) { throw refusal }
            add(wanted, to: record, entry, for: request.requester, &turn)
        } catch {
            turn.refuseRequest(request.requester, error)
        }
    }

    /// Returns the registration that a request asks for, under the device's next name.
    ///
    /// Of the endpoint's sender text only the key of an application server is kept, by which a browser finds its own keys
    /// (mcs-device 5.2): a message from one project must not be shown as a message from another.
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
            // An endpoint with sender IDs accepts only those senders.
            guard registration.allows(sender) else { throw .invalidParameters }
            registration.senderText = Array(String(sender.number).utf8)
        }
        registration.name = nextName(entry, record)
        registration.sender = sender
        registration.otherSenders = []
        // The instance of the endpoint is that of the browser.
        registration.isTokenPrefixed = false
        if !request.instance.isEmpty {
            registration.instance = request.instance
            registration.isProved = request.isProved
        }
        registration.prefixToken(with: request.instance)
        registration.web = request.keys
        registration.createdAt = turn.now.wall
        return registration
    }

    /// Returns the index of the registration to renew if it is of the same endpoint. Returns `nil` if there is none to renew, or if
    /// it was of another endpoint and has been removed now.
    private mutating func renewed(
        _ request: WebRegistrationRequest, as wanted: Registration, _ entry: DeviceEntry,
        _ turn: inout Turn
    ) throws(RegistrationRefusal) -> Int? {
        guard let claim = request.renewed else { return nil }
        if claim.name.device == entry.device, let at = entry.index(of: claim.name.number) {
            let old = entry.registrations[at].registration
            guard old.web != nil else { throw .invalidParameters }
            // No proof is needed since nothing changes: an app with a new installation has no other way to renew its token.
            if old.isSameApp(as: wanted) { return at }
        }
        guard let at = try index(of: claim, entry, turn) else { throw .notRegistered }
        if entry.registrations[at].registration.isOfSameEndpoint(as: wanted) { return at }
        _ = removeRegistration(claim.name.number, entry, &turn)
        return nil
    }

    /// Returns the index of an existing registration to answer with: one with the same keys, or with older keys if the proof
    /// entitles the request to change them.
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

    /// Updates the keys of a registration, and answers when they are on disk.
    private mutating func update(
        to wanted: Registration, at: Int, _ entry: DeviceEntry, for requester: Requester,
        _ turn: inout Turn
    ) {
        var registration = entry.registrations[at].registration
        registration.web = wanted.web
        if registration.instance.isEmpty || registration.instance == wanted.instance {
            registration.instance = wanted.instance
            registration.isProved = registration.isProved || wanted.isProved
            if wanted.isTokenPrefixed { registration.prefixToken(with: wanted.instance) }
        }
        change(at, of: entry, to: registration, &turn)
        answerOnceStored(entry.registrations[at], requester, &turn)
    }

    /// Removes the registration of a token; a missing registration is not an error.
    mutating func unregisterToken(
        _ claim: TokenClaim, for requester: Requester, _ entry: DeviceEntry, _ turn: inout Turn
    ) {
        do throws(RegistrationRefusal) {
            guard try index(of: claim, entry, turn) != nil else {
                return answerOnceCommitted(.unregistered, entry, to: requester, &turn)
            }
            _ = removeRegistration(claim.name.number, entry, &turn)
            turn.replyWhenStored(.unregistered, to: requester)
        } catch {
            turn.refuseRequest(requester, error)
        }
    }
}

extension SenderDirectory {
    /// Returns the sender of a project. Throws `invalidSender` if there is none.
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
