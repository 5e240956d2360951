import Basics
import BasicsSupport
import Crypto
import Delivery
import Synchronization
import Testing
import Transport

@testable import Server

/// Concurrent changes of senders.
@Suite("Senders")
struct SendersTests {
    private func senders(_ store: GatedStore) throws -> Senders {
        let thread = try StoreThreads(
            store: store, metrics: MetricShard(), log: .silent,
            report: { _ in })
        return Senders(store: store, batches: thread, mailboxes: [], directory: SenderDirectory([]))
    }

    /// Runs a body on several threads, and waits for all.
    private func together(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) throws {
        let threads = try (0..<count).map { number in try Transport.Thread(name: "test") { body(number) } }
        for thread in threads { thread.join() }
    }

    @Test("concurrent rotations all take effect, and every returned key is valid")
    func rotations() throws {
        let senders = try senders(GatedStore())
        let (sender, _) = try senders.add(nil, label: "", key: nil, now: 1)
        let keys = Mutex<[String]>([])
        try together(Limits.Operator.keysPerSender - 1) { _ in
            guard let made = try? senders.rotateKey(sender, overlapSeconds: 60, key: nil, now: 2) else {
                return
            }
            keys.withLock { $0.append(made.key) }
        }
        let supplied = keys.withLock { $0 }
        #expect(supplied.count == Limits.Operator.keysPerSender - 1)
        let known = try #require(senders.directory[sender]).keys.map(\.digest)
        for key in supplied { #expect(known.contains(Senders.digest(key)), "a key is lost") }
    }

    @Test("concurrently added senders all exist")
    func additions() throws {
        let senders = try senders(GatedStore())
        try together(8) { thread in
            for number in 1...20 {
                _ = try? senders.add(
                    SenderID(UInt64(thread * 100 + number)), label: "", key: nil, now: 1)
            }
        }
        #expect(senders.directory.all.count == 160)
    }

    @Test("canary: an existing sender is not added again")
    func canary() throws {
        let senders = try senders(GatedStore())
        _ = try senders.add(SenderID(5), label: "", key: nil, now: 1)
        #expect(throws: Senders.Problem.self) {
            try senders.add(SenderID(5), label: "", key: nil, now: 1)
        }
    }

    @Test("a service account stores only the public key, is found by its key ID, and can be removed")
    func accounts() throws {
        let senders = try senders(GatedStore())
        let (sender, _) = try senders.add(nil, label: "", key: nil, now: 1)
        let pair = try #require(RSAKey.make(bits: Limits.Operator.accountKeyBits))
        let (account, project) = try senders.addAccount(of: sender, publicKey: pair.publicKey, now: 2)
        #expect(project == "ccs-\(sender.number)")
        #expect(account.email.hasSuffix("@\(project).iam.gserviceaccount.com"))
        let found = try #require(senders.directory.account(withKeyID: account.keyID))
        #expect(found.account == account && found.sender.sender == sender)
        #expect(throws: Senders.Problem.self) {
            try senders.addAccount(of: sender, publicKey: [1, 2, 3], now: 2)
        }
        #expect(throws: Senders.Problem.self) {
            try senders.addAccount(of: SenderID(1), publicKey: pair.publicKey, now: 2)
        }
        #expect(throws: Senders.Problem.self) { try senders.removeAccount(of: sender, keyID: "other") }
        _ = try senders.removeAccount(of: sender, keyID: account.keyID)
        #expect(senders.directory.account(withKeyID: account.keyID) == nil)
        for _ in 0..<Limits.Operator.accountsPerSender {
            _ = try senders.addAccount(of: sender, publicKey: pair.publicKey, now: 3)
        }
        #expect(throws: Senders.Problem.self, "one too many") {
            try senders.addAccount(of: sender, publicKey: pair.publicKey, now: 3)
        }
    }

    @Test("a project ID is unique, and cannot be the default of another sender")
    func projects() throws {
        let senders = try senders(GatedStore())
        _ = try senders.add(SenderID(5), label: "", project: "lab-project", key: nil, now: 1)
        _ = try senders.add(SenderID(6), label: "", project: "ccs-6", key: nil, now: 1)
        #expect(senders.directory[SenderID(5)]?.projectID == "lab-project")
        #expect(senders.directory[SenderID(6)]?.projectID == "ccs-6")
        #expect(senders.directory.sender(ofProject: "lab-project") == SenderID(5))
        #expect(senders.directory[SenderID(5)]?.isProject(Array("5".utf8)) == true)
        #expect(senders.directory[SenderID(5)]?.isProject(Array("05".utf8)) == false)
        for project in [
            "lab-project", "ccs-6", "ccs-7", "short", "Upper-case", "9-digit-first", "dash-last-", "a.dotted",
            String(repeating: "a", count: 31), "",
        ] {
            #expect(throws: Senders.Problem.self, "\(project)") {
                try senders.add(SenderID(8), label: "", project: project, key: nil, now: 1)
            }
        }
    }
}
