import Basics

/// The caps of a mailbox: collapse keys that replace, and messages that are too many (ccs-xmpp 6).
extension DeviceHub {
    /// Removes what a collapse key replaces; if the key is one too many, the oldest of those that still wait (ccs-xmpp 6).
    mutating func makeRoom(
        for key: [UInt8], isDelayed: Bool, registrationAt at: Int, _ entry: DeviceEntry,
        _ turn: inout Turn
    ) {
        guard entry.registrations[at].keyed > 0 else { return }
        let number = entry.registrations[at].registration.name.number
        var waiting: [Sequence] = []
        var held: [Sequence] = []
        var delayed: [Sequence] = []
        var index = 0
        while index < entry.mailbox.slots.count {
            let slot = entry.mailbox.slots[index]
            guard slot.entry.registration == number, let other = slot.entry.collapseKey,
                slot.state != .owingReceipt
            else {
                index += 1
                continue
            }
            if other == key {
                remove(at: index, of: entry, reason: .replaced, &turn)
                continue
            }
            if slot.state.isWaiting { waiting.append(slot.entry.sequence) }
            if slot.state == .throttled { held.append(slot.entry.sequence) }
            if slot.state.isDelayed { delayed.append(slot.entry.sequence) }
            index += 1
        }
        var leaving: [Sequence] = []
        if isDelayed {
            // A device that is there and idle is as good as away for these.
            leaving += delayed.prefix(max(0, delayed.count + 1 - turn.settings.collapseKeys))
        } else {
            let surplus = waiting.count + 1 - cap(entry, offline: turn.settings.collapseKeys, turn)
            leaving += waiting.prefix(max(0, surplus))
        }
        // Those that wait for the rate of a device that is there are as few.
        if !entry.registrations[at].bucket.allows(turn.settings.rates.collapsible, now: turn.now.monotonic) {
            leaving += held.prefix(max(0, held.count + 1 - turn.settings.collapseKeys))
        }
        for sequence in leaving {
            let index = turn.demand(
                entry.mailbox.index(of: sequence), "a message to be discarded is not there", of: entry)
            guard let index else { continue }
            remove(at: index, of: entry, reason: .discarded, &turn)
        }
    }

    /// Too many messages without collapse key wait: all go, and a marker tells the app how many (ccs-xmpp 6).
    ///
    /// What the present connection has been given does not wait and stays. What waits until the device is active (`delayed`) is
    /// counted by itself, and its marker waits like it.
    mutating func discardPlain(
        isDelayed: Bool, registrationAt at: Int, _ entry: DeviceEntry, _ turn: inout Turn
    ) {
        let name = entry.registrations[at].registration.name
        var total = 0
        var index = 0
        while index < entry.mailbox.slots.count {
            let slot = entry.mailbox.slots[index]
            guard slot.entry.registration == name.number,
                isDelayed ? slot.state.isDelayed : slot.state.isWaiting,
                slot.entry.collapseKey == nil, slot.entry.kind != .sendError
            else {
                index += 1
                continue
            }
            if case .discardedMarker(let count) = slot.entry.kind { total += count } else { total += 1 }
            remove(at: index, of: entry, reason: .discarded, &turn)
        }
        turn.demand(total > 0, "a marker for no message", of: entry)
        let left = isDelayed ? entry.registrations[at].plainDelayed : entry.registrations[at].plainWaiting
        turn.demand(left == 0, "messages stay that were to be discarded", of: entry)
        let marker = StoredMessage(
            device: name.device, sequence: turn.nextSequence(), salt: turn.salt, registration: name.number,
            sender: nil, kind: .discardedMarker(count: total), messageID: [],
            acceptedAt: turn.now.wall,
            expiresAt: turn.now.end(after: Int64(Limits.Message.lifetimeSeconds) * 1_000),
            delaysWhileIdle: isDelayed, body: [])
        turn.write(.putMessage(marker), then: .device(entry, .marker(marker)))
        entry.append(
            MailboxSlot(
                entry: MailboxEntry(marker),
                state: isDelayed ? .delayed(isStored: false) : .waiting(isStored: false)),
            registrationAt: at, &turn)
    }

    /// How many messages of one registration may wait for the device.
    ///
    /// The caps of the service are for those who are away. For one that is there and only slow, or still reading its mailbox,
    /// the bound is that of what a connection may hold; what is handed on as soon as it is stored does not wait at all.
    func cap(_ entry: DeviceEntry, offline: Int, _ turn: borrowing Turn) -> Int {
        guard entry.state.isReady, let link = entry.link else { return offline }
        switch link.mode {
        case .closing: return offline
        case .live: return .max
        case .accepting, .loading, .queued, .paused:
            return max(offline, turn.settings.unacknowledgedPerDevice)
        }
    }
}
