import Basics

/// Delivery of messages from a sender's mailbox to its sessions, and their removal.
extension SenderHub {
    /// Returns the session for a message, or `nil` if the message has to wait.
    ///
    /// If a device has outstanding messages, its next one is sent to the same session, so that they arrive in order. With
    /// `isForced` it is sent to another session if that one is full. A receipt is sent to the connection of its original message,
    /// else to any session; it does not count towards the window of messages.
    func choose(
        for message: borrowing StoredUpstream, of entry: SenderEntry, isForced: Bool, _ turn: borrowing Turn
    ) -> Int? {
        guard message.kind == .message else {
            return entry.sessionForReceipt(from: message.requester, window: turn.settings.pendingWindow)
        }
        let window = turn.settings.pendingWindow
        guard let sticky = entry.sticky[message.from.device.number],
            let at = entry.index(of: sticky.connection)
        else { return entry.leastOutstanding(window: window) }
        if entry.sessions[at].kind == .webhook {
            return chooseWebhook(sticky, at: at, of: entry, window: window)
        }
        if entry.sessions[at].mode == .ready {
            if entry.isInCharge(at), entry.sessions[at].takesMessage(window: window) { return at }
            if !isForced { return nil }
        }
        let other = entry.leastOutstanding(window: window)
        return other.map { entry.sessions[$0].kind } == .webhook ? nil : other
    }

    /// Sends a message to a session and records it as outstanding there.
    mutating func deliver(
        _ message: StoredUpstream, toSessionAt at: Int, of entry: SenderEntry, isStored: Bool,
        _ turn: inout Turn
    ) {
        let isReceipt = message.kind != .message
        let window = turn.settings.pendingWindow
        turn.demand(message.sender == entry.sender, "a message is sent to another sender", of: entry)
        turn.demand(
            isReceipt
                ? entry.sessions[at].takesReceipt(window: window)
                : entry.sessions[at].takesMessage(window: window),
            "a message is sent to a session that does not accept it", of: entry)
        turn.demand(
            !isStored || message.sequence <= entry.cursor, "a message after the cursor is sent",
            of: entry)
        turn.demand(
            !isStored || message.expiresAt > turn.now.expiryCutoff, "an expired message is sent",
            of: entry)
        let connection = entry.sessions[at].connection
        let device = isReceipt ? 0 : message.from.device.number
        entry.sessions[at].window.insert(
            OutstandingUpstream(
                sequence: message.sequence, expiresAt: message.expiresAt, device: device,
                isReceipt: isReceipt, isStored: isStored, sentAt: turn.now.monotonic))
        turn.deliver(message, to: connection)
        if isReceipt {
            while !connection.isWebhook,
                let oldest = entry.sessions[at].window.nextRelease(keeping: window)
            {
                turn.send(AppServerCommand.release(oldest), to: connection)
            }
        } else {
            let count = entry.sticky[device]?.count ?? 0
            entry.sticky[device] = SenderEntry.Sticky(connection: connection, count: count + 1)
            turn.effects.upstream.sent += 1
        }
        let detail = connection.isWebhook ? "webhook" : isStored ? "" : "now_or_never"
        turn.traceUpstream(message, .sent, on: connection.isWebhook ? nil : connection, detail: detail)
    }

    /// Delivers a message that is now on disk if all earlier ones have been delivered; otherwise it is read from the store later.
    mutating func route(_ message: StoredUpstream, _ turn: inout Turn) {
        // A message at or before the cursor has already been read with a page.
        guard let entry = table[message.sender], message.sequence > entry.cursor else { return }
        entry.newest = max(entry.newest, message.sequence)
        guard !entry.isBehind else { return }
        // It has to wait behind waiting messages of the same device to preserve their order.
        let isQueued =
            message.kind == .message
            && entry.backlog.contains { $0.from.device == message.from.device && $0.kind == .message }
        if message.expiresAt <= turn.now.expiryCutoff {
            entry.cursor = message.sequence
            expire(message.sequence, at: message.expiresAt, by: message.author, of: entry, &turn)
        } else if entry.isParked(message) {
            entry.cursor = message.sequence
        } else if !isQueued, let at = choose(for: message, of: entry, isForced: false, turn) {
            entry.cursor = message.sequence
            deliver(message, toSessionAt: at, of: entry, isStored: true, &turn)
        } else if entry.hasReadySession, entry.backlog.count < turn.settings.mailboxPage {
            entry.cursor = message.sequence
            let newest = entry.backlog.last?.sequence
            turn.demand(
                newest.map { $0 < message.sequence } ?? true, "the backlog is out of order",
                of: entry)
            entry.backlog.append(message)
        } else {
            entry.isBehind = true
        }
    }

