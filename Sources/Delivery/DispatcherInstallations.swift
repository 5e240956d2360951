import Basics

/// Firebase installations: made, used, ended (mcs-device 5.5, docs/security.md).
extension Dispatcher {
    /// Asks the store for an installation; a change of it waits for its turn.
    mutating func installationAsks(
        _ request: InstallationRequest, _ now: Now, _ effects: inout Effects
    ) {
        if case .vouched(let offer, let isProved) = request.action {
            return installationVouched(request, offer, isProved: isProved, now, &effects)
        }
        guard waitingInstallations.count + installationTurns.count < Limits.waitingInstallations else {
            return refuse(request, .serviceNotAvailable, &effects)
        }
        guard request.action.isChange else {
            waitingInstallations.append(request)
            return ask(request, &effects)
        }
        if installationTurns.append(request) { ask(request, &effects) }
    }

    private func ask(_ request: InstallationRequest, _ effects: inout Effects) {
        effects.loads.append(
            .installation(
                request.installation, limit: Limits.registrationsPerInstallation,
                isForChange: request.action.isChange))
    }

    /// Ends the turn of a change.
    mutating func endInstallationTurn(_ id: [UInt8], _ effects: inout Effects) {
        if let next = installationTurns.end(id) { ask(next, &effects) }
    }

    mutating func installationLoadFailed(
        _ installation: [UInt8], isForChange: Bool, _ effects: inout Effects
    ) {
        guard isForChange else {
            if let request = waitingInstallations.take(installation) {
                refuse(request, .serviceNotAvailable, &effects)
            }
            return
        }
        guard let request = installationTurns.current(installation) else { return }
        refuse(request, .serviceNotAvailable, &effects)
        endInstallationTurn(installation, &effects)
    }

    /// Lets a request go on that shows what its installation's record asks for.
    func admit(
        _ request: inout InstallationRequest, _ record: InstallationRecord?
    ) throws(RegistrationRefusal) {
        request.isBound = record != nil
        guard let mark = request.mark else { return }
        guard record?.mark == mark else { throw .authenticationFailed }
    }

    /// An installation is known, and the change that wants it has its turn.
    mutating func installationChanges(
        _ id: [UInt8], _ record: InstallationRecord?, _ names: [RegistrationName], _ now: Now,
        _ effects: inout Effects
    ) {
        guard var request = installationTurns.current(id) else { return }
        do throws(RegistrationRefusal) {
            switch request.action {
            case .create(let offer):
                request.isBound = record != nil
                return create(request, offer, record, names, now, &effects)
            case .refresh(let shown):
                return keep(try verified(record, shown, now), request, names, now, &effects)
            case .end(let shown):
                _ = try verified(record, shown, now)
                return end(request, record, names, now, &effects)
            case .revoke:
                guard var record else { throw .notRegistered }
                record.refresh = nil
                return put(record, request, names, &effects)
            case .expire(let before, let unlinkedBefore):
                if let record, expire(record, names.isEmpty ? unlinkedBefore : before, now, &effects) {
                    return
                }
            default: break
            }
        } catch { refuse(request, error, &effects) }
        endInstallationTurn(id, &effects)
    }

    /// The record, if the refresh token of this digest is its own and has not ended.
    private func verified(
        _ record: InstallationRecord?, _ shown: SecretDigest, _ now: Now
    ) throws(RegistrationRefusal) -> InstallationRecord {
        guard let record, let refresh = record.refresh,
            settings.deviceExpirySeconds == 0 || clock.doubt != nil || record.usedAt < Limits.earliestClock
                || now.wall - record.usedAt <= expiryMilliseconds
        else { throw .notRegistered }
        guard refresh == shown else { throw .authenticationFailed }
        return record
    }

    /// Makes an installation, or answers who proves to be it; anybody else gets a fresh one.
    private mutating func create(
        _ request: InstallationRequest, _ offer: InstallationOffer, _ record: InstallationRecord?,
        _ names: [RegistrationName], _ now: Now, _ effects: inout Effects
    ) {
        if let shown = offer.shown, let known = try? verified(record, shown, now) {
            return keep(known, request, names, now, &effects)
        }
        if record == nil, names.isEmpty { return make(request, offer, now, &effects) }
        if let (device, _) = offer.device, let name = names.first(where: { $0.device == device }) {
            return effects.forwards.append(.installationFound(request, [name], at: device))
        }
        giveOther(request, offer, &effects)
    }

