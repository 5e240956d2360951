import Basics
import Delivery
import Operator
import Store
import Webhooks
import Wire

/// The import: rows of senders and groups one by one, and all devices and all installations of a page at once, to share commits.
extension ControlServer {
    func importRecords(
        _ command: ImportRecords, _ call: Call
    ) throws(OperatorProblem) -> ImportRecords.Answer {
        guard !daemon.storeThreads.registry.isFull else { throw Self.registryFull }
        var page = ImportPage(command, reach: daemon.configuration.webhookReach)
        for (line, row) in page.rows {
            switch row {
            case .secret(let secret): page.count(try importSecret(secret), at: line)
            case .sender(let sender): page.count(try importSender(sender, command.replaces), at: line)
            case .device, .registration, .subscription, .installation, .group: break
            }
        }
        let seal = try importedSeal()
        try importInstallations(&page, command.replaces, call)
        try importDevices(&page, command.replaces, seal, call)
        for case (let line, .group(let group)) in page.rows {
            page.count(try importGroup(group, command.replaces, call), at: line)
        }
        return page.answer(needsRestart: seal != nil)
    }

    // MARK: Secrets

    /// Imports the secret of another server, if this one has handed out nothing that depends on its own.
    private func importSecret(_ secret: ExportedSecret) throws(OperatorProblem) -> ImportOutcome {
        let (name, value) = (secret.name.rawValue, secret.value.revealed)
        let known = try reading { () throws(StoreError) in try daemon.store.setting(name) }
        guard known.map({ !ConstantTime.equal($0, value) }) ?? true else { return .unchanged }
        guard daemon.cluster == nil else {
            throw OperatorProblem(
                "this node has the secret of its cluster.json, and the export has another one: the tokens of the export would be valid on this node only",
                hint: "found the cluster with ccsctl cluster found --export and this file, then import it"
            )
        }
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

    /// Returns the seal of an imported secret, which the server uses only after a restart. Returns `nil` if it uses the stored one.
    private func importedSeal() throws(OperatorProblem) -> TokenSeal? {
        let name = RegistrationName(device: DeviceID(1), number: RegistrationNumber(1))
        let stored = try reading { () throws(StoreError) in
            try daemon.store.setting(ExportedSecret.Name.token.rawValue)
        }
        guard let seal = stored.map({ TokenSeal(secret: $0) }),
            seal.token(for: name) != daemon.seal.token(for: name)
        else { return nil }
        return seal
    }

    // MARK: Senders and installations

    private func importSender(_ row: ExportedSender, _ replaces: Bool) throws(OperatorProblem)
        -> ImportOutcome
    {
        var record = SenderRecord(row)
        record.webhook = try row.webhook.map { webhook throws(OperatorProblem) in
            try imported(webhook, of: row.sender)
        }
        let complete = record
        return try changing { () throws(Senders.Problem) in
            try daemon.senders.importSender(complete, replaces: replaces)
        }
    }

    /// Returns the record of a webhook; that of the server if it is the same, since each encryption of a secret differs.
    private func imported(
        _ row: ExportedSender.Webhook, of sender: SenderID
    ) throws(OperatorProblem) -> WebhookRecord {
        if let known = daemon.senders.directory[sender], let webhook = known.webhook,
            ExportedSender(known, daemon.webhookSecrets).webhook == row
        {
            return webhook
        }
        var record = WebhookRecord(
            url: row.url, secrets: [], state: WebhookRecord.State(row.state), createdAt: row.createdAt)
        for secret in row.secrets {
            guard let sealed = daemon.webhookSecrets.sealed(secret.secret, of: sender) else {
                throw OperatorProblem(
                    "the secret of a webhook cannot be encrypted", hint: "see the log of ccsd")
            }
            record.secrets.append(
                WebhookRecord.Secret(
                    sealed: sealed, createdAt: secret.createdAt, expiresAt: secret.expiresAt))
        }
        return record
    }

    /// Takes over installations: as with any change of one, its hub puts it in order with the others.
    private func importInstallations(
        _ page: inout ImportPage, _ replaces: Bool, _ call: Call
    ) throws(OperatorProblem) {
        var lines: [Int] = []
        var events: [(requestID: UInt32, event: Event)] = []
        for case (let line, .installation(let row)) in page.rows {
            let record = InstallationRecord(row)
            let requester = requester(of: call.connection)
            lines.append(line)
            events.append(
                (
                    requester.requestID,
                    .installation(
                        InstallationRequest(
                            requester: requester, installation: record.id, sender: record.sender,
                            action: .imported(record, replaces: replaces)))
                ))
        }
        for (line, answer) in zip(lines, try submit(from: call.connection, events)) {
            page.count(try outcomes(answer, of: "an installation", count: 1)[0], at: line)
        }
    }

    /// Returns the outcomes in an answer of the core.
    private func outcomes(
        _ answer: SessionCommand, of what: String, count: Int
    ) throws(OperatorProblem) -> [ImportOutcome] {
        switch answer {
        case .reply(_, .imported(let outcomes)) where outcomes.count == count: return outcomes
        case .reply(_, .registrationRefused(.registryFull)), .reply(_, .groupRefused(.registryFull)):
            throw Self.registryFull
        default:
            throw OperatorProblem(
                "the store did not accept \(what)", hint: "see the log of ccsd, then import again")
        }
    }

    // MARK: Devices and groups

    private func importDevices(
        _ page: inout ImportPage, _ replaces: Bool, _ seal: TokenSeal?, _ call: Call
    ) throws(OperatorProblem) {
        let imports = page.devices(replaces, seal) { requester(of: call.connection) }
        let answers = try submit(
            from: call.connection,
            imports.map { (requestID: $0.rows.requester.requestID, event: Event.imported($0.rows)) })
        for (rows, answer) in zip(imports, answers) {
            let outcomes = try outcomes(answer, of: "a device", count: rows.lines.count)
            for (line, outcome) in zip(rows.lines, outcomes) { page.count(outcome, at: line) }
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
