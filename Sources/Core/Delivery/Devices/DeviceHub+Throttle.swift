import Basics

/// The rate of an app's messages with a collapse key, and whether the app is in the queue of throttled ones.
struct AppThrottle {
    private var bucket = TokenBucket()
    private var isQueued = false

    func allows(_ rate: Rate, now: Instant) -> Bool { bucket.allows(rate, now: now) }

    mutating func consume(_ rate: Rate, now: Instant) { bucket.consume(rate, now: now) }

    /// Puts the app in the queue. Returns when it is due, or `nil` if it is in the queue already.
    mutating func enterQueue(_ rate: Rate, now: Instant) -> Instant? {
        defer { isQueued = true }
        return isQueued ? nil : bucket.next(rate, now: now)
    }

    mutating func leaveQueue() { isQueued = false }

    /// Applies another rate.
    mutating func change(from old: Rate, to new: Rate, now: Instant) {
        bucket.change(from: old, to: new, now: now)
    }
}

/// Throttling of messages with a collapse key: above an app's rate they wait and replace each other (ccs-xmpp 5.4).
extension DeviceHub {
    /// Throttles a message if its app has used up its rate. Returns whether it was throttled.
    mutating func throttleIfNeeded(
        at index: Int, of entry: DeviceEntry, registrationAt at: Int, _ turn: inout Turn
    ) -> Bool {
        let now = turn.now.monotonic
        let rate = turn.settings.rates.collapsible
        let slot = entry.mailbox.slots[index]
        // A message that is sent again after a lost connection has been counted before.
        guard rate.isLimited, slot.entry.collapseKey != nil, !slot.isCounted else { return false }
        guard entry.registrations[at].throttle.allows(rate, now: now) else {
            entry.setState(.throttled, at: index, &turn)
            if let due = entry.update(at, { $0.throttle.enterQueue(rate, now: now) }) {
                throttled.add(entry.registrations[at].registration.name, due: due)
            }
            return true
        }
        entry.update(at) { $0.throttle.consume(rate, now: now) }
        entry.updateMessage(at: index) { $0.charge() }
        return false
    }

    /// Releases the throttled apps that are due by an instant; those still above their rate are throttled again.
    mutating func releaseThrottled(dueBy due: Instant, _ turn: inout Turn) {
        var again: [RegistrationName] = []
        while let name = throttled.popFirst(dueBy: due) {
            guard let entry = table[name.device], let at = entry.index(of: name.number) else { continue }
            guard entry.state.isReady else {
                // It is being read again; its messages stay throttled.
                again.append(name)
                continue
            }
            entry.update(at) { $0.throttle.leaveQueue() }
            // Delivers again from the first throttled message; if the app is still above its rate, it is throttled again.
            let first = entry.release(&turn) {
                $0.state == .throttled && $0.entry.registration == name.number
            }
            redeliver(from: first, entry, &turn)
        }
        for name in again {
            throttled.add(
                name, due: turn.now.monotonic.advanced(milliseconds: Int64(Limits.Store.sweepMilliseconds)))
        }
    }

    /// Delivers again from a message on; messages that have been sent are not sent again.
    mutating func redeliver(from first: SequenceNumber?, _ entry: DeviceEntry, _ turn: inout Turn) {
        guard let first, let link = entry.link else { return }
        entry.updateLink { $0.rewind(before: first) }
        if case .live = link.mode { proceed(entry, &turn) }
    }
}
