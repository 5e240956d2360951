import Basics
import Delivery
import Operator
import Store
import Transport

/// The commands for devices and sessions.
extension ControlServer {
    func showDevice(_ command: ShowDevice) throws(OperatorProblem) -> ShowDevice.Answer {
        let (device, _) = try resolved(command.device)
        let loaded = try reading { () throws(StoreError) in try daemon.storage.store.load(.device(device)) }
        guard case .device(let state) = loaded, let record = state.record else { throw unknown(device) }
        let connection = try ask { host in
            host.allLinks.first { $0.kind == .device && $0.isLoggedIn && $0.peerNumber == device.number }?
                .summary
        }.compactMap { $0 }.first
        let expiry = daemon.configuration.deviceExpirySeconds
        let expires = expiry > 0 && connection == nil && record.seenAt >= Limits.Clock.earliest
        return ShowDevice.Answer(
            device: device, createdAt: record.createdAt, seenAt: Self.contact(record.seenAt),
            expiresAt: expires ? record.seenAt + Int64(expiry) * 1_000 : nil, isOnline: connection != nil,
            connection: connection, registrations: state.registrations.map { row($0, state.mailbox) },
            mailbox: counts(state.mailbox),
            pending: state.mailbox.prefix(Limits.Operator.shownMessages).map(row))
    }

    /// The last contact of a device or use of an installation; `nil` if the clock was in doubt then.
    static func contact(_ time: UnixMilliseconds) -> UnixMilliseconds? {
        time >= Limits.Clock.earliest ? time : nil
    }

    private func row(_ registration: Registration, _ mailbox: [MailboxEntry]) -> ShowDevice.RegistrationRow {
        ShowDevice.RegistrationRow(
            number: Int(registration.name.number.number),
            token: Redacted(
                String(decoding: daemon.secrets.seal.token(for: registration.tokenName), as: UTF8.self)),
            category: String(decoding: registration.category, as: UTF8.self),
            subtype: String(decoding: registration.subtype, as: UTF8.self),
            sender: String(decoding: registration.senderText, as: UTF8.self), kind: registration.kind,
            waiting: mailbox.count { $0.registration == registration.name.number },
            createdAt: registration.createdAt)
    }

    private func counts(_ mailbox: [MailboxEntry]) -> ShowDevice.MailboxCounts {
        ShowDevice.MailboxCounts(
            messages: mailbox.count { $0.kind == .message },
            withCollapseKey: mailbox.count { $0.collapseKey != nil },
            deletedMarkers: mailbox.count { if case .discardedMarker = $0.kind { true } else { false } },
            sendErrors: mailbox.count { $0.kind.isReport },
            pendingReceipts: mailbox.count { $0.receipt != nil })
    }

    private func row(_ entry: MailboxEntry) -> ShowDevice.PendingRow {
        ShowDevice.PendingRow(
            persistentID: PersistentID(sequence: entry.sequence, salt: entry.salt).text,
            registration: Int(entry.registration.number), expiresAt: entry.expiresAt)
    }

    func forgetDevice(_ command: ForgetDevice, _ call: Call) throws(OperatorProblem) -> ForgetDevice.Answer {
        let device = command.device
        let loaded = try reading { () throws(StoreError) in try daemon.storage.store.load(.device(device)) }
        var wasKnown = false
        if case .device(let state) = loaded { wasKnown = state.record != nil }
        let answer = try submit(from: call.connection) { .forgetDevice(device, $0) }
        guard case .reply(_, .forgotten(let registrations, let messages)) = answer else {
            throw OperatorProblem(
                "the change was not confirmed, and may still take effect",
                hint: "see the log of ccsd for the reason, then repeat the command")
        }
        guard registrations > 0 || messages > 0 || wasKnown else { throw unknown(device) }
        return ForgetDevice.Answer(registrations: registrations, messages: messages)
    }

    /// Returns the device that a command names by number or token; for a token also its registration.
    func resolved(_ target: DeviceTarget) throws(OperatorProblem) -> (DeviceID, RegistrationNumber?) {
        switch target {
        case .device(let device): return (device, nil)
        case .token(let token):
            guard let name = daemon.secrets.seal.name(of: Array(token.revealed.utf8).raw) else {
                throw OperatorProblem(
                    "invalid device: expected the number of a device or a registration token of this server",
                    hint: "ccsctl devices list shows all devices", field: "device")
            }
            return (name.device, name.number)
        }
    }

    /// The problem of an unknown device.
    func unknown(_ device: DeviceID) -> OperatorProblem {
        OperatorProblem(
            "unknown device \(device.number)", hint: "ccsctl devices list shows all devices")
    }

    func listSessions(_ command: ListSessions) throws(OperatorProblem) -> ListSessions.Answer {
        let limit = command.limit
        let answers = try ask { host in
            let links = host.allLinks.filter { $0.isLoggedIn }
            return (links.prefix(limit).map(\.summary), links.count)
        }
        let rows = Array(answers.flatMap(\.0).prefix(limit))
        return ListSessions.Answer(
            sessions: rows, leftOut: answers.reduce(0) { $0 + $1.1 } - rows.count)
    }
}

extension Link {
    /// The row in `ccsctl sessions list`.
    var summary: SessionRow {
        SessionRow(
            id: SessionID(connection.id), kind: kind.rawValue, peer: "\(connection.peer)",
            sender: kind.isAppServer ? peerName : nil, device: kind.isAppServer ? nil : peerName,
            since: openedAt)
    }
}

extension Registration {
    /// The payloads that it accepts: encrypted by ccsd (`web`), encrypted by the app server (`web_endpoint`), or plain (`app`).
    fileprivate var kind: String {
        if web != nil { return "web" }
        return sender == nil ? "web_endpoint" : "app"
    }
}
