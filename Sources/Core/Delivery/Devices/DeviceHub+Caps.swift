import Basics

/// The caps of a mailbox: messages replaced by their collapse key, and messages discarded because there are too many (ccs-xmpp 6).
extension DeviceHub {
    /// Removes the message that a collapse key replaces. If there are too many keys, removes the oldest waiting messages instead.
    mutating func makeRoom(
        for key: [UInt8], isDelayed: Bool, isForGateway: Bool, registrationAt at: Int, _ entry: DeviceEntry,
        _ turn: inout Turn
    ) {
        guard entry.registrations[at].counts.keyed > 0 else { return }
        let number = entry.registrations[at].registration.name.number
        removeAll(of: entry, reason: .replaced, &turn) {
            $0.entry.registration == number && $0.entry.collapseKey == key && $0.state != .owingReceipt
                && !$0.state.isScheduled
        }
        // The gateway has refused what is beyond its cap.
        guard !isForGateway else { return }
        let keys = turn.settings.collapseKeys
        if isDelayed {
            // For delayed messages a connected but idle device counts as offline.
            discardKeyed(of: number, beyond: keys, entry, &turn) { $0.state.isDelayed }
        } else {
            discardKeyed(of: number, beyond: deviceCap(entry, offline: keys, turn), entry, &turn) {
                $0.state.isWaiting && !$0.entry.isForGateway
            }
        }
        // Throttled messages of a connected device have the same cap.
        if !entry.registrations[at].throttle.allows(turn.settings.rates.collapsible, now: turn.now.monotonic)
        {
            discardKeyed(of: number, beyond: keys, entry, &turn) { $0.state == .throttled }
        }
    }

    /// Discards the oldest messages with a collapse key that `isCounted` selects, until one more is within a limit.
    private mutating func discardKeyed(
        of number: RegistrationNumber, beyond limit: Int, _ entry: DeviceEntry, _ turn: inout Turn,
        where isCounted: (MailboxSlot) -> Bool
    ) {
        func isKeyed(_ slot: MailboxSlot) -> Bool {
            slot.entry.registration == number && slot.entry.collapseKey != nil && isCounted(slot)
        }
        var surplus = entry.mailbox.slots.count(where: isKeyed) + 1 - limit
        removeAll(of: entry, reason: .discarded, &turn) { slot in
            guard surplus > 0, isKeyed(slot) else { return false }
            surplus -= 1
            return true
        }
    }

    /// Discards all waiting messages without a collapse key and leaves a marker with their number for the app (ccs-xmpp 6).
    ///
    /// Messages that the current connection was sent are not waiting and stay. Messages that wait until the device is active
    /// (`isDelayed`) are counted separately, and their marker is delayed too.
    mutating func discardPlain(
        isDelayed: Bool, registrationAt at: Int, _ entry: DeviceEntry, _ turn: inout Turn
    ) {
        let name = entry.registrations[at].registration.name
        var total = 0
        removeAll(of: entry, reason: .discarded, &turn) { slot in
            guard slot.entry.registration == name.number,
                isDelayed ? slot.state.isDelayed : slot.state.isWaiting,
                slot.entry.collapseKey == nil, !slot.entry.kind.isReport, !slot.entry.isForGateway
            else { return false }
            if case .discardedMarker(let count) = slot.entry.kind { total += count } else { total += 1 }
            return true
        }
        turn.demand(total > 0, "a marker replaces no message", of: entry)
        addMarker(of: total, isDelayed: isDelayed, registrationAt: at, entry, &turn)
    }

    /// Leaves a marker with the number of discarded messages for an app.
    mutating func addMarker(
        of total: Int, isDelayed: Bool, registrationAt at: Int, _ entry: DeviceEntry, _ turn: inout Turn
    ) {
        let name = entry.registrations[at].registration.name
        let marker = StoredMessage(
            device: name.device, sequence: turn.nextSequence(), salt: turn.salt, registration: name.number,
            sender: nil, kind: .discardedMarker(count: total), messageID: [],
            acceptedAt: turn.now.wall,
            expiresAt: turn.now.expiry(after: Int64(Limits.Message.lifetimeSeconds) * 1_000),
            delaysWhileIdle: isDelayed, body: [])
        entry.add(marker, isDelayed: isDelayed, then: .marker(marker), &turn)
    }

    /// Returns how many messages of one registration may wait for the device.
    ///
    /// The caps of FCM are for offline devices. For a connected device that is slow or still reading its mailbox, the bound is the
    /// number of unacknowledged messages of a connection. Messages that are sent as soon as they are stored do not wait at all.
    func deviceCap(_ entry: DeviceEntry, offline: Int, _ turn: borrowing Turn) -> Int {
        guard entry.state.isReady, let link = entry.link else { return offline }
        switch link.mode {
        case .closing: return offline
        case .live: return .max
        case .accepting, .loading, .queued, .paused:
            return max(offline, turn.settings.unacknowledgedPerDevice)
        }
    }
}
