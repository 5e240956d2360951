import Basics

/// Devices in and out of memory.
extension Dispatcher {
    /// The device if its state is known; `forTopic` where it is only to be sent one of very many messages.
    mutating func ready(_ device: DeviceID, forTopic: Bool = false) -> DeviceEntry? {
        guard let entry = devices[device], entry.phase == .ready else { return nil }
        devices.wake(entry)
        if !forTopic { entry.isPassing = false }
        return entry
    }

    /// The device if its state is known; otherwise the event waits for it.
    mutating func ready(
        _ device: DeviceID, orWait event: @autoclosure () -> Event, _ effects: inout Effects
    ) -> DeviceEntry? {
        if let entry = ready(device) { return entry }
        wait(event(), for: device, &effects)
        return nil
    }

    /// Keeps an event until the store has said what it holds of the device; asks, if nobody has.
    mutating func wait(_ event: consuming Event, for device: DeviceID, _ effects: inout Effects) {
        let isForTopic = event.isForTopic
        guard let entry = devices[device] else {
            let entry = DeviceEntry(device)
            entry.isPassing = isForTopic
            entry.waiting.append(event)
            devices.insert(entry)
            effects.loads.append(.device(device))
            return
        }
        if !isForTopic { entry.isPassing = false }
        if entry.waiting.count < settings.eventsWaitingForDevice {
            entry.waiting.append(event)
        } else {
            refuse(event, &effects)
        }
        reload(entry, &effects)
    }

    /// Reads a device again after a failed batch, as soon as nothing of it is on its way.
    mutating func reload(_ entry: DeviceEntry, _ effects: inout Effects) {
        guard entry.phase == .stale, entry.batchesInFlight == 0, !entry.isTouched else { return }
        entry.phase = .loading
        effects.loads.append(.device(entry.device))
    }

    mutating func deviceLoaded(_ state: DeviceState, _ now: Now, _ effects: inout Effects) {
        guard let entry = devices[state.device], entry.phase == .loading else { return }
        entry.take(state)
        if let newest = state.mailbox.last?.sequence { sequences.observe(newest) }
        for message in state.mailbox where entry.index(of: message.registration) == nil {
            // Its registration is gone: nobody may have it any more.
            remove(message, of: entry, reason: .removed, &effects)
        }
        removeExpired(entry, now, &effects)
        if entry.link != nil { resume(entry, &effects) }
        let waiting = entry.waiting
        entry.waiting = []
        for event in waiting { take(event, now, &effects) }
        devices.rest(entry)
    }

    mutating func deviceLoadFailed(_ device: DeviceID, _ now: Now, _ effects: inout Effects) {
        guard let entry = devices[device], entry.phase == .loading else { return }
        if let link = entry.link {
            effects.commands.append((link.connection, .close(.storeFailed)))
            contacts.note(entry.device, at: contactTime(now))
        }
        for event in entry.waiting { refuse(event, &effects) }
        entry.waiting = []
        entry.link = nil
        entry.phase = .stale
        forgetIfUnread(entry)
    }

    /// Lets go of a device that could not be read, unless an answer about it is still to come.
    mutating func forgetIfUnread(_ entry: DeviceEntry) {
        guard entry.phase == .stale, entry.link == nil, entry.waiting.isEmpty, !entry.isPageAsked,
            entry.batchesInFlight == 0, !entry.isTouched
        else { return }
        devices.remove(entry)
    }

    /// Answers an event that cannot wait any longer for the store; what needs no answer is dropped: the device repeats it.
    func refuse(_ event: Event, _ effects: inout Effects) {
        switch event {
        case .submitted(let submission):
            let origin = submission.origin
            refuse(origin, of: submission.sender, .unavailable, &effects)
            effects.downstream.refused += 1
        case .deviceLogin(let login):
            effects.commands.append((login.connection, .loginRefused(.unavailable)))
        case .upstreamReceived(let upstream):
            effects.commands.append(
                (
                    upstream.origin.connection,
                    .upstreamRefused(ticket: upstream.origin.ticket, .unavailable)
                ))
            effects.upstream.refused += 1
        case .checkIn(let checkIn): refuse(checkIn.origin, &effects)
        case .register(let request), .unregister(let request): refuse(request.origin, &effects)
        case .registerWeb(let request): refuse(request.origin, &effects)
        case .subscribe(let request): refuse(request.origin, &effects)
        case .address(let request): refuseToken(request.origin, .unavailable, &effects)
        case .installationFound(let request, _, _) where request.action.isChange:
            answerVouch(request, isProved: false, &effects)
        case .installationFound(let request, _, _): refuse(request, .serviceNotAvailable, &effects)
        case .forgetDevice(_, let origin), .unregisterToken(_, let origin): refuse(origin, &effects)
        case .upstreamReturned(let gone):
            // The next search for what is over its time sends it back again.
            effects.forwards.append(.upstreamReturnSettled(gone.sender, gone.sequence))
        default: break
        }
    }

