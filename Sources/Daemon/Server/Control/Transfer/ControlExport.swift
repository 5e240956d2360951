import Basics
import Delivery
import Operator
import Store
import Wire

/// The export: pages of rows, each read at once.
extension ControlServer {
    /// Returns a page, which ends early when its rows reach this number of bytes.
    func exportRecords(
        _ command: ExportRecords, bytes: Int = Limits.Backup.exportedBytes
    ) throws(OperatorProblem) -> ExportRecords.Answer {
        var page = ExportPage(limit: bytes)
        try reading { () throws(StoreError) in
            switch command.part {
            case .secrets: try fillSecrets(&page)
            case .senders: try fillSenders(&page, after: command.after)
            case .devices: try fillDevices(&page, from: command.after, command.limit)
            case .installations: try fillInstallations(&page, after: command.after, command.limit)
            case .groups: try fillGroups(&page, after: command.after, command.limit)
            }
        }
        return ExportRecords.Answer(rows: page.rows, next: page.next)
    }

    private func fillSecrets(_ page: inout ExportPage) throws(StoreError) {
        for name in ExportedSecret.Name.allCases {
            guard let value = try daemon.store.setting(name.rawValue) else { continue }
            page.add(.secret(ExportedSecret(name: name, value: Redacted(value))))
        }
    }

    private func fillSenders(_ page: inout ExportPage, after: String?) throws(StoreError) {
        let start = after.flatMap { UInt64($0) } ?? 0
        let secrets = daemon.webhookSecrets
        let senders = try daemon.store.senders().filter { $0.sender.number > start }
        page.add(
            senders, isLast: true, { .sender(ExportedSender($0, secrets)) },
            position: { "\($0.sender.number)" })
    }

    /// Fills a page with devices and all their rows. `5` stands for the devices after number 5, `5/300` for device 5 from its row
    /// 300 on: one device may have more rows than a page.
    private func fillDevices(
        _ page: inout ExportPage, from position: String?, _ limit: Int
    ) throws(StoreError) {
        let parts = (position ?? "").split(separator: "/").compactMap { UInt64($0) }
        let (first, skipped) = (parts.first, parts.count == 2 ? parts[1] : nil)
        let start = first.flatMap { skipped == nil ? $0 : $0 > 0 ? $0 - 1 : nil }
        let devices = try daemon.store.devices(after: start.map { DeviceID($0) }, limit: limit)
        for device in devices.map(\.device) {
            guard case .device(let state) = try daemon.store.load(.device(device)), let record = state.record
            else { continue }
            let count = 1 + state.registrations.count + state.subscriptions.count
            var at = device.number == first ? Int(clamping: skipped ?? 0) : 0
            while at < count {
                guard !page.isFull else {
                    page.next = "\(device.number)/\(at)"
                    return
                }
                page.add(state.row(at, record))
                at += 1
            }
        }
        page.next = devices.count == limit ? devices.last.map { "\($0.device.number)" } : nil
    }

    private func fillInstallations(
        _ page: inout ExportPage, after: String?, _ limit: Int
    ) throws(StoreError) {
        let found = try daemon.store.installations(after: after.map { Array($0.utf8) }, limit: limit)
        page.add(
            found, isLast: found.count < limit, { .installation(ExportedInstallation($0.record)) },
            position: { String(decoding: $0.record.id, as: UTF8.self) })
    }

    private func fillGroups(_ page: inout ExportPage, after: String?, _ limit: Int) throws(StoreError) {
        let parts = (after ?? "").split(separator: "/").compactMap { UInt64($0) }
        let start = parts.count == 2 ? GroupName(sender: SenderID(parts[0]), number: parts[1]) : nil
        let found = try daemon.store.groups(after: start, limit: limit)
        page.add(
            found, isLast: found.count < limit, { .group(ExportedGroup($0)) },
            position: { "\($0.name.sender.number)/\($0.name.number)" })
    }
}

/// The rows of one page of an export.
private struct ExportPage {
    private(set) var rows: [[JSONValue.Member]] = []
    /// Where the next page starts. `nil` after the last one.
    var next: String?
    private var bytes = 0
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    /// Whether no other row may follow: the line of a response is limited.
    var isFull: Bool { bytes >= limit }

    mutating func add(_ row: ExportedRow) {
        let json = row.json
        bytes += json.compact.utf8.count
        rows.append(json.members ?? [])
    }

