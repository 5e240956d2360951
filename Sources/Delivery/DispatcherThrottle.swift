import Basics

/// Messages with collapse key that come faster than an app may have them wait and replace each other (ccs-xmpp 5.4).
extension Dispatcher {
    /// Whether a message may be handed to the device now; if not, it is held until the app may have one more.
    mutating func isHeldBack(
        at index: Int, of entry: DeviceEntry, registrationAt at: Int, _ now: Instant
    ) -> Bool {
        let rate = settings.rates.collapsible
        let slot = entry.mailbox.slots[index]
        // What goes again after a lost connection has been counted.
        guard rate.isLimited, slot.entry.collapseKey != nil, !slot.isCounted else { return false }
        guard entry.registrations[at].bucket.allows(rate, now: now) else {
            entry.setState(.held, at: index)
            if !entry.registrations[at].isDue {
                entry.registrations[at].isDue = true
                held.add(
                    entry.registrations[at].registration.name,
                    due: entry.registrations[at].bucket.next(rate, now: now))
            }
            return true
        }
        entry.registrations[at].bucket.take(rate, now: now)
        entry.mailbox.setCounted(at: index)
        return false
    }

    /// Lets those go on whose time has come.
    mutating func tickHeld(_ now: Now, _ effects: inout Effects) {
        releaseHeld(dueBy: now.monotonic, now, &effects)
    }

    /// Lets those go on whose time comes by an instant; those that may not yet are held again.
    mutating func releaseHeld(dueBy due: Instant, _ now: Now, _ effects: inout Effects) {
        var again: [RegistrationName] = []
        while let name = held.take(by: due) {
            guard let entry = devices[name.device], let at = entry.index(of: name.number) else { continue }
            guard entry.phase == .ready else {
                // It is being read again; what is held stays so.
                again.append(name)
                continue
            }
            entry.registrations[at].isDue = false
            release(name.number, of: entry, &effects)
        }
        for name in again {
            held.add(name, due: now.monotonic.advanced(milliseconds: Int64(Limits.sweepMilliseconds)))
        }
    }

    /// Goes back to the first held message of an app; what it still may not have is held again.
    private mutating func release(
        _ number: RegistrationNumber, of entry: DeviceEntry, _ effects: inout Effects
    ) {
        var first: Sequence?
        for index in entry.mailbox.slots.indices {
            let slot = entry.mailbox.slots[index]
            guard slot.state == .held, slot.entry.registration == number else { continue }
            entry.setState(.waiting, at: index)
            first = first ?? slot.entry.sequence
        }
        goBack(to: first, entry, &effects)
    }

    /// Hands over again from a message on; what has been sent is not sent again.
    mutating func goBack(to first: Sequence?, _ entry: DeviceEntry, _ effects: inout Effects) {
        guard let first, let link = entry.link else { return }
        entry.rewind(before: first)
        switch link.mode {
        case .live: proceed(entry, &effects)
        case .accepting, .loading, .queued, .paused, .closing: break
        }
    }
}
