import Basics
import Crypto
import Delivery
import Synchronization
import Transport

/// The service accounts of senders, as an operator manages them (http 9.2).
extension Senders {
    /// Bytes of randomness in the id of a key: ids of the real service have 40 hexadecimal digits.
    private static let keyIDBytes = 20

    /// Makes an account with the public half of a key.
    func addAccount(
        of sender: SenderID, publicKey: [UInt8], now: UnixMilliseconds
    ) throws(Problem) -> (account: ServiceAccount, project: String) {
        try changes.withLock { _ throws(Problem) in
            guard var record = directory[sender] else { throw Self.unknown(sender) }
            guard RSAKey.isPublicKey(publicKey, bits: Limits.Operator.accountKeyBits) else {
                throw Problem(
                    text: "public_key is no RSA key of \(Limits.Operator.accountKeyBits) bits",
                    hint: "ccsctl service-accounts add makes one")
            }
            guard record.accounts.count < Limits.Operator.accountsPerSender else {
                throw Problem(
                    text: "sender \(sender.number) has \(Limits.Operator.accountsPerSender) service accounts",
                    hint: "ccsctl service-accounts remove takes one away")
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

    /// Removes an account, by the id of its key; what it has been granted is void.
    func removeAccount(of sender: SenderID, keyID: String) throws(Problem) -> ServiceAccount {
        try changes.withLock { _ throws(Problem) in
            guard var record = directory[sender] else { throw Self.unknown(sender) }
            guard let place = record.accounts.firstIndex(where: { $0.keyID == keyID }) else {
                throw Problem(
                    text: "sender \(sender.number) has no service account with this key",
                    hint: "ccsctl service-accounts list shows those there are")
            }
            let removed = record.accounts.remove(at: place)
            try put(record)
            return removed
        }
    }

    /// The project id that a new sender gets: empty for the one made of its number.
    ///
    /// No two senders may have one, and none the number or the made id of another, which may be added later.
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
                    "a project id has \(Limits.Operator.projectBytes.lowerBound) to \(Limits.Operator.projectBytes.upperBound) lower-case letters, digits and dashes, a letter first and no dash last",
                hint: "without --project it is \(SenderRecord.presetProject(sender))")
        }
        if project.hasPrefix("ccs-"), project.dropFirst(4).utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            throw Problem(
                text: "the project id \(project) is kept for the sender of that number",
                hint: "choose another name")
        }
        if let other = directory.sender(ofProject: project) { throw Self.taken(project, by: other) }
        return project
    }

    private static func taken(_ project: String, by other: SenderID) -> Problem {
        Problem(
            text: "project \(project) belongs to sender \(other.number)",
            hint: "ccsctl senders list shows the projects there are")
    }
}
