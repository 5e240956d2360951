import Basics

/// Delivery of stored messages to a connected device.
extension DeviceHub {
    /// Continues delivery of stored messages: reads the next page, or changes to live mode if none is left.
    mutating func proceed(_ entry: DeviceEntry, _ turn: inout Turn) {
        guard entry.state.isReady, let link = entry.link else { return }
        turn.demand(!link.isCongested, "delivery continues on a congested connection", of: entry)
        if entry.isPageAsked {
            entry.setMode(.queued, &turn)
        } else if entry.mailbox.hasStored(after: link.cursor), let newest = entry.mailbox.newestStored {
            entry.beginPage(upTo: newest, &turn)
            turn.load(.messages(entry.device, after: link.cursor, limit: turn.settings.mailboxPage))
        } else {
            entry.setMode(.live, &turn)
        }
    }

    /// Continues delivery after the state was read again, since messages read before may have changed.
    mutating func resume(_ entry: DeviceEntry, _ turn: inout Turn) {
        guard let link = entry.link else { return }
        guard entry.record != nil else { return close(entry, .deviceForgotten, &turn) }
        // It gets the message in order after its next login.
        guard !link.hasPassedOver else { return close(entry, .storeFailed, &turn) }
        // A page that is being read will arrive; a waiting login is finished by its batch.
        if link.mode.takesStored, !link.isCongested { proceed(entry, &turn) }
    }

    mutating func pageLoaded(
        _ device: DeviceID, _ messages: [StoredMessage], isLast: Bool, _ turn: inout Turn
    ) {
        guard let entry = pageAnswered(device, &turn) else { return }
        turn.demand(
            messages.count <= turn.settings.mailboxPage, "a page has more messages than its limit",
            of: entry)
        guard let link = entry.link, let target = pageTarget(entry, link, &turn) else {
            return entry.state.isStale ? evictIfUnread(entry, &turn) : markIfIdle(entry, &turn)
        }
        entry.setMode(.paused, &turn)
        var hasDelivered = false
        for message in messages {
            guard let link = entry.link, case .paused = link.mode else { return }
            guard turn.demand(message.device == device, "a page has a message of another device", of: entry),
                turn.demand(message.sequence > link.cursor, "a page is out of order", of: entry)
            else { return }
            entry.updateLink { $0.advance(to: message.sequence) }
            guard let at = entry.mailbox.index(of: message.sequence),
                entry.mailbox.slots[at].state.isWaiting, !entry.mailbox.slots[at].entry.isForGateway
            else { continue }
            if message.expiresAt <= turn.now.expiryCutoff {
                remove(at: at, of: entry, reason: .expired, &turn)
            } else if message.hasBody {
                // One whose pairs are damaged stays until it expires.
                hasDelivered = deliver(message, at: at, to: entry, &turn) || hasDelivered
            }
        }
        // Every message confirmed before the read is in the answer or has been removed.
        if isLast { entry.updateLink { $0.advance(to: target) } }
        guard let link = entry.link, case .paused = link.mode else { return }
        turn.demand(isLast || !messages.isEmpty, "an empty page is not the last page", of: entry)
        if hasDelivered {
            turn.send(.reportWhenWritable, to: link.connection)
        } else {
            proceed(entry, &turn)
        }
    }

    /// Marks the read of a page as answered. Returns the device, or `nil` if it is not in memory.
    private func pageAnswered(_ device: DeviceID, _ turn: inout Turn) -> DeviceEntry? {
        let entry = turn.demand(
            table[device], "a page was read for a device that is not in memory", owner: .device(device))
        entry?.endPage(&turn)
        return entry
    }

    /// Returns the sequence up to which the page is complete, or `nil` if it is for an earlier connection or unusable now.
    private mutating func pageTarget(
        _ entry: DeviceEntry, _ link: DeviceLink, _ turn: inout Turn
    ) -> SequenceNumber? {
        switch link.mode {
        case .loading(let target) where entry.state.isReady && !link.isCongested:
            return target
        case .loading:
            // Read again once the connection is writable, or the state has been read.
            entry.setMode(.paused, &turn)
        case .queued:
            entry.setMode(.paused, &turn)
            if !link.isCongested { proceed(entry, &turn) }
        case .accepting, .paused, .live, .closing: break
        }
        return nil
    }

