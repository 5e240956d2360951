import Basics
import Delivery
import RocksStore
import Store
import StoreSupport
import Testing

/// The progress in a replicated log, which a store keeps with the batches that came from the log.
@Suite struct LogProgressTests {
    private static let first = LogProgress(epoch: 1, claim: 7, number: 2, position: 5)

    private func batch(_ mutations: Mutation..., partition: Int? = nil) -> WriteBatch {
        WriteBatch(batchNumber: 1, mutations: mutations, isDurable: true, partition: partition)
    }

    @Test("The progress is kept with its batch, also over a start", arguments: Kind.allCases)
    func kept(_ kind: Kind) throws {
        let opened = try open(kind)
        let partition = PartitionKey.device(DeviceID(5)).partition(of: opened.store.partitions)
        #expect(try opened.store.logProgress() == Array(repeating: nil, count: opened.store.partitions))
        let message = Mutation.putMessage(Samples.message(5, 3))
        _ = try opened.store.commit([batch(message, .advanceLog(partition: partition, Self.first))])
        var later = Self.first
        later.batches = 2
        _ = try opened.store.commit([batch(.advanceLog(partition: partition, later))])
        #expect(try opened.store.logProgress()[partition] == later)
        guard kind != .memory else { return }
        try opened.store.close()
        let again = try RocksStore(path: opened.directory.path + "/db", sizes: kind.sizes)
        #expect(try again.logProgress()[partition] == later)
        #expect(try again.logProgress().count { $0 != nil } == 1)
        #expect(try again.mailbox(5) == [Samples.message(5, 3)])
        #expect(try again.audit().holds)
    }

    @Test("The progress is replayed from the journal of a killed process", arguments: Kind.onDisk)
    func killed(_ kind: Kind) throws {
        let opened = try open(kind)
        for position in 1...40 as ClosedRange<UInt64> {
            var progress = Self.first
            progress.position += position
            let partition = PartitionKey.device(DeviceID(5)).partition(of: opened.store.partitions)
            _ = try opened.store.commit([
                batch(
                    .putMessage(Samples.message(5, position)),
                    .advanceLog(partition: partition, progress))
            ])
            guard position % 13 == 0 else { continue }
            let directory = try opened.directory.copied()
            let copy = try RocksStore(path: directory.path + "/db", sizes: kind.sizes)
            #expect(try copy.logProgress()[partition] == progress)
            #expect(try copy.mailbox(5).count == Int(position))
        }
    }

    @Test("A progress that goes back refuses its batch, and changes nothing", arguments: Kind.allCases)
    func goesBack(_ kind: Kind) throws {
        let opened = try open(kind)
        let store = opened.store
        _ = try store.commit([batch(.advanceLog(partition: 0, Self.first))])
        for change: (inout LogProgress) -> Void in [
            { $0.position -= 1 }, { $0.epoch = 0 },
            {
                $0.epoch = 2; $0.position = 1
            },
        ] {
            var progress = Self.first
            change(&progress)
            let batch = batch(.putMessage(Samples.message(5, 3)), .advanceLog(partition: 0, progress))
            let refused = brokenInvariant { _ = try store.commit([batch]) }
            #expect(refused?.kind == .invariant, "\(progress)")
        }
        #expect(try store.logProgress()[0] == Self.first)
        #expect(try store.mailbox(5).isEmpty)
    }

    @Test("A batch advances only the log of its own partition", arguments: Kind.allCases)
    func foreign(_ kind: Kind) throws {
        let opened = try open(kind)
        let store = opened.store
        for (log, partition) in [(1, 0), (-1, nil), (store.partitions, nil)] as [(Int, Int?)] {
            let batch = batch(.advanceLog(partition: log, Self.first), partition: partition)
            #expect(brokenInvariant { _ = try store.commit([batch]) } != nil, "\(log)")
        }
    }
}
