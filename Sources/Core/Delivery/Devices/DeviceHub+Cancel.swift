import Basics

/// Cancellation of messages that wait.
extension DeviceHub {
    /// Cancels the messages that a request means. They are found in the mailbox by a persistent ID, else in the store: the mailbox in
    /// memory does not have the IDs of app servers.
    mutating func cancel(_ request: Cancellation, _ entry: DeviceEntry, _ turn: inout Turn) {
        switch request.state {
        case .found(let messages): cancel(messages, request, entry, &turn)
        case .settled: find(request, &turn)
        case .new:
            guard admit(request, entry, &turn) else { return refuse(request, &turn) }
            if let name = PersistentID(text: request.messageID.raw),
                let at = entry.mailbox.index(of: name.sequence),
                entry.mailbox.slots[at].entry.salt == name.salt
            {
                return cancel([name], request, entry, &turn)
            }
            guard entry.mailbox.slots.contains(where: { request.mayMean($0.entry, of: entry) }) else {
                return turn.reply(.cancelled(0, tooLate: 0), to: request.requester)
            }
            var request = request
            request.state = .settled
            if !waitUntilCommitted(.cancellation(request), entry, &turn) { find(request, &turn) }
        }
    }

    /// Counts a request of an app server as a message. Returns `false` if that would be one too many.
    private func admit(_ request: Cancellation, _ entry: DeviceEntry, _ turn: inout Turn) -> Bool {
        guard let sender = request.sender else { return true }
        let (rates, now) = (turn.settings.rates, turn.now.monotonic)
        guard entry.buckets.allowsMessage(rates, now), turn.messageBuckets.allows(sender, now: now),
            !turn.isOverloaded
        else { return false }
        entry.buckets.countMessage(rates, now)
        turn.messageBuckets.consume(sender, now: now)
        return true
    }

    private mutating func find(_ request: Cancellation, _ turn: inout Turn) {
        guard let number = lookups.add(request) else { return refuse(request, &turn) }
        turn.load(.named(request.device, request.messageID, lookup: number))
    }

    /// The store has found the messages of a device with an ID.
    mutating func namedLoaded(_ messages: [PersistentID], lookup number: UInt64, _ turn: inout Turn) {
        guard var request = turn.demand(lookups.remove(number), "the store finds messages unasked") else {
            return
        }
        request.state = .found(messages)
        handle(.cancel(request), of: request.device, &turn)
    }

    /// The store could not find them.
    mutating func namedFailed(lookup number: UInt64, _ turn: inout Turn) {
        if let request = lookups.remove(number) { refuse(request, &turn) }
    }

    private func refuse(_ request: Cancellation, _ turn: inout Turn) {
        turn.refuseRequest(request.requester, .serviceNotAvailable)
    }

    /// Removes those of the messages that wait: one that was passed to the device or to APNs counts as delivered.
    private mutating func cancel(
        _ messages: [PersistentID], _ request: Cancellation, _ entry: DeviceEntry, _ turn: inout Turn
    ) {
        var (count, late) = (0, 0)
        for message in messages {
            guard let at = entry.mailbox.index(of: message.sequence) else { continue }
            let slot = entry.mailbox.slots[at]
            guard slot.entry.salt == message.salt, request.mayMean(slot.entry, of: entry) else { continue }
            guard slot.isCancellable else {
                late += 1
                continue
            }
            // It was accepted: its submission, if that still waits, is not refused as that of a removed registration.
            settleVerdict(of: slot.entry, .discarded, entry, &turn)
            remove(at: at, of: entry, reason: .removed, as: .cancelled, &turn)
            count += 1
        }
        let answer = RequestReply.cancelled(count, tooLate: late)
        guard count > 0 else { return turn.reply(answer, to: request.requester) }
        turn.replyWhenStored(answer, to: request.requester)
    }
}
