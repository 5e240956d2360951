import Basics
import Delivery
import Store
import Transport
import Wire

extension ControlServer {
    func listDevices(_ request: Request) throws(Problem) -> JSONValue {
        let limit = try integer("limit", in: request, default: 100, range: 1...Limits.listedRows)
        let (devices, total) = try reading { () throws(StoreError) in
            let devices = try daemon.store.devices(after: nil, limit: limit + 1)
            // Counting reads everything, so it is done only where something is left out.
            return (devices, devices.count > limit ? try daemon.store.audit().devices : devices.count)
        }
        return .object([
            .init(
                "devices",
                .array(
                    devices.prefix(limit).map { record in
                        .object([
                            .init("device", .string(String(record.device.number))),
                            .init("created_at", .string(Timestamp.text(record.createdAt))),
                            .init("seen_at", .string(Timestamp.text(record.seenAt))),
                        ])
                    })), .init("left_out", .integer(max(0, total - min(limit, devices.count)))),
        ])
    }

    func showDevice(_ request: Request) throws(Problem) -> JSONValue {
        let device = try requiredDevice(request)
        let loaded = try reading { () throws(StoreError) in try daemon.store.load(.device(device)) }
        guard case .device(let state) = loaded, let record = state.record else { throw unknown(device) }
        let name = String(device.number)
        let isOnline = try ask { host in
            host.allLinks.contains { $0.kind == .device && $0.isLoggedIn && $0.peerName == name }
        }.contains(true)
        return .object([
            .init("device", .string(name)), .init("created_at", .string(Timestamp.text(record.createdAt))),
            .init("seen_at", .string(Timestamp.text(record.seenAt))), .init("online", .boolean(isOnline)),
            .init("registrations", .array(state.registrations.map(row))),
            .init("pending", .array(state.mailbox.map(row))),
        ])
    }

    private func row(_ registration: Registration) -> JSONValue {
        .object([
            .init(
                "token", .string(String(decoding: daemon.seal.token(for: registration.name), as: UTF8.self))),
            .init("category", .string(String(decoding: registration.category, as: UTF8.self))),
            .init("sender_id", .string(String(decoding: registration.senderText, as: UTF8.self))),
            .init("created_at", .string(Timestamp.text(registration.createdAt))),
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
        let answer = try submit(from: request.connection) { .forgetDevice(device, $0) }
        guard case .forgotten(_, let registrations, let messages) = answer else { throw unknown(device) }
        return .object([
            .init("registrations", .integer(registrations)), .init("messages", .integer(messages)),
        ])
    }

    private func requiredDevice(_ request: Request) throws(Problem) -> DeviceID {
        guard let text = request.arguments["device"]?.text, let number = UInt64(text), number > 0 else {
            throw Problem(
                text: "device is the decimal number of a device",
                hint: "ccsctl devices list shows those there are")
        }
        return DeviceID(number)
    }

    private func unknown(_ device: DeviceID) -> Problem {
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
            .init(kind.isAppServer ? "sender_id" : "device", .string(peerName ?? "")),
            .init("since", .string(Timestamp.text(openedAt))),
        ])
    }
}
