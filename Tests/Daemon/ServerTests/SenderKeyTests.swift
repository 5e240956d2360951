import Basics
import BasicsSupport
import Delivery
import Store
import Testing

@testable import Server

/// Keys of senders: validation, rotation, and a failing store.
@Suite("Sender keys")
struct SenderKeyTests {
    private func withSenders(_ body: (Senders, GatedStore) throws -> Void) throws {
        let store = GatedStore()
        let thread = try StoreThreads(store: store, metrics: MetricShard(), log: .silent, report: { _ in })
        defer { thread.stop() }
        try body(
            Senders(store: store, batches: thread, mailboxes: [], directory: SenderDirectory([])), store)
    }

    @Test("a change that the store refuses has no effect, and is reported to the operator")
    func storeFails() throws {
        try withSenders { senders, store in
            store.failNext([StoreError(.full, "no room")])
            #expect(throws: Senders.Problem.self) {
                try senders.add(SenderID(5), label: "", key: nil, now: 1)
            }
            #expect(senders.directory.all.isEmpty)
            let (sender, key) = try senders.add(SenderID(5), label: "", key: nil, now: 1)
            #expect(senders.directory.sender(withKey: Senders.digest(key), at: 1) == sender, "canary")
        }
    }

    @Test("expired keys are removed by the next rotation, so the number of rotations is unlimited")
    func expiredKeys() throws {
        try withSenders { senders, _ in
            let (sender, first) = try senders.add(nil, label: "", key: nil, now: 1)
            for instant in 2...UnixMilliseconds(2 * Limits.Operator.keysPerSender) {
                _ = try senders.rotateKey(sender, overlapSeconds: 0, key: nil, now: instant)
            }
            #expect(senders.directory[sender]?.keys.count == 2)
            #expect(senders.directory.sender(withKey: Senders.digest(first), at: 100) == nil)
        }
    }

    @Test("all keys of a sender have the same salt, and different senders have different salts")
    func salts() throws {
        try withSenders { senders, _ in
            var salts: [[UInt8]] = []
            for _ in 0..<2 {
                let (sender, _) = try senders.add(nil, label: "", key: nil, now: 1)
                _ = try senders.rotateKey(sender, overlapSeconds: 60, key: nil, now: 2)
                let keys = try #require(senders.directory[sender]).keys
                let salt = try #require(keys.first?.scram?.salt)
                #expect(keys.count == 2 && keys.allSatisfy { $0.scram?.salt == salt })
                #expect(senders.directory.provableKeys(of: sender).count == 2)
                salts.append(salt)
            }
            #expect(salts[0] != salts[1])
        }
    }

    @Test(
        "a key that is too short, too long or not printable ASCII is refused, and the shortest allowed is accepted",
        arguments: [
            (String(repeating: "k", count: Limits.Operator.shortestServerKey - 1), false),
            (String(repeating: "k", count: Limits.Operator.shortestServerKey), true),
            (String(repeating: "k", count: Limits.Login.credentialBytes + 1), false),
            ("sixteen and a bit", false), (String(repeating: "ä", count: 16), false), ("", false),
        ])
    func given(key: String, isTaken: Bool) throws {
        try withSenders { senders, _ in
            let made = try? senders.add(SenderID(5), label: "", key: key, now: 1)
            #expect((made != nil) == isTaken && senders.directory.all.count == (isTaken ? 1 : 0))
        }
    }
}
