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
                return answer(request, tooLate: 0, &turn)
            }
            var request = request
            request.state = .settled
            if !waitUntilCommitted(.cancellation(request), entry, &turn) { find(request, &turn) }
        }
    }

    /// Counts a request of an app server as a message. Returns `false` if that would be one too many.
    private func admit(_ request: Cancellation, _ entry: DeviceEntry, _ turn: inout Turn) -> Bool {
        guard let sender = request.sender else { return true }
        guard !turn.isOverloaded else { return false }
        do throws(Refusal) { try checkRates(of: sender, entry, &turn) } catch { return false }
        countMessage(of: sender, entry, &turn)
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

    /// Refuses a request that cannot be handled now.
    func refuse(_ request: Cancellation, as refusal: Refusal = .unavailable, _ turn: inout Turn) {
        guard let submission = request.replacement else {
            return turn.refuseRequest(request.requester, .serviceNotAvailable)
        }
        turn.traceSubmission(submission, .refused, detail: refusal.detail)
        turn.countRefused(refusal, of: submission.sender)
        turn.refuse(submission.replyTo, refusal)
    }

    /// Answers a request for which no message is cancelled.
    private func answer(_ request: Cancellation, tooLate late: Int, _ turn: inout Turn) {
        guard request.replacement == nil else {
            return refuse(request, as: late > 0 ? .messageSent : .unknownMessage, &turn)
        }
        turn.reply(.cancelled(0, tooLate: late), to: request.requester)
    }

    /// Has a message take the place of those that wait under an ID: in one batch, and only if all of them wait.
    mutating func replace(_ submission: Submission, _ entry: DeviceEntry, _ turn: inout Turn) {
        guard case .session(let requester) = submission.replyTo, let id = submission.content.replaces else {
            return turn.refuse(submission.replyTo, .unknownMessage)
        }
        var request = Cancellation(
            requester: requester, device: entry.device, registration: submission.target.number,
            sender: submission.sender, messageID: id)
        request.replacement = submission
        cancel(request, entry, &turn)
    }

    /// Removes those of the messages that wait: one that was passed to the device or to APNs counts as delivered.
    private mutating func cancel(
        _ messages: [PersistentID], _ request: Cancellation, _ entry: DeviceEntry, _ turn: inout Turn
    ) {
        var (found, late): ([SequenceNumber], Int) = ([], 0)
        for message in messages {
            guard let at = entry.mailbox.index(of: message.sequence) else { continue }
            let slot = entry.mailbox.slots[at]
            guard slot.entry.salt == message.salt, request.mayMean(slot.entry, of: entry) else { continue }
            if slot.isCancellable { found.append(message.sequence) } else { late += 1 }
        }
        if let submission = request.replacement {
            guard late == 0, !found.isEmpty else { return answer(request, tooLate: late, &turn) }
            return submit(submission, replacing: found, entry, &turn)
        }
        guard !found.isEmpty else { return answer(request, tooLate: late, &turn) }
        for sequence in found { cancel(sequence, entry, &turn) }
        turn.replyWhenStored(.cancelled(found.count, tooLate: late), to: request.requester)
    }

    /// Removes a message that waits.
    mutating func cancel(_ sequence: SequenceNumber, _ entry: DeviceEntry, _ turn: inout Turn) {
        guard let at = entry.mailbox.index(of: sequence) else { return }
        // It was accepted: its submission, if that still waits, is not refused as that of a removed registration.
        settleVerdict(of: entry.mailbox.slots[at].entry, .discarded, entry, &turn)
        remove(at: at, of: entry, reason: .removed, as: .cancelled, &turn)
    }
}
