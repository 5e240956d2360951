import Basics
import Delivery
import Store
import Synchronization
import Transport

/// Manages the senders: changes go to the store first, then to every partition.
final class Senders: Sendable {
    /// Why a request of the operator failed.
    struct Problem: Error {
        var text: String
        var hint: String
    }

    private let store: any Store
    private let batches: any CommitLog
    private let mailboxes: [ReactorMailbox]
    /// What a node of a cluster has of the senders; `nil` without a cluster.
    private let contact: ClusterContact?
    private let current: Mutex<SenderDirectory>
    private let readings = Mutex(())
    private let observer = Mutex<@Sendable (SenderDirectory) -> Void>({ _ in })
    /// Serialises changes: each is based on the result of the previous one.
    let changes = Mutex(())

    init(
        store: any Store, batches: any CommitLog, mailboxes: [ReactorMailbox],
        directory: SenderDirectory, contact: ClusterContact? = nil
    ) {
        self.store = store
        self.batches = batches
        self.mailboxes = mailboxes
        self.contact = contact
        current = Mutex(directory)
    }

    /// Calls a closure with the senders after each change.
    func observe(_ changed: @escaping @Sendable (SenderDirectory) -> Void) {
        observer.withLock { $0 = changed }
    }

    /// Whether what was read of the senders at a time or later was as it is, with all changes that another node has confirmed.
    func areCurrent(since start: Now) -> Bool {
        contact?.areSendersCurrent(from: start.monotonic, to: Now.read().monotonic) ?? true
    }

    /// The current senders.
    var directory: SenderDirectory { current.withLock { $0 } }

    /// Creates a sender with the given or a generated key. Returns the key, which is not stored.
    func add(
        _ wanted: SenderID?, label: String, project: String? = nil, key given: String?,
        now: UnixMilliseconds
    ) throws(Problem) -> (SenderID, key: String) {
        try changes.withLock { _ throws(Problem) in
            try addLocked(wanted, label: label, project: project, key: given, now: now)
        }
    }

    private func addLocked(
        _ wanted: SenderID?, label: String, project: String?, key given: String?, now: UnixMilliseconds
    ) throws(Problem) -> (SenderID, key: String) {
        let sender = wanted ?? Self.freshID(in: directory)
        guard directory[sender] == nil else {
            throw Problem(
                text: "sender \(sender.number) already exists",
                hint: "ccsctl senders rotate-key gives it another key"
            )
        }
        let project = try checked(project: project, of: sender)
        let key = try Self.checked(given) ?? Self.freshKey()
        let record = SenderRecord(
            sender: sender, label: label, keys: [Self.serverKey(key, beside: [], now: now)], createdAt: now,
            project: project)
        try put(record)
        return (sender, key)
    }

    /// Gives a sender another key; the old ones stay valid for `overlapSeconds`.
    func rotateKey(_ sender: SenderID, overlapSeconds: Int, key given: String?, now: UnixMilliseconds)
        throws(Problem) -> (key: String, oldKeysExpireAt: UnixMilliseconds)
    {
        try changes.withLock { _ throws(Problem) in
            try rotateKeyLocked(sender, overlapSeconds: overlapSeconds, key: given, now: now)
        }
    }

    private func rotateKeyLocked(
        _ sender: SenderID, overlapSeconds: Int, key given: String?, now: UnixMilliseconds
    ) throws(Problem) -> (key: String, oldKeysExpireAt: UnixMilliseconds) {
        guard var record = directory[sender] else { throw Self.unknown(sender) }
        let key = try Self.checked(given) ?? Self.freshKey()
        let end = now + Int64(overlapSeconds) * 1_000
        record.keys = record.keys.filter { ($0.expiresAt ?? .max) > now }.map { old in
            var old = old
            old.expiresAt = min(old.expiresAt ?? end, end)
            return old
        }
        record.keys.append(Self.serverKey(key, beside: record.keys, now: now))
        guard record.keys.count <= Limits.Operator.keysPerSender else {
            throw Problem(
                text:
                    "sender \(sender.number) has \(Limits.Operator.keysPerSender) keys that are still valid",
                hint: "wait until one expires, or rotate with --overlap-seconds 0")
        }
        try put(record)
        return (key, end)
    }