    /// Its device has looked at the check-in pair that a request for an installation shows.
    private mutating func installationVouched(
        _ request: InstallationRequest, _ offer: InstallationOffer, isProved: Bool, _ now: Now,
        _ effects: inout Effects
    ) {
        guard installationTurns.current(request.installation) != nil else { return }
        if isProved {
            make(request, offer, now, &effects)
        } else {
            giveOther(request, offer, &effects)
        }
    }

    private mutating func make(
        _ request: InstallationRequest, _ offer: InstallationOffer, _ now: Now, _ effects: inout Effects
    ) {
        let record = InstallationRecord(
            id: request.installation, sender: request.sender, refresh: offer.refresh,
            createdAt: contactTime(now),
            usedAt: contactTime(now))
        if let refusal = refusalToAdd(for: nil, request.origin) {
            refuse(request, refusal, &effects)
            return endInstallationTurn(request.installation, &effects)
        }
        put(record, request, [], &effects)
    }

    /// The id is another's: a fresh one is made.
    private mutating func giveOther(
        _ request: InstallationRequest, _ offer: InstallationOffer, _ effects: inout Effects
    ) {
        if let other = offer.other {
            var fresh = request
            fresh.installation = other.id
            fresh.action = .create(InstallationOffer(refresh: other.refresh, other: nil))
            effects.forwards.append(.installation(fresh))
        } else {
            // A fresh id is taken; the odds are those of guessing it.
            refuse(request, .serviceNotAvailable, &effects)
        }
        endInstallationTurn(request.installation, &effects)
    }

    /// Answers with an installation as it is, or as used now where that is worth a write.
    private mutating func keep(
        _ record: InstallationRecord, _ request: InstallationRequest, _ names: [RegistrationName],
        _ now: Now, _ effects: inout Effects
    ) {
        giveBackPlace(of: request.origin, &effects)
        var record = record
        let isNoted = clock.doubt != nil && record.usedAt == Limits.contactInDoubt
        let granularity = seenGranularity(atMost: Limits.seenGranularitySeconds)
        if !isNoted, clock.doubt != nil || (now.wall - record.usedAt).magnitude >= granularity.magnitude {
            record.usedAt = contactTime(now)
            return put(record, request, names, &effects)
        }
        let origin = request.origin
        effects.commands.append(
            (origin.connection, .installationKnown(ticket: origin.ticket, record, registrations: names.count))
        )
        endInstallationTurn(record.id, &effects)
    }

    /// Writes a record, and answers when it is on disk.
    private mutating func put(
        _ record: InstallationRecord, _ request: InstallationRequest, _ names: [RegistrationName],
        _ effects: inout Effects
    ) {
        let origin = request.origin
        effects.mutations.append(.putInstallation(record))
        turn.waiters.append(
            .request(
                origin.connection,
                success: .installationKnown(ticket: origin.ticket, record, registrations: names.count),
                failure: .registrationRefused(ticket: origin.ticket, .serviceNotAvailable)))
        turn.waiters.append(.installation(record.id))
    }

    /// Ends an installation, and then what it has registered.
    private mutating func end(
        _ request: InstallationRequest, _ record: InstallationRecord?, _ names: [RegistrationName],
        _ now: Now, _ effects: inout Effects
    ) {
        guard var record else { return }
        record.refresh = nil
        record.usedAt = contactTime(now)
        effects.mutations.append(.putInstallation(record))
        turn.waiters.append(.installation(record.id))
        let origin = request.origin
        guard let first = names.first else {
            turn.waiters.append(
                .request(
                    origin.connection, success: .unregistered(ticket: origin.ticket),
                    failure: .registrationRefused(ticket: origin.ticket, .serviceNotAvailable)))
            return
        }
        var rest = InstallationRequest(
            origin: origin, installation: request.installation, sender: request.sender, action: .remove)
        rest.isBound = true
        turn.waiters.append(.next(.installationFound(rest, names, at: first.device), origin))
    }

    // MARK: At a device

