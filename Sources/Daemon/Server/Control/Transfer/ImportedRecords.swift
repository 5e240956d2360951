import Basics
import Delivery
import Operator

// The records of rows that are valid (`ImportPage`).

extension SenderRecord {
    init(_ row: ExportedSender) {
        self.init(
            sender: row.sender, label: row.label,
            keys: row.keys.map { key in
                ServerKey(
                    digest: SecretDigest(bytes: key.sha256), createdAt: key.createdAt,
                    expiresAt: key.expiresAt,
                    scram: key.scram.map { scram in
                        SCRAMVerifier(
                            storedKey: scram.storedKey, serverKey: scram.serverKey, salt: scram.salt,
                            iterations: scram.iterations)
                    })
            }, createdAt: row.createdAt, isSuspended: row.isSuspended, project: row.project,
            accounts: row.accounts.map { account in
                ServiceAccount(
                    email: account.email, keyID: account.keyID, publicKey: account.publicKey,
                    createdAt: account.createdAt)
            })
    }
}

extension DeviceRecord {
    init(_ row: ExportedDevice) {
        self.init(
            device: row.device, token: SecretDigest(bytes: row.sha256), createdAt: row.createdAt,
            seenAt: row.seenAt, nextRegistration: UInt64(row.nextRegistration), hasLoggedIn: row.hasLoggedIn)
    }
}

extension Registration {
    init(_ row: ExportedRegistration) {
        self.init(
            name: RegistrationName(device: row.device, number: RegistrationNumber(UInt64(row.number))),
            category: row.category, subtype: row.subtype, senderText: row.senderText, sender: row.sender,
            otherSenders: row.otherSenders, instance: row.instance,
            web: row.web.flatMap { WebKeys(publicKey: $0.publicKey, auth: $0.auth.revealed) },
            createdAt: row.createdAt)
        isProved = row.isProved
        isTokenPrefixed = row.isTokenPrefixed
        apnsToken = row.apnsToken
        appVersion = row.appVersion
        scope =
            switch row.scope {
            case .unrecorded: .unrecorded
            case .unnamed: .unnamed
            case .all: .all
            case .only: .only(row.scopeText)
            }
    }
}

extension Subscription {
    /// Returns `nil` if the name of the topic is invalid.
    init?(_ row: ExportedSubscription) {
        guard let topic = TopicName(Array(row.topic.utf8)) else { return nil }
        self.init(
            name: RegistrationName(device: row.device, number: RegistrationNumber(UInt64(row.number))),
            sender: row.sender, topic: topic, since: row.createdAt)
    }
}

extension InstallationRecord {
    init(_ row: ExportedInstallation) {
        self.init(
            id: row.installation, sender: row.sender, refresh: row.sha256.map { SecretDigest(bytes: $0) },
            createdAt: row.createdAt, usedAt: row.usedAt)
    }
}

extension GroupRecord {
    init(_ row: ExportedGroup) {
        self.init(
            name: GroupName(sender: row.sender, number: UInt64(row.number)), label: row.label,
            members: row.members.map {
                TokenName(
                    RegistrationName(device: $0.device, number: RegistrationNumber(UInt64($0.number))),
                    prefix: TokenPrefix($0.tokenPrefix))
            }, createdAt: row.createdAt)
    }
}
