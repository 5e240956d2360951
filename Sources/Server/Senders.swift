import Basics
import Delivery
import Store
import Synchronization
import Transport

/// The senders as the daemon manages them: changes go to the store first, then to every partition.
final class Senders: Sendable {
    /// What an operator asked for and cannot have.
    struct Problem: Error {
        var text: String
        var hint: String
    }

    private let store: any Store
    private let storeThread: StoreThread
    private let mailboxes: [ReactorMailbox]
    private let current: Mutex<SenderDirectory>
    /// One change at a time: each begins from what the one before has left.
    let changes = Mutex(())

    init(
        store: any Store, storeThread: StoreThread, mailboxes: [ReactorMailbox],
        directory: SenderDirectory
    ) {
        self.store = store
        self.storeThread = storeThread
        self.mailboxes = mailboxes
        current = Mutex(directory)
    }

    /// The senders as they are now.
    var directory: SenderDirectory { current.withLock { $0 } }

    /// Makes a sender, with a key of its own or the one given; returns the key, which is kept nowhere.
    func add(
        _ wanted: SenderID?, label: String, project: String? = nil, key given: String?,
        now: UnixMilliseconds
    ) throws(Problem) -> (SenderID, key: String) {
        try changes.withLock { _ throws(Problem) in
            try addAlone(wanted, label: label, project: project, key: given, now: now)
        }
    }

    private func addAlone(
        _ wanted: SenderID?, label: String, project: String?, key given: String?, now: UnixMilliseconds
    ) throws(Problem) -> (SenderID, key: String) {
        let sender = wanted ?? Self.freshID(in: directory)
        guard directory[sender] == nil else {
            throw Problem(
                text: "sender \(sender.number) exists", hint: "ccsctl senders rotate-key gives it another key"
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

    /// Gives a sender another key; the old ones stay valid for so many seconds.
    func rotateKey(_ sender: SenderID, overlapSeconds: Int, key given: String?, now: UnixMilliseconds)
        throws(Problem) -> (key: String, oldKeysExpireAt: UnixMilliseconds)
    {
        try changes.withLock { _ throws(Problem) in
            try rotateKeyAlone(sender, overlapSeconds: overlapSeconds, key: given, now: now)
        }
    }

    private func rotateKeyAlone(
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

    /// Removes a sender: its connections are closed, its keys are void.
    func remove(_ sender: SenderID) throws(Problem) {
        try changes.withLock { _ throws(Problem) in
            guard directory[sender] != nil else { throw Self.unknown(sender) }
            try commit(.removeSender(sender))
        }
    }

    func put(_ record: SenderRecord) throws(Problem) { try commit(.putSender(record)) }

    private func commit(_ mutation: Mutation) throws(Problem) {
        guard let outcome = storeThread.commitAndWait([mutation]), !outcome.hasFailed else {
            throw Problem(
                text: "the store did not take the change", hint: "see the log of ccsd for the store's words")
        }
        do {
            let directory = SenderDirectory(try store.senders())
            current.withLock { $0 = directory }
            for mailbox in mailboxes { mailbox.post(Parcel(events: [.senders(directory)])) }
        } catch {
            throw Problem(text: "the store cannot be read: \(error.description)", hint: "see ccsctl status")
        }
    }

    static func unknown(_ sender: SenderID) -> Problem {
        Problem(
            text: "there is no sender \(sender.number)", hint: "ccsctl senders list shows those there are")
    }

    private static func checked(_ key: String?) throws(Problem) -> String? {
        guard let key else { return nil }
        guard key.utf8.count >= Limits.Operator.shortestServerKey,
            key.utf8.count <= Limits.Login.credentialBytes,
            key.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else {
            throw Problem(
                text:
                    "a server key has \(Limits.Operator.shortestServerKey) to \(Limits.Login.credentialBytes) printable ASCII characters without spaces",
                hint: "leave the key out and ccsd makes one")
        }
        return key
    }

    /// Digest of a key as it is stored and compared.
    static func digest(_ key: String) -> SecretDigest { SecretDigest(octets: Digest.sha256(Array(key.utf8))) }

    /// A key as it is stored: digest and SCRAM part, salted like the keys beside it, so that one exchange can try all.
    private static func serverKey(_ key: String, beside others: [ServerKey], now: UnixMilliseconds)
        -> ServerKey
    {
        let salt =
            others.lazy.compactMap(\.scram).last?.salt ?? SecureRandom.bytes(Limits.Login.scramSaltBytes)
        return ServerKey(digest: digest(key), createdAt: now, scram: SCRAMVerifier(key, salt: salt))
    }

    /// A key in the shape that app servers know: `AIza` and 35 characters (210 random bits).
    static func freshKey() -> String {
        "AIza" + String(Base64.text(SecureRandom.bytes(27), urlSafe: true, padded: false).prefix(35))
    }

    /// Twelve random digits, as project numbers have.
    static func freshID(in directory: SenderDirectory) -> SenderID {
        while true {
            let sender = SenderID(100_000_000_000 + SecureRandom.number() % 900_000_000_000)
            if directory[sender] == nil { return sender }
        }
    }
}
