import Basics

/// Connections of devices: login, flow control and end.
extension DeviceHub {
    mutating func login(_ login: DeviceLogin, _ entry: DeviceEntry, _ turn: inout Turn) {
        guard let record = entry.record(ofToken: login.token) else {
            turn.send(DeviceCommand.loginRefused(.wrongCredentials), to: login.connection)
            turn.traceConnection(
                login.device, .loginRefused, detail: LoginRefusal.wrongCredentials.rawValue)
            return
        }
        if let old = entry.link {
            turn.send(.close(.replacedByNewerLogin), to: old.connection)
            turn.traceConnection(
                login.device, .disconnected, detail: CloseReason.replacedByNewerLogin.rawValue)
            entry.unlink(&turn)
        }
        let hasRemoved = removeReceived(login.received, entry, &turn)
        entry.connect(login, since: turn.now.monotonic)
        listTopics(entry)
        recordLogin(entry, record, &turn)
        if hasRemoved {
            turn.wait(.device(entry, .login(login.connection)))
        } else {
            accept(entry, &turn)
        }
    }

    /// Removes the messages that the device reports as received. Returns whether the login has to wait for their removal, since the
    /// device drops its list when the login is accepted (mcs-device 3.1).
    private mutating func removeReceived(
        _ received: [PersistentID], _ entry: DeviceEntry, _ turn: inout Turn
    ) -> Bool {
        var hasRemoved = false
        for id in received.suffix(Limits.MCS.receivedIDs) {
            guard let at = entry.mailbox.index(of: id.sequence),
                entry.mailbox.slots[at].entry.salt == id.salt
            else { continue }
            removeAcknowledged(at, of: entry, &turn)
            hasRemoved = true
        }
        return hasRemoved && entry.batches.isTouched
    }

    mutating func loginCommitted(
        _ connection: ConnectionID, _ entry: DeviceEntry, hasFailed: Bool, _ turn: inout Turn
    ) {
        guard let link = entry.link, link.connection == connection, case .accepting = link.mode else {
            return
        }
        if hasFailed {
            turn.send(DeviceCommand.loginRefused(.unavailable), to: connection)
            entry.unlink(&turn)
            listTopics(entry)
        } else {
            accept(entry, &turn)
        }
    }

    /// Ends the connection of a device, if there is one.
    func close(_ entry: DeviceEntry, _ reason: CloseReason, _ turn: inout Turn) {
        guard let link = entry.link else { return }
        turn.send(.close(reason), to: link.connection)
        entry.setMode(.closing, &turn)
    }

    private mutating func accept(_ entry: DeviceEntry, _ turn: inout Turn) {
        guard let link = turn.demand(entry.link, "a login is accepted without a connection", of: entry) else {
            return
        }
        turn.send(DeviceCommand.loginAccepted, to: link.connection)
        entry.setMode(.paused, &turn)
        turn.traceConnection(entry.device, .connected)
        proceed(entry, &turn)
    }

    mutating func closed(_ connection: ConnectionID, _ entry: DeviceEntry, _ turn: inout Turn) {
        if entry.link?.connection == connection {
            entry.unlink(&turn)
            listTopics(entry)
            turn.traceConnection(entry.device, .disconnected)
            // The device was connected until now, so this is its last contact, not the login.
            if !entry.state.isReady {
                pendingLastSeen.record(entry.device, at: turn.contactTime)
            } else if let record = entry.record {
                updateLastSeen(entry, record, every: Limits.Device.seenAtCloseSeconds, &turn)
            }
        } else {
            entry.dropWaiting { event in
                if case .login(let login) = event { login.connection == connection } else { false }
            }
        }
    }

    func congested(_ connection: ConnectionID, _ entry: DeviceEntry) {
        if entry.link?.connection == connection { entry.updateLink { $0.setCongested(true) } }
    }

    mutating func writable(_ connection: ConnectionID, _ entry: DeviceEntry, _ turn: inout Turn) {
        guard let link = entry.link, link.connection == connection else { return }
        entry.updateLink { $0.setCongested(false) }
        if case .paused = link.mode, entry.state.isReady { proceed(entry, &turn) }
    }
}
