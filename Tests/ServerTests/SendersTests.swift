import Basics
import Delivery
import Synchronization
import Testing
import Transport

@testable import Server

/// Changes of senders by several operators at once.
@Suite("Senders")
struct SendersTests {
    private func senders(_ store: GatedStore) throws -> Senders {
        let thread = try StoreThread(
            store: store, metrics: MetricShard(), log: .silent,
            hear: { _, _ in })
        return Senders(store: store, storeThread: thread, mailboxes: [], directory: SenderDirectory([]))
    }

    /// Runs a body on several threads and waits for all.
    private func together(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) throws {
        let threads = try (0..<count).map { number in try Transport.Thread(name: "test") { body(number) } }
        for thread in threads { thread.join() }
    }

    @Test("rotations at the same time all count: no key that was handed out is void")
    func rotations() throws {
        let senders = try senders(GatedStore())
        let (sender, _) = try senders.add(nil, label: "", key: nil, now: 1)
        let keys = Mutex<[String]>([])
        try together(Limits.keysPerSender - 1) { _ in
            guard let made = try? senders.rotateKey(sender, overlapSeconds: 60, key: nil, now: 2) else {
                return
            }
            keys.withLock { $0.append(made.key) }
        }
        let handed = keys.withLock { $0 }
        #expect(handed.count == Limits.keysPerSender - 1)
        let known = try #require(senders.directory[sender]).keys.map(\.digest)
        for key in handed { #expect(known.contains(Senders.digest(key)), "a key is lost") }
    }

    @Test("senders made at the same time are all there")
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

    @Test("canary: a sender that exists is not made again")
    func canary() throws {
        let senders = try senders(GatedStore())
        _ = try senders.add(SenderID(5), label: "", key: nil, now: 1)
        #expect(throws: Senders.Problem.self) {
            try senders.add(SenderID(5), label: "", key: nil, now: 1)
        }
    }
}
