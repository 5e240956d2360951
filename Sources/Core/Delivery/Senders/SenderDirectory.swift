public import Basics

/// All senders: an immutable snapshot that all partitions share.
public struct SenderDirectory: Sendable {
    private let records: [SenderID: SenderRecord]
    /// The sender of each server key. The time of a look-up by the digest of a secret reveals nothing about other secrets.
    private let owners: [[UInt8]: SenderID]
    /// The sender of each service account key.
    private let signers: [String: SenderID]
    /// The senders that an operator has suspended.
    public let suspended: Set<SenderID>
    /// The senders whose webhooks may get messages, in ascending order.
    public let webhooks: [SenderID]

    /// Creates a directory of senders.
    public init(_ records: [SenderRecord] = []) {
        self.records = Dictionary(records.map { ($0.sender, $0) }) { _, newer in newer }
        let pairs = self.records.values.flatMap { record in
            record.keys.map { ($0.digest.bytes, record.sender) }
        }
        // If two accounts have the same key, the lower id wins, so that every run decides alike.
        owners = Dictionary(pairs) { min($0, $1) }
        let signing = self.records.values.flatMap { record in
            record.accounts.map { ($0.keyID, record.sender) }
        }
        signers = Dictionary(signing) { min($0, $1) }
        suspended = Set(self.records.values.filter(\.isSuspended).map(\.sender))
        webhooks = self.records.values.filter(\.usesWebhook).map(\.sender).sorted()
    }

    /// Returns the record of a sender, or `nil` if there is none.
    public subscript(sender: SenderID) -> SenderRecord? { records[sender] }

    /// The number of senders.
    public var count: Int { records.count }

    /// All records, by sender ID.
    public var all: [SenderRecord] { records.values.sorted { $0.sender < $1.sender } }

    /// Returns the keys that one SCRAM exchange can try, newest first: those with the salt of the newest key that has a verifier.
    ///
    /// Expired keys are included, so that the answer can report their expiry. Empty for an unknown sender too.
    public func provableKeys(of sender: SenderID) -> [ServerKey] {
        let keys = (records[sender]?.keys ?? []).reversed()
        guard let newest = keys.lazy.compactMap(\.scram).first else { return [] }
        return keys.filter { $0.scram?.salt == newest.salt && $0.scram?.iterations == newest.iterations }
    }

    /// Returns the sender of a key that was presented without a sender ID (http 1.3), or `nil` if the key is not valid now.
    public func sender(withKey key: SecretDigest, at now: UnixMilliseconds) -> SenderID? {
        guard let sender = owners[key.bytes], check(sender, key: key, at: now) == nil else { return nil }
        return sender
    }

    /// Returns whether a key is valid now, but its sender is suspended.
    public func isSuspended(key: SecretDigest, at now: UnixMilliseconds) -> Bool {
        guard !suspended.isEmpty, let sender = owners[key.bytes] else { return false }
        return check(sender, key: key, at: now) == .suspended
    }

    /// Returns the service account with a key of this id, and its sender. Returns `nil` if there is none or its sender is
    /// suspended.
    public func account(withKeyID keyID: String) -> (sender: SenderRecord, account: ServiceAccount)? {
        guard let sender = signers[keyID], let record = records[sender], !record.isSuspended,
            let account = record.accounts.first(where: { $0.keyID == keyID })
        else { return nil }
        return (record, account)
    }

    /// Returns the sender with a project id.
    public func sender(ofProject project: String) -> SenderID? {
        records.values.lazy.filter { $0.projectID == project }.map(\.sender).min()
    }

    /// Checks a key. Returns why it is refused, or `nil` if it is valid. Takes as long for an unknown sender as for a wrong key.
    public func check(_ sender: SenderID, key: SecretDigest, at now: UnixMilliseconds) -> LoginRefusal? {
        guard let record = records[sender] else {
            _ = key == SecretDigest(bytes: [UInt8](repeating: 0, count: 32))
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

/// Why a login was refused; each protocol has its own error for it (ccs-xmpp 1.5, mcs-device 3.1).
public enum LoginRefusal: String, Sendable, CaseIterable {
    /// The account or device is unknown, or the secret is wrong: the same answer for both.
    case wrongCredentials = "wrong_credentials"
    /// The key has expired.
    case expiredCredentials = "expired_credentials"
    /// An operator has suspended the sender.
    case suspended = "suspended"
    /// The sender has the maximum number of connections.
    case tooManyConnections = "too_many_connections"
    /// The secret is wrong, as in too many other logins of this identity or address in this minute.
    case tooManyFailures = "too_many_failures"
    /// The store cannot be read or written.
    case unavailable = "unavailable"
}