    /// Looks at the check-in pair that somebody shows to have an installation: it must be of a device that has registered it.
    mutating func vouch(
        _ offer: InstallationOffer, _ entry: DeviceEntry, _ request: InstallationRequest,
        _ effects: inout Effects
    ) {
        let expected = entry.record?.token ?? SecretDigest(octets: [UInt8](repeating: 0, count: 32))
        var isProved = false
        if let (device, token) = offer.device, device == entry.device, expected == token, entry.record != nil
        {
            for at in entry.registrations.indices where serves(entry.registrations[at].registration, request)
            {
                isProved = true
                var registration = entry.registrations[at].registration
                registration.isProved = true
                change(at, of: entry, to: registration, &effects)
            }
        }
        answerVouch(request, isProved: isProved, &effects)
    }

    /// Has a request for an installation go on where it has its turn.
    func answerVouch(_ request: InstallationRequest, isProved: Bool, _ effects: inout Effects) {
        guard case .create(let offer) = request.action else { return }
        var request = request
        request.action = .vouched(offer, isProved: isProved)
        effects.forwards.append(.installation(request))
    }

    /// Whether a registration is that of an installation which a request names: one that was made with a token of it, or, where
    /// it is from the time before installations had records, one that names it.
    func serves(_ registration: Registration, _ request: InstallationRequest) -> Bool {
        registration.installation == request.installation && (registration.isProved || !request.isBound)
    }

    // MARK: Expiry

    /// Forgets an installation that was last used before a time; whether it is being changed.
    private mutating func expire(
        _ record: InstallationRecord, _ time: UnixMilliseconds, _ now: Now, _ effects: inout Effects
    ) -> Bool {
        guard clock.doubt == nil, record.usedAt < time else { return false }
        if record.usedAt < Limits.earliestClock {
            // It was used in a time that cannot have been, which says nothing of how long ago that was: its time begins now.
            var record = record
            record.usedAt = now.wall
            effects.mutations.append(.putInstallation(record))
        } else {
            effects.mutations.append(.removeInstallation(record.id))
        }
        turn.waiters.append(.installation(record.id))
        return true
    }

    /// Has the store looked through for installations that nobody uses any more, page by page, as for devices.
    mutating func tickInstallations(_ now: Now, _ effects: inout Effects) {
        guard partition == 0, settings.deviceExpirySeconds > 0, !installationSweep.isAsking,
            clock.doubt == nil,
            now.monotonic >= installationSweep.next
        else { return }
        installationSweep.isAsking = true
        installationSweep.next = now.monotonic.advanced(milliseconds: Int64(Limits.deviceSweepMilliseconds))
        let before = now.wall - expiryMilliseconds
        let unlinked = now.wall - Int64(Limits.unusedInstallationSeconds) * 1_000
        effects.loads.append(
            .unusedInstallations(
                before: before, unlinkedBefore: max(before, unlinked), from: installationSweep.from,
                examine: Limits.installationRowsPerSweep, limit: Limits.expiredDevicesPerSweep))
    }

    mutating func unusedInstallationsLoaded(
        _ found: [[UInt8]], next: [UInt8]?, before: UnixMilliseconds, unlinkedBefore: UnixMilliseconds,
        _ now: Now, _ effects: inout Effects
    ) {
        installationSweep.isAsking = false
        installationSweep.from = next ?? []
        if next == nil {
            let rest = min(Int64(Limits.deviceSweepRestSeconds) * 1_000, expiryMilliseconds / 8)
            installationSweep.next = now.monotonic.advanced(milliseconds: rest)
        }
        for id in found {
            effects.forwards.append(
                .installation(
                    InstallationRequest(
                        origin: Origin(
                            connection: ConnectionID(reactor: 0, slot: 0, generation: 0), ticket: 0),
                        installation: id, sender: SenderID(0),
                        action: .expire(before: before, unlinkedBefore: unlinkedBefore))))
        }
    }
}

/// The search of partition 0 for installations that nobody uses any more.
struct InstallationSweep {
    /// Whether the store has been asked.
    var isAsking = false
    /// When it is asked again.
    var next = Instant.distantPast
    /// Where it goes on.
    var from: [UInt8] = []
}
