import Basics
import Delivery
import Operator
import Store
import Wire

/// The import: rows of senders and groups one by one, and all devices of a page at once, so that they share commits.
extension ControlServer {
    func importRecords(
        _ command: ImportRecords, _ call: Call
    ) throws(OperatorProblem) -> ImportRecords.Answer {
        guard !daemon.storeThreads.registry.isFull else { throw Self.registryFull }
        var page = ImportPage(command)
        for (line, row) in page.rows {
            switch row {
            case .secret(let secret): page.count(try importSecret(secret), at: line)
            case .sender(let sender): page.count(try importSender(sender, command.replaces), at: line)
            case .installation(let row): page.count(try importInstallation(row, command.replaces), at: line)
            case .device, .registration, .subscription, .group: break
            }
        }
        try importDevices(&page, command.replaces, call)
        for case (let line, .group(let group)) in page.rows {
            page.count(try importGroup(group, command.replaces, call), at: line)
        }
        return page.answer(needsRestart: try !usesStoredSecret())
    }

    // MARK: Secrets

    /// Imports the secret of another server, if this one has handed out nothing that depends on its own.
    private func importSecret(_ secret: ExportedSecret) throws(OperatorProblem) -> ImportOutcome {
        let (name, value) = (secret.name.rawValue, secret.value.revealed)
        let known = try reading { () throws(StoreError) in try daemon.store.setting(name) }
        guard known.map({ !ConstantTime.equal($0, value) }) ?? true else { return .unchanged }
        let isUsed = try reading { () throws(StoreError) -> Bool in
            guard try daemon.store.devices(after: nil, limit: 1).isEmpty else { return true }
            guard try daemon.store.installations(after: nil, limit: 1).isEmpty else { return true }
            return try !daemon.store.groups(after: nil, limit: 1).isEmpty
        }
        guard !isUsed else {
            throw OperatorProblem(
                "this server has devices whose tokens depend on a secret of its own, and the export has another one",
                hint:
                    "import into a server without devices: with the other secret the tokens of one side would become invalid"
            )
        }
        try reading { () throws(StoreError) in try daemon.store.setSetting(name, value) }
        return .replaced
    }

    /// Whether the running server uses the stored secret: an imported one is used after a restart.
    private func usesStoredSecret() throws(OperatorProblem) -> Bool {
        let name = RegistrationName(device: DeviceID(1), number: RegistrationNumber(1))
        let stored = try reading { () throws(StoreError) in
            try daemon.store.setting(ExportedSecret.Name.token.rawValue)
        }
        return stored.map { TokenSeal(secret: $0).token(for: name) == daemon.seal.token(for: name) } ?? true
    }

    // MARK: Senders and installations

    private func importSender(_ row: ExportedSender, _ replaces: Bool) throws(OperatorProblem)
        -> ImportOutcome
    {
        try changing { () throws(Senders.Problem) in
            try daemon.senders.importSender(SenderRecord(row), replaces: replaces)
        }
    }

    private func importInstallation(
        _ row: ExportedInstallation, _ replaces: Bool
    ) throws(OperatorProblem) -> ImportOutcome {
        var record = InstallationRecord(row)
        let loaded = try reading { () throws(StoreError) in
            try daemon.store.load(.installation(record.id, limit: 0, isForChange: false))
        }
        guard case .installation(_, let known?, _, _) = loaded else {
            try commit([.putInstallation(record)])
            return .added
        }
        record.usedAt = max(known.usedAt, record.usedAt)
        var same = known
        same.usedAt = record.usedAt
        guard same != record else { return .unchanged }
        guard replaces else { return .differs }
        try commit([.putInstallation(record)])
        return .replaced
    }

    private func commit(_ mutations: [Mutation]) throws(OperatorProblem) {
        guard let outcome = daemon.storeThreads.commitAndWait(mutations), !outcome.hasFailed else {
            throw OperatorProblem(
                "the store did not accept the change", hint: "see the log of ccsd, then import again")
        }
    }

    // MARK: Devices and groups

    private func importDevices(
        _ page: inout ImportPage, _ replaces: Bool, _ call: Call
    ) throws(OperatorProblem) {
        let imports = page.devices(replaces) { requester(of: call.connection) }
        let answers = try submit(
            from: call.connection,
            imports.map { (requestID: $0.rows.requester.requestID, event: Event.imported($0.rows)) })
        for (rows, answer) in zip(imports, answers) {
            switch answer {
            case .reply(_, .imported(let outcomes)) where outcomes.count == rows.lines.count:
                for (line, outcome) in zip(rows.lines, outcomes) { page.count(outcome, at: line) }
            case .reply(_, .registrationRefused(.registryFull)):
                throw Self.registryFull
            default:
                throw OperatorProblem(
                    "the store did not accept a device", hint: "see the log of ccsd, then import again")
            }
        }
    }

    private static let registryFull = OperatorProblem(
        "the registry is full", hint: "raise registry_bytes, reload, and import again")

    private func importGroup(
        _ row: ExportedGroup, _ replaces: Bool, _ call: Call
    ) throws(OperatorProblem) -> ImportOutcome {
        let group = GroupRecord(row)
        let loaded = try reading { () throws(StoreError) in
            try daemon.store.load(.group(group.name, isForChange: false))
        }
        var known: GroupRecord?
        if case .group(_, let record, _) = loaded { known = record }
        guard known != group else { return .unchanged }
        // A group keeps its name for ever.
        guard known.map({ replaces && $0.label == group.label }) ?? true else { return .differs }
        let answer = try submit(from: call.connection) { requester in
            .groupRequested(
                GroupRequest(
                    requester: requester, sender: group.name.sender,
                    operation: .imported(group, replaces: replaces)))
        }
        switch answer {
        case .reply(_, .group): return known == nil ? .added : .replaced
        case .reply(_, .groupRefused(.labelTaken)): return .differs
        default:
            throw OperatorProblem(
                "the store did not accept a group", hint: "see the log of ccsd, then import again")
        }
    }
}
