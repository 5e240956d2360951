import Basics
import Delivery
import Store
import Wire

extension ControlServer {
    /// A page of the installations, in the order of their ids.
    func listInstallations(_ request: Request) throws(Problem) -> JSONValue {
        let limit = try integer("limit", in: request, default: 100, range: 1...Limits.listedRows)
        var start: [UInt8]?
        if request.arguments["after"] != nil { start = try requiredInstallation(request, "after") }
        let after = start
        let found = try reading { () throws(StoreError) in
            try daemon.store.installations(after: after, limit: limit + 1)
        }
        let page = found.prefix(limit)
        var members: [JSONValue.Member] = [
            .init("installations", .array(page.map { row($0.record, $0.registrations) }))
        ]
        if found.count > limit, let last = page.last {
            members.append(.init("next_after", .string(String(decoding: last.record.id, as: UTF8.self))))
        }
        return .object(members)
    }

    func showInstallation(_ request: Request) throws(Problem) -> JSONValue {
        let id = try requiredInstallation(request)
        let loaded = try reading { () throws(StoreError) in
            try daemon.store.load(
                .installation(id, limit: Limits.registrationsPerInstallation, isForChange: false))
        }
        guard case .installation(_, let record?, let names, _) = loaded else { throw unknown(id) }
        return row(record, names.count)
    }

    /// Ends the tokens of an installation; what it has registered goes on until the app gets another one.
    func revokeInstallation(_ request: Request) throws(Problem) -> JSONValue {
        let id = try requiredInstallation(request)
        let answer = try submit(from: request.connection) { origin in
            .installation(
                InstallationRequest(origin: origin, installation: id, sender: nil, action: .revoke))
        }
        switch answer {
        case .reply(_, .installation(let record, let registrations)): return row(record, registrations)
        case .reply(_, .registrationRefused(.notRegistered)): throw unknown(id)
        default:
            throw Problem(
                text: "the store did not take the change", hint: "see the log of ccsd for the store's words")
        }
    }

    private func row(_ record: InstallationRecord, _ registrations: Int) -> JSONValue {
        .object([
            .init("installation", .string(String(decoding: record.id, as: UTF8.self))),
            .init("sender_id", .string(String(record.sender?.number ?? 0))),
            .init("ended", .boolean(record.refresh == nil)),
            .init("created_at", .string(Timestamp.text(record.createdAt))),
            .init("used_at", Self.contact(record.usedAt)),
            .init("registrations", .integer(registrations)),
        ])
    }

    private func requiredInstallation(
        _ request: Request, _ name: String = "installation"
    ) throws(Problem) -> [UInt8] {
        let id = Array((request.arguments[name]?.text ?? "").utf8)
        guard id.count == InstallationToken.idLength else {
            throw Problem(
                text: "invalid \(name): expected an ID of \(InstallationToken.idLength) characters",
                hint: "it is what the app knows as its Firebase installation ID")
        }
        return id
    }

    private func unknown(_ id: [UInt8]) -> Problem {
        Problem(
            text: "there is no installation \(String(decoding: id, as: UTF8.self))",
            hint:
                "ccsctl installations list shows those there are; one that is not used for long is forgotten")
    }
}