    /// Adds entries, as far as they fit. `position` names an entry, after which the next page starts.
    mutating func add<Entry>(
        _ entries: [Entry], isLast: Bool, _ row: (Entry) -> ExportedRow, position: (Entry) -> String
    ) {
        for (at, entry) in entries.enumerated() {
            guard !isFull else { return next = position(entries[at - 1]) }
            add(row(entry))
        }
        next = isLast ? nil : entries.last.map(position)
    }
}

extension DeviceState {
    /// Returns one of its rows: the device, its registrations, then their subscriptions.
    fileprivate func row(_ at: Int, _ record: DeviceRecord) -> ExportedRow {
        if at == 0 { return .device(ExportedDevice(record)) }
        let at = at - 1
        return at < registrations.count
            ? .registration(ExportedRegistration(registrations[at]))
            : .subscription(ExportedSubscription(subscriptions[at - registrations.count]))
    }
}

// Rows repeat the fields of records: the module of the rows, which ccsctl shares, does not know the core, and their form is fixed.

extension ExportedSender {
    init(_ record: SenderRecord, _ secrets: WebhookSecrets) {
        self.init(
            sender: record.sender, label: record.label, project: record.project,
            isSuspended: record.isSuspended, createdAt: record.createdAt,
            keys: record.keys.map { key in
                Key(
                    sha256: key.digest.bytes, createdAt: key.createdAt, expiresAt: key.expiresAt,
                    scram: key.scram.map { scram in
                        SCRAM(
                            storedKey: scram.storedKey, serverKey: scram.serverKey, salt: scram.salt,
                            iterations: scram.iterations)
                    })
            },
            accounts: record.accounts.map { account in
                Account(
                    email: account.email, keyID: account.keyID, publicKey: account.publicKey,
                    createdAt: account.createdAt)
            },
            webhook: record.webhook.map { webhook in
                Webhook(
                    url: webhook.url, state: WebhookStateName(webhook.state), createdAt: webhook.createdAt,
                    secrets: webhook.secrets.compactMap { stored in
                        secrets.opened(stored.sealed, of: record.sender).map {
                            Secret(secret: $0, createdAt: stored.createdAt, expiresAt: stored.expiresAt)
                        }
                    })
            })
    }
}

extension ExportedDevice {
    fileprivate init(_ record: DeviceRecord) {
        self.init(
            device: record.device, sha256: record.token.bytes, createdAt: record.createdAt,
            seenAt: record.seenAt, nextRegistration: Int(clamping: record.nextRegistration),
            hasLoggedIn: record.hasLoggedIn)
    }
}

extension ExportedRegistration {
    fileprivate init(_ registration: Registration) {
        let (scope, text): (Scope, [UInt8]) =
            switch registration.scope {
            case .unrecorded: (.unrecorded, [])
            case .unnamed: (.unnamed, [])
            case .all: (.all, [])
            case .only(let text): (.only, text)
            }
        self.init(
            device: registration.name.device, number: Int(registration.name.number.number),
            category: registration.category, subtype: registration.subtype,
            senderText: registration.senderText, sender: registration.sender,
            otherSenders: registration.otherSenders, instance: registration.instance,
            isProved: registration.isProved, isTokenPrefixed: registration.isTokenPrefixed, scope: scope,
            scopeText: text,
            // A row from a release that did not check device tokens: no import accepts it.
            apnsToken: AppleToken.isValid(registration.apnsToken) ? registration.apnsToken : [],
            appVersion: registration.appVersion,
            web: registration.web.map { Web(publicKey: $0.publicKey, auth: Redacted($0.auth)) },
            createdAt: registration.createdAt)
    }
}

extension ExportedSubscription {
    fileprivate init(_ subscription: Subscription) {
        self.init(
            device: subscription.name.device, number: Int(subscription.name.number.number),
            sender: subscription.sender, topic: String(decoding: subscription.topic.bytes, as: UTF8.self),
            createdAt: subscription.since)
    }
}

extension ExportedInstallation {
    fileprivate init(_ record: InstallationRecord) {
        self.init(
            installation: record.id, sender: record.sender, sha256: record.refresh?.bytes,
            createdAt: record.createdAt, usedAt: record.usedAt)
    }
}

extension ExportedGroup {
    fileprivate init(_ group: GroupRecord) {
        self.init(
            sender: group.name.sender, number: Int(clamping: group.name.number), label: group.label,
            members: group.members.map {
                Member(
                    device: $0.registration.device, number: Int($0.registration.number.number),
                    tokenPrefix: $0.prefix?.bytes ?? [])
            },
            createdAt: group.createdAt)
    }
}
