import Basics

/// Topic messages that are read before the body which they share.
///
/// The body is written by the partition of the sender, each message by that of its device. On a node of a cluster, each partition has
/// a log of its own, and one may be applied later than the other: a node that has just become the owner of a device may have its
/// messages, and not their bodies yet. Such a message stays where it is, later ones overtake it, and it is read again until it is
/// complete or has expired, each time after twice as long. So it waits at most as long again as its body was late.
extension DeviceHub {
    /// Has a message read again later that was read without its shared body, or could not be read.
    mutating func awaitBody(at index: Int, of entry: DeviceEntry, _ turn: inout Turn) {
        let slot = entry.mailbox.slots[index].entry
        guard slot.expiresAt > turn.now.expiryCutoff else {
            return remove(at: index, of: entry, reason: .expired, &turn)
        }
        guard let at = entry.place(of: slot.registration, &turn) else { return }
        let reads = entry.updateMessage(at: index) { $0.missBody() }
        let doublings = min(reads - 1, Limits.Topic.bodyRetryDoublings)
        let due = turn.now.monotonic.advanced(milliseconds: Limits.Topic.bodyRetryMilliseconds << doublings)
        // All messages of a registration are read again together, when the first of them is due.
        guard entry.update(at, { $0.awaitBodies(until: due) }) else { return }
        let registration = entry.registrations[at].registration
        // A device with messages for the gateway may be evicted meanwhile: this queue reads it again when they are due.
        if slot.isForGateway || registration.usesAPNs {
            gateway.deferred.add(registration.name, due: due)
        } else {
            bodies.add(registration.name, due: due)
        }
    }

    /// Reads messages again that were read without their bodies.
    mutating func readBodiesAgain(_ turn: inout Turn) {
        var left = Limits.Topic.bodyRetriesPerTick
        while left > 0, let name = bodies.popFirst(dueBy: turn.now.monotonic) {
            left -= 1
            // A device that is not in memory, or is being read, reads its messages again anyway.
            guard let entry = table[name.device], entry.state.isReady, let at = entry.index(of: name.number)
            else { continue }
            whileAwake(entry, &turn) { $0.readBodiesAgain(at: at, of: entry, &$1) }
        }
    }

    /// Reads messages of a registration again if they are due.
    mutating func readBodiesAgain(at: Int, of entry: DeviceEntry, _ turn: inout Turn) {
        let now = turn.now.monotonic
        guard entry.update(at, { $0.takeBodies(dueBy: now) }) else { return }
        let number = entry.registrations[at].registration.name.number
        var first: SequenceNumber?
        for index in entry.mailbox.slots.indices {
            let slot = entry.mailbox.slots[index]
            guard slot.awaitsBody, slot.entry.registration == number else { continue }
            entry.updateMessage(at: index) { $0.takeUp() }
            if !slot.entry.isForGateway { first = first ?? slot.entry.sequence }
        }
        redeliver(from: first, entry, &turn)
        offerNext(at, entry, &turn)
    }
}
