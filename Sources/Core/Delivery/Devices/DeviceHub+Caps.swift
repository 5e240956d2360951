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
        }
        // The gateway has refused what is beyond its cap.
        guard !isForGateway else { return }
        let keys = turn.settings.collapseKeys
        // For delayed messages a connected but idle device counts as offline.
        var leaving =
            isDelayed
            ? entry.mailbox.surplus(of: number, limit: keys) { $0.state.isDelayed }
            : entry.mailbox.surplus(of: number, limit: deviceCap(entry, offline: keys, turn)) {
                $0.state.isWaiting && !$0.entry.isForGateway
            }
        // Throttled messages of a connected device have the same cap.
        if !entry.registrations[at].throttle.allows(turn.settings.rates.collapsible, now: turn.now.monotonic)
        {
            leaving += entry.mailbox.surplus(of: number, limit: keys) { $0.state == .throttled }
        }
        for sequence in leaving {
            let index = turn.demand(
                entry.mailbox.index(of: sequence), "a message to discard is not in the mailbox", of: entry)
            guard let index else { continue }
            remove(at: index, of: entry, reason: .discarded, &turn)
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
        let counts = entry.registrations[at].counts
        let left = isDelayed ? counts.plainDelayed : counts.plainWaiting
        turn.demand(left == 0, "messages stay that should have been discarded", of: entry)
        let marker = StoredMessage(
            device: name.device, sequence: turn.nextSequence(), salt: turn.salt, registration: name.number,
            sender: nil, kind: .discardedMarker(count: total), messageID: [],
            acceptedAt: turn.now.wall,
            expiresAt: turn.now.expiry(after: Int64(Limits.Message.lifetimeSeconds) * 1_000),
            delaysWhileIdle: isDelayed, body: [])
        turn.write(.putMessage(marker), then: .device(entry, .marker(marker)))
        entry.append(
            MailboxSlot(
                entry: MailboxEntry(marker),
                state: isDelayed ? .delayed(isStored: false) : .waiting(isStored: false)),
            registrationAt: at, &turn)
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
