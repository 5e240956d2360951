import Basics

/// The sessions of webhooks, which stand in while no app server is connected.
extension SenderHub {
    /// Loads the senders of this partition whose webhooks wait for messages; the next tick opens the sessions.
    mutating func loadWebhooks(_ turn: borrowing Turn) {
        for sender in turn.directory.webhooks
        where PartitionKey.sender(sender).partition(of: turn.partitions) == turn.partition {
            _ = table.entry(sender)
        }
    }

    /// Opens or drains the session of a sender's webhook, as its record and its other sessions require; ends it once drained.
    mutating func adaptWebhook(of entry: SenderEntry, _ turn: inout Turn) {
        let isUsed = turn.directory[entry.sender]?.usesWebhook ?? false
        guard isUsed || entry.hasWebhookSession else { return }
        let isWanted = isUsed && !entry.sessions.contains { $0.mode == .ready && $0.kind == .appServer }
        let ready = entry.sessions.firstIndex { $0.mode == .ready && $0.kind == .webhook }
        switch (isWanted, ready) {
        case (true, nil):
            webhookSessions &+= 1
            var session = AppServerSessionState(
                connection: ConnectionID(webhook: webhookSessions, salt: turn.salt), kind: .webhook)
            session.mode = .ready
            entry.sessions.append(session)
        case (false, let at?):
            entry.setMode(.draining, at: at, &turn)
            turn.effects.webhooks.append(.recall(entry.sessions[at].connection))
            leaveBacklogToStore(entry)
        case (true, _), (false, nil): break
        }
        endDrainedWebhooks(of: entry, &turn)
    }

    /// Removes the drained sessions of a webhook that have no unanswered requests.
    private func endDrainedWebhooks(of entry: SenderEntry, _ turn: inout Turn) {
        entry.sessions.removeAll { session in
            guard session.kind == .webhook, session.mode == .draining, session.window.isEmpty else {
                return false
            }
            turn.effects.webhooks.append(.forget(session.connection))
            return true
        }
    }

    /// Returns the session for a message of a device that has outstanding messages at a webhook, or where a webhook is to take over.
    ///
    /// A webhook keeps the order of a device strictly: nothing overtakes a message that it has, nor does it get one while an earlier
    /// one is outstanding at an app server.
    func chooseWebhook(
        _ sticky: SenderEntry.Sticky, at: Int, of entry: SenderEntry, window: Int
    ) -> Int? {
        guard entry.sessions[at].kind == .webhook else { return nil }
        let takes =
            sticky.count < Limits.Webhook.heldPerDevice && entry.sessions[at].takesMessage(window: window)
        return takes ? at : nil
    }

    /// Returns orders that end all sessions of webhooks, because the partition leaves this node.
    func webhooksLeft() -> [WebhookOrder] {
        table.all.flatMap { entry in
            entry.sessions.filter { $0.kind == .webhook }.map { .forget($0.connection) }
        }
    }
}

extension SenderEntry {
    /// Whether a webhook has a session here, ready or draining.
    var hasWebhookSession: Bool { sessions.contains { $0.kind == .webhook } }

    /// Leaves the newest messages of devices that wait for a webhook's answer to the store if the backlog has more than a limit: a
    /// webhook that never takes a message of one device must not keep up the others.
    func park(keeping limit: Int) {
        guard backlog.count > limit, hasWebhookSession else { return }
        var surplus = backlog.count - limit
        var kept: [StoredUpstream] = []
        for message in backlog.reversed() {
            let device = message.from.device.number
            if surplus > 0, message.kind == .message, sticky[device]?.connection.isWebhook == true {
                parked[device] = message.sequence
                surplus -= 1
            } else {
                kept.append(message)
            }
        }
        backlog = kept.reversed()
    }

    /// Whether a message is left in the store.
    func isParked(_ message: borrowing StoredUpstream) -> Bool {
        guard !parked.isEmpty, message.kind == .message, let first = parked[message.from.device.number]
        else { return false }
        return message.sequence >= first
    }

    /// Has the messages of devices read again for which nothing waits here any more.
    func unpark() {
        guard !parked.isEmpty else { return }
        let waiting = Set(backlog.lazy.filter { $0.kind == .message }.map(\.from.device.number))
        let free = parked.filter { sticky[$0.key] == nil && !waiting.contains($0.key) }
        guard let first = free.values.min() else { return }
        for device in free.keys { parked[device] = nil }
        rewind(before: first)
    }
}

extension Partition {
    /// Returns what the webhooks must forget because the partition leaves this node.
    public func webhooksLeft() -> [WebhookOrder] { senders.webhooksLeft() }
}

extension Turn {
    /// Sends an upstream message or receipt to a session.
    mutating func deliver(_ message: StoredUpstream, to connection: ConnectionID) {
        if connection.isWebhook {
            effects.webhooks.append(.deliver(connection, message))
        } else {
            send(.deliver(message), to: connection)
        }
    }

    /// Withdraws what has left the window of a session.
    mutating func withdraw(_ sequence: SequenceNumber, of sender: SenderID, from connection: ConnectionID) {
        if connection.isWebhook {
            effects.webhooks.append(.withdraw(connection, sender, sequence))
        } else {
            send(AppServerCommand.withdraw(sequence), to: connection)
        }
    }
}
