import Basics

/// Sessions of app servers: login, flow control, drain and end.
extension SenderHub {
    mutating func login(
        _ connection: ConnectionID, _ sender: SenderID, _ key: SecretDigest, _ turn: inout Turn
    ) {
        let isRecorder = turn.settings.recorderKey == key
        let refusal =
            isRecorder
            ? recorderRefusal(sender, turn) : turn.directory.check(sender, key: key, at: turn.now.wall)
        if let refusal {
            turn.send(AppServerCommand.loginRefused(refusal), to: connection)
            return
        }
        let entry = table.entry(sender)
        // Draining connections do not count: an app server that was asked to reconnect must be let in. Stand-ins take no place either.
        guard
            isRecorder
                || entry.sessions.count(where: { $0.mode != .draining && $0.kind == .appServer })
                    < turn.settings.connectionsPerSender
        else {
            turn.send(AppServerCommand.loginRefused(.tooManyConnections), to: connection)
            return
        }
        guard turn.demand(entry.index(of: connection) == nil, "a connection logs in twice", of: entry) else {
            return
        }
        entry.sessions.append(
            AppServerSessionState(
                connection: connection, kind: isRecorder ? .recorder : .appServer,
                key: isRecorder ? nil : key))
        turn.send(AppServerCommand.loginAccepted, to: connection)
    }

    /// Returns why a sender's recorder is refused, or `nil` if it is not. Its key is that of all senders.
    private func recorderRefusal(_ sender: SenderID, _ turn: borrowing Turn) -> LoginRefusal? {
        guard let record = turn.directory[sender] else { return .wrongCredentials }
        return record.isSuspended ? .suspended : nil
    }

    mutating func bound(
        _ connection: ConnectionID, _ sender: SenderID, _ turn: inout Turn
    ) {
        guard let entry = table[sender], let at = entry.index(of: connection),
            entry.sessions[at].mode != .draining
        else { return }
        entry.setMode(.ready, at: at, &turn)
        adaptWebhook(of: entry, &turn)
        pump(entry, &turn)
    }

    mutating func draining(_ connection: ConnectionID, _ sender: SenderID, _ turn: inout Turn) {
        guard let entry = table[sender], let at = entry.index(of: connection) else { return }
        entry.setMode(.draining, at: at, &turn)
        adaptWebhook(of: entry, &turn)
        leaveBacklogToStore(entry)
        // Messages that waited for this session may be sent to another one now.
        pump(entry, &turn)
    }

    mutating func congested(_ connection: ConnectionID, _ sender: SenderID) {
        guard let entry = table[sender], let at = entry.index(of: connection) else { return }
        entry.sessions[at].isCongested = true
    }

    mutating func writable(
        _ connection: ConnectionID, _ sender: SenderID, _ turn: inout Turn
    ) {
        guard let entry = table[sender], let at = entry.index(of: connection) else { return }
        entry.sessions[at].isCongested = false
        pump(entry, &turn)
    }

    mutating func closed(
        _ connection: ConnectionID, _ sender: SenderID, _ turn: inout Turn
    ) {
        guard let entry = table[sender], let at = entry.index(of: connection) else { return }
        let session = entry.sessions.remove(at: at)
        forgetStreams(of: connection, in: entry, &turn)
        for item in session.window.messages + session.window.receipts {
            entry.released(item, &turn)
            if item.isStored {
                entry.rewind(before: item.sequence)
            } else {
                turn.effects.upstream.expired += 1
                turn.effects.senders.count(.upstreamExpired, of: sender)
            }
        }
        turn.demand(
            !entry.sessions.isEmpty || entry.sticky.isEmpty, "messages are outstanding without a session",
            of: entry)
        adaptWebhook(of: entry, &turn)
        leaveBacklogToStore(entry)
        pump(entry, &turn)
    }

    /// Ends the sessions that may no longer send: of a sender that was removed or suspended, and those whose key was removed or has
    /// expired. Without this a session of a stolen key would go on for as long as its connection lives.
    mutating func endRevoked(of entry: SenderEntry, _ turn: inout Turn) {
        for at in entry.sessions.indices where entry.sessions[at].kind != .webhook {
            guard let reason = revocation(of: entry.sessions[at], entry.sender, turn) else { continue }
            entry.setMode(.draining, at: at, &turn)
            turn.send(.close(reason), to: entry.sessions[at].connection)
        }
        leaveBacklogToStore(entry)
    }

    /// Returns why a session may no longer send, or `nil` if it may.
    private func revocation(
        of session: AppServerSessionState, _ sender: SenderID, _ turn: borrowing Turn
    ) -> CloseReason? {
        guard let record = turn.directory[sender] else { return .credentialsRevoked }
        if record.isSuspended { return .senderSuspended }
        guard let key = session.key else { return nil }
        return turn.directory.check(sender, key: key, at: turn.now.wall) == nil ? nil : .credentialsRevoked
    }

    /// Ends the sessions whose key has expired since the last tick: that of a rotation with an overlap.
    mutating func endExpired(of entry: SenderEntry, _ turn: inout Turn) {
        guard let keys = turn.directory[entry.sender]?.keys, keys.contains(where: { $0.expiresAt != nil }),
            entry.sessions.contains(where: { session in
                session.mode != .draining && revocation(of: session, entry.sender, turn) != nil
            })
        else { return }
        endRevoked(of: entry, &turn)
    }

    /// Drops the backlog if no session accepts messages; it is read again later.
    func leaveBacklogToStore(_ entry: SenderEntry) {
        guard !entry.hasReadySession, let first = entry.backlog.first else { return }
        entry.rewind(before: first.sequence)
    }
}