    /// Removes a sender: its connections are closed, and its keys become invalid.
    func remove(_ sender: SenderID) throws(Problem) {
        try changes.withLock { _ throws(Problem) in
            guard directory[sender] != nil else { throw Self.unknown(sender) }
            try commit(.removeSender(sender))
        }
    }

    /// Suspends or resumes a sender. Returns whether that changes anything.
    func setSuspended(_ isSuspended: Bool, _ sender: SenderID) throws(Problem) -> Bool {
        try changes.withLock { _ throws(Problem) in
            guard var record = directory[sender] else { throw Self.unknown(sender) }
            guard record.isSuspended != isSuspended else { return false }
            record.isSuspended = isSuspended
            try put(record)
            return true
        }
    }

    func put(_ record: SenderRecord) throws(Problem) { try commit(.putSender(record)) }

    private func commit(_ mutation: Mutation) throws(Problem) {
        guard let outcome = batches.commitAndWait([mutation]), !outcome.hasFailed else {
            throw Problem(
                text: "the change was not confirmed, and may still take effect",
                hint: "see the log of ccsd for the reason, and look at the sender before you repeat it")
        }
        do throws(StoreError) { try read() } catch {
            throw Problem(text: "the store cannot be read: \(error.description)", hint: "see ccsctl status")
        }
    }

    /// Reads the senders, again after each change that a cluster has confirmed.
    func read() throws(StoreError) {
        // One at a time: an older reading must not replace a newer one.
        try readings.withLock { _ throws(StoreError) in
            let directory = SenderDirectory(try store.senders())
            current.withLock { $0 = directory }
            observer.withLock { $0 }(directory)
            for mailbox in mailboxes { mailbox.post(Parcel(events: [.senders(directory)])) }
        }
    }

    static func unknown(_ sender: SenderID) -> Problem {
        Problem(
            text: "unknown sender \(sender.number)", hint: "ccsctl senders list shows all senders")
    }

    private static func checked(_ key: String?) throws(Problem) -> String? {
        guard let key else { return nil }
        guard key.utf8.count >= Limits.Operator.shortestServerKey,
            key.utf8.count <= Limits.Login.credentialBytes,
            key.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else {
            throw Problem(
                text:
                    "invalid server key: expected \(Limits.Operator.shortestServerKey) to \(Limits.Login.credentialBytes) printable ASCII characters without spaces",
                hint: "without a key ccsd generates one")
        }
        return key
    }

    /// Returns the digest of a key, which is stored and compared.
    static func digest(_ key: String) -> SecretDigest { SecretDigest(bytes: Digest.sha256(Array(key.utf8))) }

    /// Returns the stored form of a key: the digest, and the SCRAM part with the salt of the sender's other keys, so that one
    /// exchange can try all keys.
    private static func serverKey(_ key: String, beside others: [ServerKey], now: UnixMilliseconds)
        -> ServerKey
    {
        let salt =
            others.lazy.compactMap(\.scram).last?.salt ?? SecureRandom.bytes(Limits.Login.scramSaltBytes)
        return ServerKey(digest: digest(key), createdAt: now, scram: SCRAMVerifier(key, salt: salt))
    }

    /// Generates a key in the format of Google's: `AIza` and 35 characters (210 random bits).
    static func freshKey() -> String {
        "AIza" + String(Base64.text(SecureRandom.bytes(27), urlSafe: true, padded: false).prefix(35))
    }

    /// Generates a sender ID of twelve random digits, like Google's project numbers.
    static func freshID(in directory: SenderDirectory) -> SenderID {
        while true {
            let sender = SenderID(100_000_000_000 + SecureRandom.number() % 900_000_000_000)
            if directory[sender] == nil { return sender }
        }
    }
}
