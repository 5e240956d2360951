public import Basics

/// All senders, as one unchanging snapshot that every partition holds.
public struct SenderDirectory: Sendable {
    private let records: [SenderID: SenderRecord]
    /// Which account each key is of. A look-up by the digest of a secret tells nothing about other secrets.
    private let owners: [[UInt8]: SenderID]
    /// Which sender each key of an account is of.
    private let signers: [String: SenderID]

    /// A directory of these table.
    public init(_ records: [SenderRecord] = []) {
        self.records = Dictionary(records.map { ($0.sender, $0) }) { _, newer in newer }
        let pairs = self.records.values.flatMap { record in
            record.keys.map { ($0.digest.octets, record.sender) }
        }
        // Two accounts with one key: the older id, on every run.
        owners = Dictionary(pairs) { min($0, $1) }
        let signing = self.records.values.flatMap { record in
            record.accounts.map { ($0.keyID, record.sender) }
        }
        signers = Dictionary(signing) { min($0, $1) }
    }

    /// The record of a sender.
    public subscript(sender: SenderID) -> SenderRecord? { records[sender] }

    /// All records, by sender ID.
    public var all: [SenderRecord] { records.values.sorted { $0.sender < $1.sender } }

    /// The keys that one SCRAM exchange can try, newest first: those salted like the newest that has a verifier.
    ///
    /// Expired ones are among them, so that the answer can say so. Empty for an unknown sender too.
    public func provableKeys(of sender: SenderID) -> [ServerKey] {
        let keys = (records[sender]?.keys ?? []).reversed()
        guard let newest = keys.lazy.compactMap(\.scram).first else { return [] }
        return keys.filter { $0.scram?.salt == newest.salt && $0.scram?.iterations == newest.iterations }
    }

    /// The account that a key belongs to, where no account is named with it (http 1.3); nil: none that may use it now.
    public func sender(withKey key: SecretDigest, at now: UnixMilliseconds) -> SenderID? {
        guard let sender = owners[key.octets], check(sender, key: key, at: now) == nil else { return nil }
        return sender
    }

    /// The account of HTTP v1 with a key of this id, and whose it is; nil where there is none, or its sender is suspended.
    public func account(withKeyID keyID: String) -> (sender: SenderRecord, account: ServiceAccount)? {
        guard let sender = signers[keyID], let record = records[sender], !record.isSuspended,
            let account = record.accounts.first(where: { $0.keyID == keyID })
        else { return nil }
        return (record, account)
    }

    /// The sender whose project id this is.
    public func sender(ofProject project: String) -> SenderID? {
        records.values.lazy.filter { $0.projectID == project }.map(\.sender).min()
    }

    /// Checks a key; takes the same time for an unknown sender as for a wrong key.
    public func check(_ sender: SenderID, key: SecretDigest, at now: UnixMilliseconds) -> LoginRefusal? {
        guard let record = records[sender] else {
            _ = key == SecretDigest(octets: [UInt8](repeating: 0, count: 32))
            return .wrongCredentials
        }
        var match: ServerKey?
        for candidate in record.keys where candidate.digest == key { match = candidate }
        guard let match else { return .wrongCredentials }
        if record.isSuspended { return .suspended }
        if let end = match.expiresAt, end <= now { return .expiredCredentials }
        return nil
    }
}

/// Why a login was refused; each protocol words it in its own way (ccs-xmpp 1.5, mcs-device 3.1).
public enum LoginRefusal: String, Sendable {
    /// Unknown account or device, or wrong secret: one answer for both.
    case wrongCredentials = "wrong_credentials"
    /// The key's time is over.
    case expiredCredentials = "expired_credentials"
    /// An operator has suspended the sender.
    case suspended = "suspended"
    /// The sender has all the connections it may have.
    case tooManyConnections = "too_many_connections"
    /// This identity failed to log in too often from its address in this minute; its secret was not looked at.
    case tooManyFailures = "too_many_failures"
    /// The store cannot answer.
    case unavailable = "unavailable"
}
