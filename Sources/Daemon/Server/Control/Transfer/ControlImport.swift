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
        guard !daemon.storage.threads.registry.isFull else { throw ImportRowResult.registryFull }
        var page = ImportPage(command, reach: daemon.configuration.webhookReach)
        for (line, row) in page.rows {
            switch row {
            case .secret(let secret): page.count(.done(try importSecret(secret, call)), at: line)
            case .sender(let sender): page.count(importSender(sender, command.replaces), at: line)
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
    ///
    /// The ports of clients close first, until the restart with which the secret is used: meanwhile imported tokens would be refused as
    /// invalid, and app servers would delete them; and what devices got would be invalid afterwards.
    private func importSecret(
        _ secret: ExportedSecret, _ call: Call
    ) throws(OperatorProblem) -> ImportOutcome {
        let (name, value) = (secret.name.rawValue, secret.value.revealed)
        let known = try reading { () throws(StoreError) in try daemon.storage.store.setting(name) }
        guard known.map({ !ConstantTime.equal($0, value) }) ?? true else { return .unchanged }
        guard daemon.core.cluster == nil else {
            throw OperatorProblem(
                "this node has the secret of its cluster.json, and the export has another one: the tokens of the export would be valid on this node only",
                hint: "found the cluster with ccsctl cluster found --export and this file, then import it"
            )
        }
        try requireUnusedSecrets()
        guard holdClients(call) != nil else {
            throw OperatorProblem("ccsd is stopping", hint: "import again when it has started")
        }
        do throws(OperatorProblem) {
            // A device may have registered before the ports were closed.
            try requireUnusedSecrets()
        } catch {
            _ = releaseClients()
            throw error
        }
        try reading { () throws(StoreError) in try daemon.storage.store.setSetting(name, value) }
        return .replaced
    }

    private func requireUnusedSecrets() throws(OperatorProblem) {
        let isUsed = try reading { () throws(StoreError) -> Bool in
            guard try daemon.storage.store.devices(after: nil, limit: 1).isEmpty else { return true }
            guard try daemon.storage.store.installations(after: nil, limit: 1).isEmpty else { return true }
            return try !daemon.storage.store.groups(after: nil, limit: 1).isEmpty
        }
        guard !isUsed else {
            throw OperatorProblem(
                "this server has devices whose tokens depend on a secret of its own, and the export has another one",
                hint:
                    "import into a server without devices: with the other secret the tokens of one side would become invalid"
            )
        }
    }

    /// Returns the seal of an imported secret, which the server uses only after a restart. Returns `nil` if it uses the stored one.
    func importedSeal() throws(OperatorProblem) -> TokenSeal? {
        let name = RegistrationName(device: DeviceID(1), number: RegistrationNumber(1))
        let stored = try reading { () throws(StoreError) in
            try daemon.storage.store.setting(ExportedSecret.Name.token.rawValue)
        }
        guard let seal = stored.map({ TokenSeal(secret: $0) }),
            seal.token(for: name) != daemon.secrets.seal.token(for: name)
        else { return nil }
        return seal
    }

    // MARK: Senders and installations

    private func importSender(_ row: SenderRow, _ replaces: Bool) -> ImportRowResult {
        var record = row.record
        if let webhook = row.webhook {
            record.webhook = imported(webhook, of: record.sender)
            guard record.webhook != nil else {
                return .refused(
                    field: "webhook.secrets",
                    "the secret of a webhook cannot be encrypted: see the log of ccsd")
            }
        }
        do throws(Senders.Problem) {
            return .done(try daemon.senders.importSender(record, replaces: replaces))
        } catch { return .refused(field: nil, error.text) }
    }

    /// Returns the record of a webhook; that of the server if it is the same, since each encryption of a secret differs. Returns `nil`
    /// if a secret cannot be encrypted.
    private func imported(_ row: SenderRow.Webhook, of sender: SenderID) -> WebhookRecord? {
        if let known = daemon.senders.directory[sender], let webhook = known.webhook,
            SenderRow(known, daemon.gateways.webhookSecrets).webhook == row
        {
            return webhook
        }
        return WebhookRecord(row, of: sender, daemon.gateways.webhookSecrets)
    }

    /// Takes over installations: as with any change of one, its hub puts it in order with the others.
    private func importInstallations(
        _ page: inout ImportPage, _ replaces: Bool, _ call: Call
    ) throws(OperatorProblem) {
        var lines: [Int] = []
        var events: [(requestID: UInt32, event: Event)] = []
        for case (let line, .installation(let record)) in page.rows {
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
            page.count(try ImportRowResult.rows(answer, of: "the installation", count: 1)[0], at: line)
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
            let results = try ImportRowResult.rows(answer, of: "the device", count: rows.lines.count)
            for (line, result) in zip(rows.lines, results) { page.count(result, at: line) }
        }
    }

    private func importGroup(
        _ group: GroupRecord, _ replaces: Bool, _ call: Call
    ) throws(OperatorProblem) -> ImportRowResult {
        var known: GroupRecord?
        do throws(StoreError) {
            let loaded = try daemon.storage.store.load(.group(group.name, isForChange: false))
            if case .group(_, let record, _) = loaded { known = record }
        } catch { return .refused(field: nil, "the store cannot read the group: \(error)") }
        guard known != group else { return .done(.unchanged) }
        // A group keeps its name for ever.
        guard known.map({ replaces && $0.label == group.label }) ?? true else { return .done(.differs) }
        let answer = try submit(from: call.connection) { requester in
            .groupRequested(
                GroupRequest(
                    requester: requester, sender: group.name.sender,
                    operation: .imported(group, replaces: replaces)))
        }
        return try ImportRowResult.group(answer, isKnown: known != nil)
    }
}

extension WebhookRecord {
    /// Converts a webhook of an export. Returns `nil` if a secret cannot be encrypted.
    fileprivate init?(_ row: SenderRow.Webhook, of sender: SenderID, _ secrets: WebhookSecrets) {
        self.init(url: row.url, secrets: [], state: State(row.state), createdAt: row.createdAt)
        for secret in row.secrets {
            guard let sealed = secrets.sealed(secret.secret, of: sender) else { return nil }
            self.secrets.append(
                Secret(sealed: sealed, createdAt: secret.createdAt, expiresAt: secret.expiresAt))
        }
    }
}
