import Basics

/// The Firebase installations of a partition: creation, use and end (mcs-device 5.5, docs/security-evidence.md).
///
/// Each request first reads the installation from the store. Changes of one installation run one after another.
struct InstallationHub: ~Copyable {
    /// Requests whose installations are being read from the store.
    var waiting = WaitingInstallations()
    /// Changes of installations, queued by id.
    var turns = InstallationTurns()
    /// The search for unused installations.
    var sweep = InstallationSweep()

    /// Returns the broken invariant, or `nil` if all hold.
    var violation: String? { waiting.violation ?? turns.violation }

    /// Handles an event: reads the installation from the store, for a change as soon as it is the current one.
    mutating func handle(_ event: consuming InstallationEvent, of id: [UInt8], _ turn: inout Turn) {
        let hasRoom = waiting.count + turns.count < turn.shares.waitingInstallations
        turn.demand(waiting.count >= 0 && turns.count >= 0, "more installation requests ended than started")
        switch event {
        case .requested(let request):
            guard turn.demand(request.installation == id, "a request names another installation") else {
                return turn.refuseInstallation(request, .serviceNotAvailable)
            }
            if case .vouched(let offer, let isProved) = request.action {
                return vouched(request, offer, isProved: isProved, &turn)
            }
            guard hasRoom else { return turn.refuseInstallation(request, .serviceNotAvailable) }
            guard request.action.isChange else {
                waiting.append(request)
                return read(id, isForChange: false, &turn)
            }
            if turns.append(.requested(request), of: id) { read(id, isForChange: true, &turn) }
        case .unused(let before, let unlinkedBefore):
            // The next search finds it again.
            guard hasRoom else { return }
            if turns.append(.unused(before: before, unlinkedBefore: unlinkedBefore), of: id) {
                read(id, isForChange: true, &turn)
            }
        }
    }

    private mutating func read(_ id: [UInt8], isForChange: Bool, _ turn: inout Turn) {
        if isForChange {
            turn.demand(
                turns.beginReading(id), "an installation is read twice for one change",
                owner: .installation(id))
        }
        turn.load(
            .installation(id, limit: Limits.Installation.registrations, isForChange: isForChange))
    }

    /// Ends the current change of an installation and starts the next one.
    mutating func endTurn(of id: [UInt8], _ turn: inout Turn) {
        guard
            turn.demand(
                turns.isUnderWay(id), "an installation change ends without having started",
                owner: .installation(id))
        else { return }
        if turns.end(id) { read(id, isForChange: true, &turn) }
    }

    mutating func loadFailed(
        _ installation: [UInt8], isForChange: Bool, _ turn: inout Turn
    ) {
        guard isForChange else {
            if let request = popRequest(of: installation, &turn) {
                turn.refuseInstallation(request, .serviceNotAvailable)
            }
            return
        }
        guard let change = receiveChange(of: installation, &turn) else { return }
        if case .requested(let request) = change { turn.refuseInstallation(request, .serviceNotAvailable) }
        endTurn(of: installation, &turn)
    }

    /// Removes and returns the oldest request that waits for an installation, once the read has completed or failed.
    private mutating func popRequest(of id: [UInt8], _ turn: inout Turn) -> InstallationRequest? {
        turn.demand(
            waiting.popFirst(id), "an installation was read that no request waits for",
            owner: .installation(id))
    }

    /// Marks the installation as read and returns its current change.
    private mutating func receiveChange(of id: [UInt8], _ turn: inout Turn) -> InstallationEvent? {
        guard
            turn.demand(
                turns.endReading(id), "an installation was read that no change waits for",
                owner: .installation(id))
        else { return nil }
        return turns.current(id)
    }

    /// Whether an answer of the store is about the installation that was read, and within the limit.
    private func isAnswer(
        _ record: InstallationRecord?, _ names: [RegistrationName], for id: [UInt8], _ turn: inout Turn
    ) -> Bool {
        let isIts = turn.demand(
            record.map { $0.id == id } ?? true, "the store returned another installation",
            owner: .installation(id))
        let isBound = turn.demand(
            names.count <= Limits.Installation.registrations,
            "the store returned more registrations than its limit", owner: .installation(id))
        return isIts && isBound
    }

    /// Checks the access token that a request presents against the installation's record.
    func admit(
        _ request: inout InstallationRequest, _ record: InstallationRecord?
    ) throws(RegistrationRefusal) {
        request.isBound = record != nil
        guard let mark = request.mark else { return }
        guard record?.mark == mark else { throw .authenticationFailed }
    }

