import Basics

/// Sessions of app servers: logins, drains, ends.
extension Dispatcher {
    mutating func appServerLogin(
        _ connection: ConnectionID, _ sender: SenderID, _ key: SecretDigest, _ now: Now,
        _ effects: inout Effects
    ) {
        if let refusal = directory.check(sender, key: key, at: now.wall) {
            effects.commands.append((connection, .loginRefused(refusal)))
            return
        }
        let entry = senders.entry(sender)
        // Those that are being drained are on their way out: whoever was told to reconnect must be let in.
        guard entry.sessions.count(where: { $0.mode != .draining }) < settings.connectionsPerSender else {
            effects.commands.append((connection, .loginRefused(.tooManyConnections)))
            return
        }
        entry.sessions.append(AppServerSessionState(connection: connection))
        effects.commands.append((connection, .loginAccepted))
    }

    mutating func appServerReady(
        _ connection: ConnectionID, _ sender: SenderID, _ now: Now, _ effects: inout Effects
    ) {
        guard let entry = senders[sender], let at = entry.index(of: connection),
            entry.sessions[at].mode == .loggedIn
        else { return }
        entry.sessions[at].mode = .ready
        pump(entry, now, &effects)
    }

    mutating func appServerDraining(_ connection: ConnectionID, _ sender: SenderID) {
        guard let entry = senders[sender], let at = entry.index(of: connection) else { return }
        entry.sessions[at].mode = .draining
        leaveBacklogToStore(entry)
    }

    mutating func appServerCongested(_ connection: ConnectionID, _ sender: SenderID) {
        guard let entry = senders[sender], let at = entry.index(of: connection) else { return }
        entry.sessions[at].isCongested = true
    }

    mutating func appServerRelieved(
        _ connection: ConnectionID, _ sender: SenderID, _ now: Now, _ effects: inout Effects
    ) {
        guard let entry = senders[sender], let at = entry.index(of: connection) else { return }
        entry.sessions[at].isCongested = false
        pump(entry, now, &effects)
    }

    mutating func appServerClosed(
        _ connection: ConnectionID, _ sender: SenderID, _ now: Now, _ effects: inout Effects
    ) {
        guard let entry = senders[sender], let at = entry.index(of: connection) else { return }
        let session = entry.sessions.remove(at: at)
        forgetStreams(of: connection, in: entry, &effects)
        for item in session.window.messages + session.window.receipts {
            entry.released(item)
            if item.isStored {
                entry.rewind(before: item.sequence)
            } else {
                effects.upstream.expired += 1
            }
        }
        leaveBacklogToStore(entry)
        pump(entry, now, &effects)
    }

    /// Where nobody takes messages, none is kept in memory.
    private func leaveBacklogToStore(_ entry: SenderEntry) {
        guard !entry.hasReadySession, let first = entry.backlog.first else { return }
        entry.rewind(before: first.sequence)
    }

    mutating func replaceDirectory(_ directory: SenderDirectory, _ effects: inout Effects) {
        self.directory = directory
        messageBuckets.keep { directory[$0] != nil }
        topicBuckets.keep { directory[$0] != nil }
        for entry in senders.all {
            if let record = directory[entry.sender], !record.isSuspended { continue }
            for at in entry.sessions.indices {
                entry.sessions[at].mode = .draining
                effects.commands.append((entry.sessions[at].connection, .close(.credentialsRevoked)))
            }
            leaveBacklogToStore(entry)
        }
    }

    mutating func tickSenders(_ now: Now, _ effects: inout Effects) {
        let settleBy = now.monotonic.advanced(seconds: -settings.receiptSettleSeconds)
        for entry in senders.all {
            // One that does not read may not have been written to.
            for at in entry.sessions.indices where !entry.sessions[at].isCongested {
                while let item = entry.sessions[at].window.removeReceipt(sentBy: settleBy) {
                    remove(item, of: entry, reason: .delivered, &effects)
                }
            }
            if !entry.failedRemovals.isEmpty {
                effects.mutations.append(contentsOf: entry.failedRemovals)
                entry.failedRemovals = []
                turn.removesUpstream = true
            }
            forgetOldStreams(of: entry, now)
            pump(entry, now, &effects)
            forgetIfUnneeded(entry)
        }
    }

    /// A removed sender stays in memory only until nothing of it is under way.
    private mutating func forgetIfUnneeded(_ entry: SenderEntry) {
        guard entry.sessions.isEmpty, entry.leaving.isEmpty, entry.load == nil,
            directory[entry.sender] == nil
        else { return }
        senders.remove(entry.sender)
    }
}