    mutating func pageLoadFailed(_ device: DeviceID, isDamage: Bool, _ turn: inout Turn) {
        guard let entry = pageAnswered(device, &turn) else { return }
        guard let link = entry.link else {
            return entry.state.isStale ? evictIfUnread(entry, &turn) : markIfIdle(entry, &turn)
        }
        if case .queued = link.mode {
            entry.setMode(.paused, &turn)
            if !link.isCongested { proceed(entry, &turn) }
        } else if case .loading = link.mode {
            close(entry, isDamage ? .storeDamaged : .storeFailed, &turn)
        }
    }

    /// Sends a message that is now on disk, if the connection has all earlier ones.
    mutating func messageStored(
        _ message: consuming StoredMessage, _ entry: DeviceEntry, _ turn: inout Turn
    ) {
        let sequence = message.sequence
        guard entry.state.isReady, let at = entry.mailbox.index(of: sequence) else { return }
        entry.updateMessage(at: at) { $0.confirm() }
        guard !entry.mailbox.slots[at].state.isScheduled else { return }
        if message.apns != nil { return gatewayMessageStored(message, entry, &turn) }
        // Its pairs are read from the store.
        guard message.hasBody else { return redeliver(from: sequence, entry, &turn) }
        guard let link = entry.link, case .live = link.mode, entry.mailbox.slots[at].state.isWaiting
        else { return }
        turn.demand(sequence > link.cursor, "a waiting message is behind the cursor", of: entry)
        entry.updateLink { $0.advance(to: sequence) }
        guard message.expiresAt > turn.now.expiryCutoff else {
            return remove(at: at, of: entry, reason: .expired, &turn)
        }
        _ = deliver(message, at: at, to: entry, &turn)
    }

    /// Sends a stored message to the device's connection, unless the app is throttled. Returns whether it was sent.
    private mutating func deliver(
        _ message: consuming StoredMessage, at index: Int, to entry: DeviceEntry, _ turn: inout Turn
    ) -> Bool {
        let slot = entry.mailbox.slots[index].entry
        turn.demand(message.hasBody, "a message is sent without its shared body", of: entry)
        guard let link = turn.demand(entry.link, "a message is sent without a connection", of: entry),
            let at = entry.place(of: message.registration, &turn),
            turn.demand(
                slot.sequence == message.sequence && slot.registration == message.registration,
                "a message differs from its mailbox entry", of: entry)
        else { return false }
        turn.demand(
            link.mode.takesStored && !link.isCongested,
            "a message is sent on a connection that does not accept messages",
            of: entry)
        guard !link.isIdle || !message.delaysWhileIdle else {
            entry.setState(.delayed(isStored: true), at: index, &turn)
            return false
        }
        guard entry.mailbox.unacknowledged < turn.settings.unacknowledgedPerDevice || message.kind.isReport
        else {
            close(entry, .tooManyUnacknowledged, &turn)
            return false
        }
        guard !throttleIfNeeded(at: index, of: entry, registrationAt: at, &turn) else { return false }
        entry.setState(.sent, at: index, &turn)
        send(message, isStored: true, entry, registrationAt: at, link.connection, &turn)
        return true
    }

    /// Writes the frame of a message.
    mutating func send(
        _ message: consuming StoredMessage, isStored: Bool, _ entry: DeviceEntry, registrationAt at: Int,
        _ connection: ConnectionID, _ turn: inout Turn
    ) {
        turn.demand(
            entry.link?.connection == connection, "a message is sent on another device's connection",
            of: entry)
        if message.kind == .message { turn.effects.downstream.sent += 1 }
        turn.traceMessage(message, .sent, on: connection, detail: isStored ? "" : "now_or_never")
        var from = entry.registrations[at].from(message.sender)
        if let path = message.shared?.path, !path.isEmpty { from = path }
        let app = entry.registrations[at].registration.app
        let delivery = DeviceDelivery(message: message, app: app, from: from, isStored: isStored)
        turn.send(.deliver(delivery), to: connection)
    }
}
