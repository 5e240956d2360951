import Basics
import Delivery
import Store
import Transport
import Wire

extension ControlServer {
    /// A page of the devices, in the order of their ids: no counting, which would read all of them.
    func listDevices(_ request: Request) throws(Problem) -> JSONValue {
        let limit = try integer("limit", in: request, default: 100, range: 1...Limits.listedRows)
        var after: DeviceID?
        if let text = request.arguments["after"]?.text {
            guard let number = UInt64(text) else {
                throw Problem(text: "after is the decimal number of a device")
            }
            after = DeviceID(number)
        }
        let start = after
        let devices = try reading { () throws(StoreError) in
            try daemon.store.devices(after: start, limit: limit + 1)
        }
        let page = devices.prefix(limit)
        var members: [JSONValue.Member] = [
            .init(
                "devices",
                .array(
                    page.map { record in
                        .object([
                            .init("device", .string(String(record.device.number))),
                            .init("created_at", .string(Timestamp.text(record.createdAt))),
                            .init("seen_at", Self.contact(record.seenAt)),
                        ])
                    }))
        ]
        if devices.count > limit, let last = page.last {
            members.append(.init("next_after", .string(String(last.device.number))))
        }
        return .object(members)
    }

    func showDevice(_ request: Request) throws(Problem) -> JSONValue {
        let (device, _) = try requiredTarget(request)
        let loaded = try reading { () throws(StoreError) in try daemon.store.load(.device(device)) }
        guard case .device(let state) = loaded, let record = state.record else { throw unknown(device) }
        let name = String(device.number)
        let connection = try ask { host in
            host.allLinks.first { $0.kind == .device && $0.isLoggedIn && $0.peerNumber == device.number }?
                .summary
        }.compactMap { $0 }.first
        let expiry = daemon.configuration.deviceExpirySeconds
        var members: [JSONValue.Member] = [
            .init("device", .string(name)), .init("created_at", .string(Timestamp.text(record.createdAt))),
            .init("seen_at", Self.contact(record.seenAt)),
        ]
        if expiry > 0, connection == nil, record.seenAt >= Limits.earliestClock {
            let end = record.seenAt + Int64(expiry) * 1_000
            members.append(.init("expires_at", .string(Timestamp.text(end))))
        }
        members += [
            .init("online", .boolean(connection != nil)), .init("connection", connection ?? .null),
            .init("registrations", .array(state.registrations.map { row($0, state.mailbox) })),
            .init("mailbox", counts(state.mailbox)),
            .init("pending", .array(state.mailbox.prefix(Limits.shownMessages).map(row))),
        ]
        return .object(members)
    }

    /// When a device was here or an installation was used; null where the clock was in doubt then.
    static func contact(_ time: UnixMilliseconds) -> JSONValue {
        time >= Limits.earliestClock ? .string(Timestamp.text(time)) : .null
    }

    private func row(_ registration: Registration, _ mailbox: [MailboxEntry]) -> JSONValue {
        .object([
            .init("number", .integer(Int(registration.name.number.number))),
            .init(
                "token", .string(String(decoding: daemon.seal.token(for: registration.name), as: UTF8.self))),
            .init("category", .string(String(decoding: registration.category, as: UTF8.self))),
            .init("subtype", .string(String(decoding: registration.subtype, as: UTF8.self))),
            .init("sender_id", .string(String(decoding: registration.senderText, as: UTF8.self))),
            .init("kind", .string(registration.kind)),
            .init("waiting", .integer(mailbox.count { $0.registration == registration.name.number })),
            .init("created_at", .string(Timestamp.text(registration.createdAt))),
        ])
    }

    private func counts(_ mailbox: [MailboxEntry]) -> JSONValue {
        .object([
            .init("messages", .integer(mailbox.count { $0.kind == .message })),
            .init("with_collapse_key", .integer(mailbox.count { $0.collapseKey != nil })),
            .init(
                "deleted_markers",
                .integer(mailbox.count { if case .discardedMarker = $0.kind { true } else { false } })),
            .init("send_errors", .integer(mailbox.count { $0.kind == .sendError })),
            .init("receipts_owed", .integer(mailbox.count { $0.receipt != nil })),
        ])
    }

    private func row(_ entry: MailboxEntry) -> JSONValue {
        .object([
            .init("persistent_id", .string(PersistentID(sequence: entry.sequence, salt: entry.salt).text)),
            .init("registration", .integer(Int(entry.registration.number))),
            .init("expires_at", .string(Timestamp.text(entry.expiresAt))),
        ])
    }

    func forgetDevice(_ request: Request) throws(Problem) -> JSONValue {
        let device = try requiredDevice(request)
        let loaded = try reading { () throws(StoreError) in try daemon.store.load(.device(device)) }
        var wasKnown = false
        if case .device(let state) = loaded { wasKnown = state.record != nil }
        let answer = try submit(from: request.connection) { .forgetDevice(device, $0) }
        guard case .reply(_, .forgotten(let registrations, let messages)) = answer else {
            throw Problem(
                text: "the store did not take the change", hint: "see the log of ccsd for the store's words")
        }
        guard registrations > 0 || messages > 0 || wasKnown else { throw unknown(device) }
        return .object([
            .init("registrations", .integer(registrations)), .init("messages", .integer(messages)),
        ])
    }

    /// The device that the request names by its number.
    func requiredDevice(_ request: Request) throws(Problem) -> DeviceID {
        guard let text = request.arguments["device"]?.text, let number = UInt64(text), number > 0 else {
            throw Problem(
                text: "device is the decimal number of a device",
                hint: "ccsctl devices list shows those there are")
        }
        return DeviceID(number)
    }

    /// What to say about a device that is not there.
    func unknown(_ device: DeviceID) -> Problem {
        Problem(
            text: "there is no device \(device.number)", hint: "ccsctl devices list shows those there are")
    }

    func listSessions(_ request: Request) throws(Problem) -> JSONValue {
        let limit = try integer("limit", in: request, default: 1_000, range: 1...Limits.listedRows)
        let answers = try ask { host in
            let links = host.allLinks.filter { $0.isLoggedIn }
            return (links.prefix(limit).map(\.summary), links.count)
        }
        let rows = answers.flatMap(\.0).prefix(limit)
        return .object([
            .init("sessions", .array(Array(rows))),
            .init("left_out", .integer(answers.reduce(0) { $0 + $1.1 } - rows.count)),
        ])
    }
}

extension Link {
    /// The row of `ccsctl sessions list`.
    var summary: JSONValue {
        let id = connection.id
        return .object([
            .init("id", .string("\(id.reactor)-\(id.slot)-\(id.generation)")),
            .init("kind", .string(kind.rawValue)),
            .init("peer", .string("\(connection.peer)")),
            .init(kind.isAppServer ? "sender_id" : "device", .string(peerName)),
            .init("since", .string(Timestamp.text(openedAt))),
        ])
    }
}

extension Registration {
    /// What may be sent to it: payloads that are encrypted here, those that the app server encrypts, or plain ones.
    fileprivate var kind: String {
        if web != nil { return "web" }
        return sender == nil ? "web_endpoint" : "app"
    }
}
