import Basics
import Crypto
import Delivery
import Synchronization
import Transport

/// Management of the senders' service accounts (http 9.2).
extension Senders {
    /// Random bytes of a key ID, for 40 hexadecimal digits as in Google's.
    private static let keyIDBytes = 20

    /// Creates an account with a public key.
    func addAccount(
        of sender: SenderID, publicKey: [UInt8], now: UnixMilliseconds
    ) throws(Problem) -> (account: ServiceAccount, project: String) {
        try changes.withLock { _ throws(Problem) in
            guard var record = directory[sender] else { throw Self.unknown(sender) }
            guard RSAKey.isPublicKey(publicKey, bits: Limits.Operator.accountKeyBits) else {
                throw Problem(
                    text: "invalid public_key: expected an RSA key of \(Limits.Operator.accountKeyBits) bits",
                    hint: "ccsctl service-accounts add generates one")
            }
            guard record.accounts.count < Limits.Operator.accountsPerSender else {
                throw Problem(
                    text: "sender \(sender.number) has \(Limits.Operator.accountsPerSender) service accounts",
                    hint: "remove one with ccsctl service-accounts remove")
            }
            let keyID = Hex.text(SecureRandom.bytes(Self.keyIDBytes))
            let account = ServiceAccount(
                email:
                    "firebase-adminsdk-\(keyID.prefix(8))@\(record.projectID).iam.gserviceaccount.com",
                keyID: keyID, publicKey: publicKey, createdAt: now)
            record.accounts.append(account)
            try put(record)
            return (account, record.projectID)
        }
    }

    /// Removes an account by the ID of its key; its access tokens become invalid.
    func removeAccount(of sender: SenderID, keyID: String) throws(Problem) -> ServiceAccount {
        try changes.withLock { _ throws(Problem) in
            guard var record = directory[sender] else { throw Self.unknown(sender) }
            guard let place = record.accounts.firstIndex(where: { $0.keyID == keyID }) else {
                throw Problem(
                    text: "sender \(sender.number) has no service account with this key",
                    hint: "ccsctl service-accounts list shows all accounts")
            }
            let removed = record.accounts.remove(at: place)
            try put(record)
            return removed
        }
    }

    /// Returns the project ID for a new sender, or an empty text for the default one derived from the sender ID.
    ///
    /// The project ID must be unique, and must not be the default of another sender, which may be added later.
    func checked(project: String?, of sender: SenderID) throws(Problem) -> String {
        guard let project, project != SenderRecord.presetProject(sender) else {
            if let other = directory.sender(ofProject: SenderRecord.presetProject(sender)) {
                throw Self.taken(SenderRecord.presetProject(sender), by: other)
            }
            return ""
        }
        guard SenderRecord.isProjectID(project) else {
            throw Problem(
                text:
                    "invalid project ID: expected \(Limits.Operator.projectBytes.lowerBound) to \(Limits.Operator.projectBytes.upperBound) lower-case letters, digits and dashes, starting with a letter and not ending with a dash",
                hint: "the default is \(SenderRecord.presetProject(sender))")
        }
        if project.hasPrefix("ccs-"), project.dropFirst(4).utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            throw Problem(
                text: "the project ID \(project) is reserved for the sender with that number",
                hint: "choose another name")
        }
        if let other = directory.sender(ofProject: project) { throw Self.taken(project, by: other) }
        return project
    }

    private static func taken(_ project: String, by other: SenderID) -> Problem {
        Problem(
            text: "project \(project) belongs to sender \(other.number)",
            hint: "ccsctl senders list shows all projects")
    }
}
