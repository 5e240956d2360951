import Basics
import Delivery
import Operator
import Store
import Wire

/// The export: pages of rows, each read at once.
extension ControlServer {
    func exportRecords(_ command: ExportRecords) throws(OperatorProblem) -> ExportRecords.Answer {
        let page = try reading { () throws(StoreError) -> Page in try self.page(of: command) }
        return ExportRecords.Answer(rows: page.rows.map { $0.json.members ?? [] }, next: page.next)
    }

    private func page(of command: ExportRecords) throws(StoreError) -> Page {
        switch command.part {
        case .secrets: return (try secretRows(), nil)
        case .senders:
            let senders = try daemon.store.senders()
            return (senders.map { ExportedRow.sender(ExportedSender($0)) }, nil)
        case .devices: return try deviceRows(after: command.after, command.limit)
        case .installations: return try installationRows(after: command.after, command.limit)
        case .groups: return try groupRows(after: command.after, command.limit)
        }
    }

    private typealias Page = (rows: [ExportedRow], next: String?)

    private func secretRows() throws(StoreError) -> [ExportedRow] {
        try daemon.store.setting(ExportedSecret.Name.token.rawValue).map {
            [.secret(ExportedSecret(name: .token, value: Redacted($0)))]
        } ?? []
    }

    private func deviceRows(after: String?, _ limit: Int) throws(StoreError) -> Page {
        let start = after.flatMap { UInt64($0) }.map { DeviceID($0) }
        var rows: [ExportedRow] = []
        let devices = try daemon.store.devices(after: start, limit: limit)
        for (at, device) in devices.enumerated() {
            // One device may have many rows: the page ends early then.
            guard rows.count < Limits.Backup.exportedRows else {
                return (rows, "\(devices[at - 1].device.number)")
            }
            guard case .device(let state) = try daemon.store.load(.device(device.device)),
                let record = state.record
            else { continue }
            rows.append(.device(ExportedDevice(record)))
            rows += state.registrations.map { .registration(ExportedRegistration($0)) }
            rows += state.subscriptions.map { .subscription(ExportedSubscription($0)) }
        }
        return (rows, devices.count == limit ? devices.last.map { "\($0.device.number)" } : nil)
    }

    private func installationRows(after: String?, _ limit: Int) throws(StoreError) -> Page {
        let found = try daemon.store.installations(after: after.map { Array($0.utf8) }, limit: limit)
        let last = found.last.map { String(decoding: $0.record.id, as: UTF8.self) }
        return (
            found.map { .installation(ExportedInstallation($0.record)) },
            found.count == limit ? last : nil
        )
    }

    private func groupRows(after: String?, _ limit: Int) throws(StoreError) -> Page {
        let parts = (after ?? "").split(separator: "/").compactMap { UInt64($0) }
        let start = parts.count == 2 ? GroupName(sender: SenderID(parts[0]), number: parts[1]) : nil
        let groups = try daemon.store.groups(after: start, limit: limit)
        let last = groups.last.map { "\($0.name.sender.number)/\($0.name.number)" }
        return (groups.map { .group(ExportedGroup($0)) }, groups.count == limit ? last : nil)
    }
}

extension ExportedSender {
    fileprivate init(_ record: SenderRecord) {
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
            isProved: registration.isProved, scope: scope, scopeText: text,
            apnsToken: registration.apnsToken, appVersion: registration.appVersion,
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
            members: group.members.map { Member(device: $0.device, number: Int($0.number.number)) },
            createdAt: group.createdAt)
    }
}