    /// Continues with the current change of an installation, which has been read.
    mutating func changeLoaded(
        _ id: [UInt8], _ record: InstallationRecord?, of names: [RegistrationName], _ turn: inout Turn
    ) {
        guard isAnswer(record, names, for: id, &turn) else {
            return loadFailed(id, isForChange: true, &turn)
        }
        switch receiveChange(of: id, &turn) {
        case .requested(let request): change(record, of: names, for: request, &turn)
        case .unused(let before, let unlinkedBefore):
            if let record, expire(record, names.isEmpty ? unlinkedBefore : before, &turn) { return }
            endTurn(of: id, &turn)
        case nil: break
        }
    }

    private mutating func change(
        _ record: InstallationRecord?, of names: [RegistrationName], for given: InstallationRequest,
        _ turn: inout Turn
    ) {
        var request = given
        do throws(RegistrationRefusal) {
            switch request.action {
            case .create(let offer):
                request.isBound = record != nil
                return create(offer, record, of: names, for: request, &turn)
            case .refresh(let shown):
                return confirm(try verified(record, shown, turn), of: names, for: request, &turn)
            case .end(let shown):
                _ = try verified(record, shown, turn)
                return end(record, of: names, for: request, &turn)
            case .revoke:
                guard var record else { throw .notRegistered }
                record.refresh = nil
                return put(record, of: names, for: request, &turn)
            case .imported(let row, let replaces):
                if try imported(row, replaces: replaces, record, for: request, &turn) { return }
            case .subscribe, .unsubscribe, .address, .send, .remove, .vouch, .claim, .vouched, .apple:
                turn.demand(
                    false, "a request that changes no installation was queued as a change",
                    owner: .installation(request.installation))
                throw .serviceNotAvailable
            }
        } catch { turn.refuseInstallation(request, error) }
        endTurn(of: request.installation, &turn)
    }

    /// Returns the record if this is the digest of its refresh token and the token has not expired.
    private func verified(
        _ record: InstallationRecord?, _ shown: SecretDigest, _ turn: borrowing Turn
    ) throws(RegistrationRefusal) -> InstallationRecord {
        guard let record, let refresh = record.refresh,
            turn.settings.deviceExpirySeconds == 0 || turn.clock.doubt != nil
                || record.usedAt < Limits.Clock.earliest
                || turn.now.wall - record.usedAt <= turn.settings.expiryMilliseconds
        else { throw .notRegistered }
        guard refresh == shown else { throw .authenticationFailed }
        return record
    }

    /// Makes an installation, or confirms it to a requester that proves to own it; any other requester gets a fresh id.
    private mutating func create(
        _ offer: InstallationOffer, _ record: InstallationRecord?, of names: [RegistrationName],
        for request: InstallationRequest, _ turn: inout Turn
    ) {
        if let shown = offer.shown, let known = try? verified(record, shown, turn) {
            return confirm(known, of: names, for: request, &turn)
        }
        if record == nil, names.isEmpty { return make(request, offer, &turn) }
        if let (device, _) = offer.device, let name = names.first(where: { $0.device == device }) {
            return turn.forward(.installationFound(request, [name], at: device))
        }
        giveOther(request, offer, &turn)
    }

    /// Continues after the device has verified the check-in pair that a request presented.
    private mutating func vouched(
        _ request: InstallationRequest, _ offer: InstallationOffer, isProved: Bool, _ turn: inout Turn
    ) {
        guard
            turn.demand(
                turns.isUnderWay(request.installation),
                "a device verified a proof for no installation change",
                owner: .installation(request.installation))
        else { return turn.refuseInstallation(request, .serviceNotAvailable) }
        if isProved {
            make(request, offer, &turn)
        } else {
            giveOther(request, offer, &turn)
        }
    }

    private mutating func make(
        _ request: InstallationRequest, _ offer: InstallationOffer, _ turn: inout Turn
    ) {
        let record = InstallationRecord(
            id: request.installation, sender: request.sender, refresh: offer.refresh,
            createdAt: turn.contactTime,
            usedAt: turn.contactTime)
        if let refusal = turn.refusalToAdd(for: nil, request.requester) {
            turn.refuseInstallation(request, refusal)
            return endTurn(of: request.installation, &turn)
        }
        put(record, of: [], for: request, &turn)
    }