    private func refuse(_ origin: Origin, _ effects: inout Effects) {
        effects.commands.append(
            (
                origin.connection,
                .registrationRefused(ticket: origin.ticket, .serviceNotAvailable)
            ))
    }

    // MARK: Connections

    mutating func deviceLogin(_ login: DeviceLogin, _ now: Now, _ effects: inout Effects) {
        guard let entry = ready(login.device, orWait: .deviceLogin(login), &effects) else { return }
        // An unknown device takes as long as a wrong token.
        let expected = entry.record?.token ?? SecretDigest(octets: [UInt8](repeating: 0, count: 32))
        guard expected == login.token, let record = entry.record else {
            effects.commands.append((login.connection, .loginRefused(.wrongCredentials)))
            traceConnection(
                login.device, .loginRefused, detail: LoginRefusal.wrongCredentials.rawValue, &effects)
            devices.rest(entry)
            return
        }
        if let old = entry.link {
            effects.commands.append((old.connection, .close(.replacedByNewerLogin)))
            traceConnection(
                login.device, .disconnected, detail: CloseReason.replacedByNewerLogin.rawValue, &effects)
            entry.unlink()
        }
        let hasRemoved = settleReceived(login.received, entry, now, &effects)
        entry.link = DeviceLink(connection: login.connection)
        entry.link?.isIdle = login.isIdle
        noteLogin(entry, record, now, &effects)
        if hasRemoved {
            turn.waiters.append(.login(login.connection, entry))
        } else {
            accept(entry, &effects)
        }
    }

    /// Removes what the device names as received, before it is told to forget its list (mcs-device 3.1).
    private mutating func settleReceived(
        _ received: [PersistentID], _ entry: DeviceEntry, _ now: Now, _ effects: inout Effects
    ) -> Bool {
        var hasRemoved = false
        for id in received.suffix(Limits.receivedIDs) {
            guard let at = entry.mailbox.index(of: id.sequence),
                entry.mailbox.slots[at].entry.salt == id.salt
            else { continue }
            settle(at, of: entry, now, &effects)
            hasRemoved = true
        }
        return hasRemoved && entry.isTouched
    }

    mutating func loginSettled(
        _ connection: ConnectionID, _ entry: DeviceEntry, hasFailed: Bool, _ effects: inout Effects
    ) {
        guard let link = entry.link, link.connection == connection, case .accepting = link.mode else {
            return
        }
        if hasFailed {
            effects.commands.append((connection, .loginRefused(.unavailable)))
            entry.unlink()
        } else {
            accept(entry, &effects)
        }
    }

    private mutating func accept(_ entry: DeviceEntry, _ effects: inout Effects) {
        guard let link = entry.link else { return }
        effects.commands.append((link.connection, .deviceLoginAccepted))
        entry.link?.mode = .paused
        traceConnection(entry.device, .connected, &effects)
        proceed(entry, &effects)
    }

    mutating func deviceClosed(
        _ connection: ConnectionID, _ device: DeviceID, _ now: Now, _ effects: inout Effects
    ) {
        guard let entry = devices[device] else { return }
        if entry.link?.connection == connection {
            entry.unlink()
            traceConnection(device, .disconnected, &effects)
            // It was here until now, however long ago it logged in.
            if entry.phase != .ready {
                contacts.note(device, at: contactTime(now))
            } else if let record = entry.record {
                seen(entry, record, every: Limits.seenAtCloseSeconds, now, &effects)
            }
            devices.rest(entry)
        } else if entry.phase != .ready {
            entry.waiting.removeAll { event in
                if case .deviceLogin(let login) = event { login.connection == connection } else { false }
            }
        }
    }

    mutating func deviceCongested(_ connection: ConnectionID, _ device: DeviceID) {
        guard let entry = devices[device], let link = entry.link, link.connection == connection else {
            return
        }
        entry.link?.isCongested = true
        if case .live = link.mode { entry.link?.mode = .paused }
    }

    mutating func deviceReady(
        _ connection: ConnectionID, _ device: DeviceID, _ now: Now, _ effects: inout Effects
    ) {
        guard let entry = devices[device], let link = entry.link, link.connection == connection else {
            return
        }
        entry.link?.isCongested = false
        if case .paused = link.mode, entry.phase == .ready { proceed(entry, &effects) }
    }
}

extension Event {
    /// Whether it is one of the many submissions of a message to topics.
    fileprivate var isForTopic: Bool {
        if case .submitted(let submission) = self { submission.topic != nil } else { false }
    }
}