    /// Delivers as many messages as the sessions accept, and reads the next page if there is room.
    mutating func pump(_ entry: SenderEntry, _ turn: inout Turn) {
        guard entry.hasReadySession else { return }
        entry.unpark()
        if !entry.backlog.isEmpty {
            deliverBacklog(entry, &turn)
            entry.park(keeping: turn.settings.mailboxPage / 2)
        }
        guard entry.isBehind, entry.pageRead == nil, entry.backlog.count <= turn.settings.mailboxPage / 2,
            entry.leastOutstanding(window: turn.settings.pendingWindow) != nil
        else { return }
        turn.demand(
            entry.backlog.last.map { $0.sequence <= entry.cursor } ?? true,
            "the backlog extends beyond the cursor", of: entry)
        entry.pageRead = SenderEntry.PageRead(after: entry.cursor, target: entry.newest)
        turn.load(.upstream(entry.sender, after: entry.cursor, limit: turn.settings.mailboxPage))
    }

    private mutating func deliverBacklog(
        _ entry: SenderEntry, _ turn: inout Turn
    ) {
        let backlog = entry.backlog
        entry.backlog = []
        // Up to half a page may wait for a full session; beyond that, throughput takes precedence over the order of one device.
        var surplus = backlog.count - turn.settings.mailboxPage / 2
        for message in backlog {
            if message.expiresAt <= turn.now.expiryCutoff {
                expire(message.sequence, at: message.expiresAt, by: message.author, of: entry, &turn)
            } else if let at = choose(for: message, of: entry, isForced: surplus > 0, turn) {
                deliver(message, toSessionAt: at, of: entry, isStored: true, &turn)
            } else {
                entry.backlog.append(message)
                continue
            }
            surplus -= 1
        }
    }

    mutating func pageLoaded(
        _ sender: SenderID, _ messages: [StoredUpstream], isLast: Bool, _ turn: inout Turn
    ) {
        guard let (entry, read) = pageAnswered(sender, &turn) else { return }
        turn.demand(
            messages.count <= turn.settings.mailboxPage, "a page has more messages than its limit",
            of: entry)
        turn.demand(
            isLast || !messages.isEmpty, "an empty page is not the last page", of: entry)
        // No session is ready, or the cursor was moved back meanwhile: the page is read again.
        guard entry.hasReadySession, read.after == entry.cursor else { return pump(entry, &turn) }
        for message in messages {
            guard turn.demand(message.sender == sender, "a page has a message of another sender", of: entry),
                turn.demand(message.sequence > entry.cursor, "a page is out of order", of: entry)
            else { return }
            entry.cursor = message.sequence
            if entry.holds(message.sequence) { continue }
            if message.expiresAt <= turn.now.expiryCutoff {
                expire(message.sequence, at: message.expiresAt, by: message.author, of: entry, &turn)
            } else if !entry.isParked(message) {
                entry.backlog.append(message)
            }
        }
        if isLast {
            // Every message known before the read is in the answer or has been removed.
            entry.cursor = max(entry.cursor, read.target)
            entry.isBehind = entry.newest > entry.cursor
        }
        turn.demand(
            entry.backlog.count <= turn.settings.mailboxPage + turn.settings.mailboxPage / 2,
            "the backlog exceeds its limit", of: entry)
        if let newest = messages.last?.sequence { turn.sequences.observe(newest) }
        pump(entry, &turn)
    }

    mutating func pageLoadFailed(_ sender: SenderID, _ turn: inout Turn) { _ = pageAnswered(sender, &turn) }

    /// Marks the read of a page as answered. Returns the sender and the read, or `nil` if no read was outstanding.
    private func pageAnswered(_ sender: SenderID, _ turn: inout Turn) -> (SenderEntry, SenderEntry.PageRead)?
    {
        let entry = turn.demand(
            table[sender], "a page was read for a sender that is not in memory", owner: .sender(sender))
        guard let entry,
            let read = turn.demand(entry.pageRead, "a page was read that was not requested", of: entry)
        else {
            return nil
        }
        turn.demand(read.target <= entry.newest, "the newest known message has moved backward", of: entry)
        entry.pageRead = nil
        return (entry, read)
    }

    // MARK: Leaving