    /// Makes an installation with a fresh id, since the requested one is taken.
    private mutating func giveOther(
        _ request: InstallationRequest, _ offer: InstallationOffer, _ turn: inout Turn
    ) {
        if let other = offer.other {
            var fresh = request
            fresh.installation = other.id
            fresh.action = .create(InstallationOffer(refresh: other.refresh, other: nil))
            turn.forward(.installation(fresh))
        } else {
            // The fresh id is taken too, which is as likely as guessing an id.
            turn.refuseInstallation(request, .serviceNotAvailable)
        }
        endTurn(of: request.installation, &turn)
    }

    /// Answers with an installation, and updates its time of last use if that is old enough to be worth a write.
    private mutating func confirm(
        _ record: InstallationRecord, of names: [RegistrationName], for request: InstallationRequest,
        _ turn: inout Turn
    ) {
        turn.refundQuota(of: request.requester)
        var record = record
        let isNoted = !turn.clock.knowsTime && record.usedAt == Limits.Clock.contactInDoubt
        let granularity = turn.settings.seenGranularity(atMost: Limits.Device.seenGranularitySeconds)
        if !isNoted,
            !turn.clock.knowsTime || (turn.now.wall - record.usedAt).magnitude >= granularity.magnitude
        {
            record.usedAt = turn.contactTime
            return put(record, of: names, for: request, &turn)
        }
        turn.reply(.installation(record, registrations: names.count), to: request.requester)
        endTurn(of: record.id, &turn)
    }

    /// Writes a record, and answers with it when it is on disk.
    private mutating func put(
        _ record: InstallationRecord, of names: [RegistrationName], for request: InstallationRequest,
        _ turn: inout Turn
    ) {
        put(record, for: request, answer: .installation(record, registrations: names.count), &turn)
    }

    /// Writes a record, and answers when it is on disk.
    mutating func put(
        _ record: InstallationRecord, for request: InstallationRequest, answer: RequestReply,
        _ turn: inout Turn
    ) {
        turn.demand(
            record.id == request.installation, "a write concerns another installation",
            owner: .installation(request.installation))
        turn.write(.putInstallation(record))
        turn.replyWhenStored(answer, to: request.requester)
        turn.wait(.installation(record.id))
    }

    /// Ends an installation, and then its registrations.
    private mutating func end(
        _ record: InstallationRecord?, of names: [RegistrationName], for request: InstallationRequest,
        _ turn: inout Turn
    ) {
        let found = turn.demand(
            record, "an installation ends that does not exist", owner: .installation(request.installation))
        guard var record = found else {
            turn.refuseInstallation(request, .serviceNotAvailable)
            return endTurn(of: request.installation, &turn)
        }
        record.refresh = nil
        record.usedAt = turn.contactTime
        turn.write(.putInstallation(record))
        turn.wait(.installation(record.id))
        let requester = request.requester
        guard let first = names.first else {
            return turn.replyWhenStored(.unregistered, to: requester)
        }
        var removal = InstallationRequest(
            requester: requester, installation: request.installation, sender: request.sender, action: .remove)
        removal.isBound = true
        turn.wait(.next(.installationFound(removal, names, at: first.device), requester))
    }

    mutating func loaded(
        _ installation: [UInt8], _ record: InstallationRecord?, of names: [RegistrationName],
        _ turn: inout Turn
    ) {
        guard isAnswer(record, names, for: installation, &turn) else {
            return loadFailed(installation, isForChange: false, &turn)
        }
        guard var request = popRequest(of: installation, &turn) else { return }
        do throws(RegistrationRefusal) { try admit(&request, record) } catch {
            return turn.refuseInstallation(request, error)
        }
        switch request.action {
        case .vouch(let event): return turn.forward(event)
        case .claim(let event, let device):
            guard record == nil, names.allSatisfy({ $0.device == device }) else {
                return turn.refuseInstallation(request, .authenticationFailed)
            }
            return turn.forward(event)
        default: break
        }
        guard let first = names.first else {
            if case .apple(let address) = request.action {
                return turn.forward(.installationFound(request, [], at: address.freshDevice))
            }
            // Removing a missing registration is not an error, so that the request can be repeated.
            guard case .remove = request.action else {
                return turn.refuseInstallation(request, .notRegistered)
            }
            return turn.reply(.unregistered, to: request.requester)
        }
        turn.forward(
            .installationFound(request, names, at: request.imported(among: names)?.device ?? first.device))
    }
}

extension InstallationRequest {
    /// The registration that an earlier import made; a repeated import returns it even if the app has registered itself since.
    fileprivate func imported(among names: [RegistrationName]) -> RegistrationName? {
        guard case .apple(let address) = action, address.isImport else { return nil }
        return names.first { $0.device == address.freshDevice }
    }
}
