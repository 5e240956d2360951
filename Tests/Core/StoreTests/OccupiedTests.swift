import Basics
import Delivery
import Store
import Testing

/// Puts under keys that are taken, for every store.
@Suite struct OccupiedTests {
    private func refuses(_ store: any Store, _ batches: [Mutation]...) {
        let error = #expect(throws: StoreError.self) {
            try store.commit(
                batches.enumerated().map { number, mutations in
                    WriteBatch(batchNumber: UInt64(number), mutations: mutations, isDurable: true)
                })
        }
        #expect(error?.kind == .occupied)
        #expect(error?.kind.isOfOneBatch == true)
    }

    private func other(_ sequence: UInt64) -> Mutation {
        .putMessage(Samples.message(5, sequence, body: [6, 6, 6]))
    }

    @Test(
        "A commit is refused when it puts another message under the key of a stored one",
        arguments: Kind.allCases)
    func message(_ kind: Kind) throws {
        let opened = try open(kind)
        let store = opened.store
        let first = Samples.message(5, 1)
        try store.apply(.putMessage(first))
        // A retry of a written message changes nothing and is not counted.
        try store.apply(.putMessage(first), .putDevice(Samples.device(5)))
        refuses(store, [.putMessage(Samples.message(5, 2)), other(1), .putSender(Samples.sender(7))])
        refuses(store, [.putMessage(Samples.message(5, 3))], [other(1)])
        refuses(store, [.putMessage(Samples.message(5, 4)), other(4)])
        refuses(store, [.putMessage(Samples.message(5, 4))], [other(4)])
        #expect(try store.mailbox(5) == [first])
        #expect(try store.senders().isEmpty && store.audit().downstream.accepted == 1)
        #expect(try store.expired(by: .max).count == 1)
        // After the removal the key is free, also in the same batch.
        let removal = Mutation.removeMessage(
            DeviceID(5), SequenceNumber(1), expiresAt: first.expiresAt, reason: .replaced)
        try store.apply(removal, other(1))
        #expect(try store.mailbox(5).map(\.body) == [[6, 6, 6]])
        refuses(store, [.putMessage(first)])
        let audit = try store.audit()
        #expect(audit.holds && audit.downstream.accepted == 2 && audit.downstream.replaced == 1)
    }

    @Test(
        "A commit is refused when it puts another upstream message under a taken key, unless it is a repeat",
        arguments: Kind.allCases)
    func upstream(_ kind: Kind) throws {
        let opened = try open(kind)
        let store = opened.store
        let first = Samples.upstream(8, 1)
        try store.apply(.putUpstream(first, now: 0))
        try store.apply(.putUpstream(first, now: 0))
        refuses(store, [.putUpstream(Samples.upstream(8, 1, device: 6), now: 0)])
        refuses(
            store, [.putUpstream(Samples.upstream(8, 2), now: 0)],
            [.putUpstream(Samples.upstream(8, 2, device: 6), now: 0)])
        try store.apply(.putUpstream(Samples.upstream(8, 3, persistentID: "p"), now: 0))
        let outcome = try store.apply(.putUpstream(Samples.upstream(8, 1, persistentID: "p"), now: 0))
        #expect(outcome.duplicates.count == 1)
        #expect(try store.outbox(8).map(\.sequence.number) == [1, 3])
        #expect(try store.audit().holds && store.audit().upstream.accepted == 2)
    }

    @Test(
        "A commit is refused when a report takes the key of another message, and the same report may be put again",
        arguments: Kind.allCases)
    func report(_ kind: Kind) throws {
        let opened = try open(kind)
        let store = opened.store
        let first = Samples.upstream(8, 1)
        let waiting = Samples.message(5, 1)
        try store.apply(.putUpstream(first, now: 0), .putMessage(waiting))
        func report(of sequence: UInt64, as key: UInt64) -> Mutation {
            .putMessage(Samples.message(5, key, kind: .sendError(of: SequenceNumber(sequence)), body: []))
        }
        refuses(store, [report(of: 1, as: 1)])
        refuses(store, [report(of: 1, as: 2), other(2)])
        refuses(store, [report(of: 1, as: 2), report(of: 3, as: 2)])
        #expect(try store.outbox(8) == [first] && store.mailbox(5) == [waiting])
        try store.apply(report(of: 1, as: 2), report(of: 1, as: 2))
        try store.apply(report(of: 1, as: 2))
        #expect(try store.mailbox(5).map(\.sequence.number) == [1, 2] && store.outbox(8) == [first])
    }
}