    /// Ends a message that an app server has acknowledged, declined with `nack` or need not answer, or that expired in the window.
    ///
    /// All but the last count as delivered, since the message has reached an app server. `removed` is for messages removed by an
    /// operator or an unregistration.
    mutating func upstreamFinished(
        _ connection: ConnectionID, _ sender: SenderID, _ sequence: SequenceNumber,
        _ outcome: UpstreamOutcome, _ turn: inout Turn
    ) {
        // An answer counts only on the connection that was sent the message (ccs-xmpp 4.2).
        guard let entry = table[sender], let at = entry.index(of: connection),
            let item = entry.sessions[at].window.remove(sequence)
        else { return }
        entry.released(item, &turn)
        let isOpen = outcome == .returned || outcome == .expired
        if isOpen, item.isStored, outcome == .returned || !item.isReceipt {
            // It goes to another session, or is read again because the report to its device needs its ID.
            entry.rewind(before: sequence)
        } else {
            remove(item, of: entry, reason: isOpen ? .expired : .delivered, &turn)
        }
        if connection.isWebhook { adaptWebhook(of: entry, &turn) }
        pump(entry, &turn)
    }

    /// Ends a message or receipt that the store has found to be expired.
    mutating func expired(
        _ sequence: SequenceNumber, at expiresAt: UnixMilliseconds, by author: UpstreamAuthor?,
        of sender: SenderID, _ turn: inout Turn
    ) {
        // The sender stays in memory until the removal is confirmed, so that the message is returned once only.
        let entry = table.entry(sender)
        guard !entry.leaving.contains(sequence.number) else { return }
        for at in entry.sessions.indices {
            guard let item = entry.sessions[at].window.remove(sequence) else { continue }
            turn.withdraw(sequence, of: sender, from: entry.sessions[at].connection)
            entry.released(item, &turn)
        }
        entry.backlog.removeAll { $0.sequence == sequence }
        expire(sequence, at: expiresAt, by: author, of: entry, &turn)
        pump(entry, &turn)
    }

    /// Removes an expired receipt from the sender's mailbox, or returns an expired message to its device.
    private mutating func expire(
        _ sequence: SequenceNumber, at expiresAt: UnixMilliseconds, by author: UpstreamAuthor?,
        of entry: SenderEntry, _ turn: inout Turn
    ) {
        guard let author else {
            return remove(sequence, expiresAt, isReceipt: true, of: entry, reason: .expired, &turn)
        }
        let gone = UpstreamReturn(
            sender: entry.sender, sequence: sequence, expiresAt: expiresAt, author: author)
        entry.leaving.insert(sequence.number)
        entry.returning[sequence.number] = gone
        turn.forward(.upstreamReturned(gone))
    }

    /// Removes an expired message once its report is on disk, or there is no registration left to report to.
    mutating func returnFinished(
        _ sequence: SequenceNumber, of sender: SenderID, hasFailed: Bool, _ turn: inout Turn
    ) {
        guard let entry = table[sender], let gone = entry.returning.removeValue(forKey: sequence.number)
        else { return }
        guard !hasFailed, gone.expiresAt <= turn.now.expiryCutoff else {
            // The next search for expired messages finds it again; so it does if the clock has come into doubt meanwhile.
            entry.leaving.remove(sequence.number)
            return
        }
        turn.traceReturned(gone)
        entry.shares.remove(gone.author.from.device, endingAt: gone.expiresAt)
        turn.demand(entry.shares.isSound, "the message count of the devices is negative", of: entry)
        remove(sequence, gone.expiresAt, isReceipt: false, of: entry, reason: .expired, &turn)
    }

    /// Removes an item that was outstanding on a connection from the sender's mailbox.
    mutating func remove(
        _ item: OutstandingUpstream, of entry: SenderEntry, reason: Milestone, _ turn: inout Turn
    ) {
        guard item.isStored else {
            turn.traceUpstreamEnd(item.sequence, of: entry.sender, isReceipt: item.isReceipt, reason, .now)
            turn.effects.upstream[reason] += 1
            if let kind = SenderCount(reason, isUpstream: true) {
                turn.effects.senders.count(kind, of: entry.sender)
            }
            return
        }
        if !item.isReceipt { entry.shares.remove(DeviceID(item.device), endingAt: item.expiresAt) }
        remove(
            item.sequence, item.expiresAt, isReceipt: item.isReceipt, of: entry, reason: reason,
            &turn)
    }

    private mutating func remove(
        _ sequence: SequenceNumber, _ expiresAt: UnixMilliseconds, isReceipt: Bool, of entry: SenderEntry,
        reason: Milestone, _ turn: inout Turn
    ) {
        turn.demand(
            reason.isTerminal && reason != .refused, "a message is removed for a reason that does not end it",
            of: entry)
        turn.write(.removeUpstream(entry.sender, sequence, expiresAt: expiresAt, reason: reason))
        entry.leaving.insert(sequence.number)
        entry.countRemoved()
        turn.batch.removesUpstream = true
        turn.traceUpstreamEnd(sequence, of: entry.sender, isReceipt: isReceipt, reason, reason.moment)
        guard !isReceipt, let kind = SenderCount(reason, isUpstream: true) else { return }
        turn.batch.senders.count(kind, of: entry.sender)
    }
}
