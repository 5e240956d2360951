import Basics
import Cluster
import Foundation
import NodeLinks
import NodeProtocol
import RocksStore
import Store
import StoreSupport
import Synchronization
import Testing

@testable import Server

/// Copies of a store from one node to another, without a link between them.
@Suite("Store copies", .serialized) struct StoreCopyTests {
    private static let cluster = Array("0123456789abcdef".utf8)

    /// What a giver sends.
    private final class Sent: Sendable {
        let description = Mutex<CopyDescription?>(nil)
        let parts = Mutex<[[UInt8]]>([])
        /// How many parts are taken before the link is lost.
        let limit: Int
        init(limit: Int = .max) { self.limit = limit }

        func giver(_ backups: Backups) -> StoreGiver {
            StoreGiver(
                backups: backups, name: "node 2",
                begin: { [self] description, latch in
                    self.description.withLock { $0 = description }
                    latch.fulfil(true)
                },
                send: { [self] bytes, latch in
                    latch.fulfil(
                        parts.withLock { parts in
                            guard parts.count < limit else { return false }
                            parts.append(bytes)
                            return true
                        })
                })
        }
    }

    private func sent(_ bench: BackupBench) throws -> (CopyDescription, [[UInt8]]) {
        let sent = Sent()
        try sent.giver(bench.backups).run()
        return (try #require(sent.description.withLock { $0 }), sent.parts.withLock { $0 })
    }

    private func taker(
        _ folder: String, _ description: CopyDescription, partitions: Int = Limits.Partition.count,
        cluster: [UInt8] = cluster, least: [UInt64] = [], of own: any Store = MemoryStore()
    ) -> StoreTaker {
        StoreTaker(
            CopiedStore(dataDirectory: folder),
            StoreTaker.Expected(
                description: description, partitions: partitions, cluster: cluster, least: least),
            of: own, stored: { _ in })
    }

    private func bench() throws -> BackupBench {
        let bench = try BackupBench()
        try bench.store.setSetting("cluster_id", Self.cluster)
        return bench
    }

    private func folder(_ bench: BackupBench) throws -> String {
        let folder = "\(bench.root)/taker"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        return folder
    }

    @Test("a copy has what the store had, and replaces that of the taker at its next start")
    func whole() throws {
        let bench = try bench()
        try bench.store.setSetting("operators", [9])
        let (description, parts) = try sent(bench)
        // A later message is not in the copy.
        try bench.put(99)
        let folder = try folder(bench)
        let old = try RocksStore(path: "\(folder)/store")
        try old.setSetting("operators", [7])
        let taker = taker(folder, description, of: old)
        for part in parts { taker.receive(part) }
        taker.end(isComplete: true)
        try taker.run()
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == ["store", "store.copied"])
        let copied = CopiedStore(dataDirectory: folder)
        #expect(try !copied.install(), "the store is open")
        try old.close()
        #expect(try copied.install())
        #expect(try !copied.install(), "once")
        let store = try RocksStore(path: "\(folder)/store")
        copied.removeReplaced()
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["store"])
        #expect(try store.audit().downstreamPending == 20)
        #expect(try bench.store.audit().downstreamPending == 21)
        #expect(try store.setting("token_secret") == [1, 2, 3])
        #expect(try store.setting("operators") == [7], "the operators of a node are its own")
        try store.close()
        #expect(
            try !FileManager.default.contentsOfDirectory(atPath: bench.store.path).contains("checkpoint"),
            "the checkpoint is left")
    }

    @Test("a copy that is damaged, incomplete, foreign or too old is refused, and leaves nothing")
    func refused() throws {
        let bench = try bench()
        let (description, parts) = try sent(bench)
        let folder = try folder(bench)
        func expect(_ words: String, _ taker: StoreTaker, _ parts: [[UInt8]], isComplete: Bool = true) {
            for part in parts { taker.receive(part) }
            taker.end(isComplete: isComplete)
            let error = #expect(throws: BackupFailure.self, "\(words)") { try taker.run() }
            #expect(error?.text.contains(words) == true, "\(error?.text ?? "none")")
            #expect((try? FileManager.default.contentsOfDirectory(atPath: folder)) == [], "\(words)")
        }
        var damaged = parts
        let longest = try #require(damaged.indices.max { damaged[$0].count < damaged[$1].count })
        damaged[longest][damaged[longest].count / 2] ^= 1
        expect("does not match its digest", taker(folder, description), damaged)
        expect("files are missing", taker(folder, description), Array(parts.dropLast()))
        expect("has broken it off", taker(folder, description), parts, isComplete: false)
        expect("cannot be read", taker(folder, description), [[1, 47]] + parts)
        expect("another cluster", taker(folder, description, cluster: [1]), parts)
        expect(
            "it has partition 3 up to position 0, and 7 is needed",
            taker(folder, description, least: [0, 0, 0, 7]), parts)
        var huge = description
        huge.bytes = UInt64(Int64.max)
        expect("KiB are free", taker(folder, huge), parts)
        let stopped = taker(folder, description)
        for part in parts { stopped.receive(part) }
        stopped.stop("the link to the other node is lost")
        expect("the link to the other node is lost", stopped, [])
    }

    @Test("a giver whose link is lost, and one beside a backup, gives up and leaves no checkpoint")
    func giver() throws {
        let bench = try bench()
        let lost = Sent(limit: 3)
        let error = #expect(throws: BackupFailure.self) { try lost.giver(bench.backups).run() }
        #expect(error?.text.contains("its link is lost") == true)
        #expect(!bench.backups.isBusy)
        try bench.backups.give(to: "node 3") { (_) throws(BackupFailure) in
            let busy = #expect(throws: BackupFailure.self) { try Sent().giver(bench.backups).run() }
            #expect(busy?.text.contains("to node 3") == true)
        }
        #expect(
            try !FileManager.default.contentsOfDirectory(atPath: bench.store.path).contains("checkpoint"))
        try bench.make()
    }

    /// Whenever the process ends, the next start finds the old store or the new one, and whole.
    @Test("each moment at which an installation can end leaves the old store or the new one")
    func moments() throws {
        let names = ["store", "store.copying", "store.copied", "store.replaced"]
        // What each folder has at each moment, and what the next start finds.
        let moments: [(before: [String], after: String)] = [
            (["old", "part", "", ""], "old"), (["old", "new", "", ""], "old"),
            (["old", "", "new", ""], "new"), (["", "", "new", "old"], "new"),
            (["old", "", "new", "older"], "new"), (["new", "", "", "old"], "new"),
            (["old", "part", "new", ""], "new"),
        ]
        for moment in moments {
            let folder = NSTemporaryDirectory() + "ccsd-copy-\(UUID().uuidString)"
            defer { try? FileManager.default.removeItem(atPath: folder) }
            for (name, content) in zip(names, moment.before) where !content.isEmpty {
                try FileManager.default.createDirectory(
                    atPath: "\(folder)/\(name)", withIntermediateDirectories: true)
                try Data(content.utf8).write(to: URL(fileURLWithPath: "\(folder)/\(name)/content"))
            }
            let copied = CopiedStore(dataDirectory: folder)
            _ = try copied.install()
            copied.removeReplaced()
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["store"], "\(moment)")
            let found = try String(contentsOfFile: "\(folder)/store/content", encoding: .utf8)
            #expect(found == moment.after, "\(moment)")
        }
    }

    @Test("a node asks others in turn, and the same one only after a while")
    func state() {
        let (one, two) = (NodeNumber(1), NodeNumber(2))
        var state = CopyState()
        func at(_ milliseconds: Int64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }
        let isDueAtOnce = state.isDue(at(0))
        let isDueLater = state.isDue(at(Limits.StoreCopy.delayMilliseconds))
        #expect(!isDueAtOnce && isDueLater && !state.isUnderWay)
        state.ask(one, number: 5, [], at(3_000))
        let isDueMeanwhile = state.isDue(at(60_000))
        #expect(state.isUnderWay && !isDueMeanwhile && state.words.contains("node 1"))
        #expect(state.asked(one, 5) && !state.asked(one, 6) && !state.asked(two, 5))
        #expect(state.isUnanswered(at(3_000 + Limits.StoreCopy.answerMilliseconds - 1)) == nil)
        #expect(state.isUnanswered(at(3_000 + Limits.StoreCopy.answerMilliseconds)) == one)
        state.fail(one, "it is busy", at(40_000))
        #expect(!state.isUnderWay && state.words.contains("it is busy"))
        let (early, late) = (
            state.isDue(at(40_001)), state.isDue(at(40_000 + Limits.StoreCopy.retryMilliseconds))
        )
        #expect(!early && late)
        let (soon, then) = (
            state.excluded(at(41_000)), state.excluded(at(40_000 + Limits.StoreCopy.pauseMilliseconds))
        )
        #expect(soon == [one] && then == [])
        state.complete(two)
        #expect(state.isUnderWay && state.words.contains("restarts"))
    }
}
