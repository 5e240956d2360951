import Basics
import Delivery
import Foundation
import Store
import Testing

@testable import RocksStore

/// A damaged, truncated or missing journal: either no acknowledged commit is missing, or opening fails with the name of the file
/// and removes nothing.
@Suite struct LostLogTests {
    private static let owner = 5 as UInt64
    private static let count = 60 as UInt64

    /// Returns a store as a killed process leaves it, with its messages in one journal file.
    private func killed(bodies: Int = 700) throws -> ScratchDirectory {
        let directory = ScratchDirectory()
        let store = try RocksStore(path: directory.path + "/db")
        for sequence in 1...Self.count {
            let body = [UInt8](repeating: UInt8(truncatingIfNeeded: sequence), count: bodies)
            try store.apply(.putMessage(Samples.message(Self.owner, sequence, body: body)))
        }
        return try directory.copied()
    }

    private func newestLog(_ directory: ScratchDirectory) throws -> URL {
        URL(fileURLWithPath: try #require(try ScratchDirectory.newestLog(in: directory.path + "/db")))
    }

    private func files(_ directory: ScratchDirectory) throws -> [String: Data] {
        let url = URL(fileURLWithPath: directory.path + "/db")
        var files: [String: Data] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: url.path) {
            files[name] = try Data(contentsOf: url.appendingPathComponent(name))
        }
        return files
    }

    /// Opens a store and returns its number of messages. Returns `nil` if it was rejected with the name of a file.
    private func messages(_ directory: ScratchDirectory, _ logs: URL...) throws -> Int? {
        var before = try files(directory)
        do {
            return try RocksStore(path: directory.path + "/db").mailbox(Self.owner).count
        } catch let error as StoreError {
            #expect(error.kind == .lost, "\(error)")
            let isNamed = logs.contains { error.description.contains($0.path) }
            #expect(isNamed || error.description.contains("no journal"), "\(error)")
        }
        // Acquiring the lock creates its file.
        before["LOCK"] = Data()
        #expect(try files(directory) == before)
        return nil
    }

    /// Returns the first and last offsets of a file and a sample of the others: all of them would take too long.
    private func places(_ size: Int) -> [Int] {
        var random = SeededRandom(seed: UInt64(size))
        return Array(0..<40) + stride(from: 40, to: size - 40, by: 997)
            + (0..<20).map { _ in Int.random(in: 0..<size, using: &random) } + Array(size - 40..<size)
    }

    @Test("Opening detects a changed byte in the newest journal file and removes nothing")
    func flipped() throws {
        let directory = try killed()
        let log = try newestLog(directory)
        let whole = try Data(contentsOf: log)
        for place in places(whole.count) {
            let copy = try directory.copied()
            let damaged = URL(
                fileURLWithPath: log.path.replacingOccurrences(of: directory.path, with: copy.path))
            var bytes = whole
            bytes[place] ^= 0x10
            try bytes.write(to: damaged)
            #expect(try messages(copy, damaged) == nil, "byte \(place) of \(whole.count)")
            guard place % 10 == 0 else { continue }
            // With the original byte everything is there.
            try whole.write(to: damaged)
            #expect(try messages(copy, damaged) == Int(Self.count))
        }
    }

    @Test("Opening detects a truncated or missing journal file")
    func truncated() throws {
        let directory = try killed()
        let log = try newestLog(directory)
        let whole = try Data(contentsOf: log)
        for length in places(whole.count) {
            let copy = try directory.copied()
            let damaged = URL(
                fileURLWithPath: log.path.replacingOccurrences(of: directory.path, with: copy.path))
            try whole.prefix(length).write(to: damaged)
            #expect(try messages(copy, damaged) == nil, "\(length) of \(whole.count)")
        }
        try FileManager.default.removeItem(at: log)
        #expect(try messages(directory, log) == nil)
    }

    @Test("canary: lost commits are not detected without the sync mark")
    func canary() throws {
        let directory = try killed()
        let log = try newestLog(directory)
        var bytes = try Data(contentsOf: log)
        bytes[bytes.count / 2] ^= 0x10
        try bytes.write(to: log)
        try FileManager.default.removeItem(atPath: directory.path + "/db/" + SyncMark.name)
        let left = try #require(try messages(directory, log))
        #expect(left > 0 && left < Int(Self.count))
    }

    @Test("A store opens when an unsynced commit is torn")
    func torn() throws {
        let directory = ScratchDirectory()
        let store = try RocksStore(path: directory.path + "/db")
        for sequence in 1...Self.count {
            try store.apply(
                .putMessage(Samples.message(Self.owner, sequence)), durable: sequence <= Self.count / 2)
        }
        let copy = try directory.copied()
        let log = try newestLog(copy)
        var bytes = try Data(contentsOf: log)
        bytes[bytes.count - 100] ^= 0x10
        try bytes.write(to: log)
        let left = try #require(try messages(copy, log))
        #expect(left >= Int(Self.count / 2) && left < Int(Self.count))
        // A durable commit that changes nothing syncs it: then the same byte is detected.
        _ = try store.commit([WriteBatch(batchNumber: 0, mutations: [], isDurable: true)])
        let synced = try directory.copied()
        try bytes.write(to: try newestLog(synced))
        #expect(try messages(synced, try newestLog(synced)) == nil)
        // After an orderly close the engine has everything, and the journal does not matter.
        try store.close()
        try bytes.write(to: try newestLog(directory))
        #expect(try messages(directory, try newestLog(directory)) == Int(Self.count))
    }

    @Test("Opening detects an older journal file that is missing, truncated or changed")
    func older() throws {
        var sizes = EngineSizes()
        sizes.segment = 100_000
        let directory = ScratchDirectory()
        let store = try RocksStore(path: directory.path + "/db", sizes: sizes)
        for sequence in 1...300 as ClosedRange<UInt64> {
            try store.apply(
                .putMessage(Samples.message(Self.owner, sequence, body: [UInt8](repeating: 7, count: 2_000))))
        }
        let killed = try directory.copied()
        let logs = try FileManager.default.contentsOfDirectory(atPath: killed.path + "/db")
            .filter { JournalFolder.first(of: $0) != nil }.sorted()
        try #require(logs.count > 4)
        for log in [logs[0], logs[2]] {
            let older = URL(fileURLWithPath: killed.path + "/db/" + log)
            let whole = try Data(contentsOf: older)
            let next = URL(fileURLWithPath: killed.path + "/db/" + logs[(logs.firstIndex(of: log) ?? 0) + 1])
            for length in [whole.count - 1, whole.count / 2, 0, nil] {
                try FileManager.default.removeItem(at: older)
                if let length { try whole.prefix(length).write(to: older) }
                #expect(try messages(killed, older, next) == nil)
            }
            for place in [0, 7, whole.count / 2, whole.count - 1] {
                var bytes = whole
                bytes[place] ^= 0x10
                try bytes.write(to: older)
                #expect(try messages(killed, older, next) == nil)
            }
            // Also without the sync mark.
            let other = try killed.copied()
            for name in [SyncMark.name, log] {
                try FileManager.default.removeItem(atPath: "\(other.path)/db/\(name)")
            }
            let error = #expect(throws: StoreError.self) {
                try RocksStore(path: other.path + "/db", sizes: sizes)
            }
            #expect(error?.kind == .lost)
            // Accepting the loss keeps the later files under another name.
            #expect(try RocksStore.acceptLoss(path: other.path + "/db") != nil)
            _ = try RocksStore(path: other.path + "/db", sizes: sizes)
            let kept = try FileManager.default.contentsOfDirectory(atPath: other.path + "/db")
                .filter { $0.hasSuffix(JournalFolder.lost) }
            #expect(kept.count == logs.count - 1 - (logs.firstIndex(of: log) ?? 0))
            try whole.write(to: older)
        }
        #expect(try RocksStore(path: killed.path + "/db", sizes: sizes).mailbox(Self.owner).count == 300)
    }

    @Test("A store opens with all readable messages when the loss was accepted")
    func accepted() throws {
        let directory = try killed()
        let path = directory.path + "/db"
        #expect(try RocksStore.acceptLoss(path: path) == nil, "nothing is missing")
        let log = try newestLog(directory)
        var bytes = try Data(contentsOf: log)
        bytes[bytes.count / 2] ^= 0x10
        try bytes.write(to: log)
        #expect(try messages(directory, log) == nil)
        let lost = try #require(try RocksStore.acceptLoss(path: path))
        #expect(lost.first < lost.last)
        #expect(try Data(contentsOf: log) == bytes, "the file is there until the store is opened")
        let store = try RocksStore(path: path)
        #expect(
            try Data(contentsOf: URL(fileURLWithPath: log.path + JournalFolder.lost)) == bytes, "and kept")
        let left = try store.mailbox(Self.owner).count
        #expect(UInt64(left) == Self.count - (lost.last - lost.first + 1))
        #expect(try store.audit().holds)
        #expect(throws: StoreError.self, "an open store is locked") {
            try RocksStore.acceptLoss(path: path)
        }
        try store.apply(.putMessage(Samples.message(Self.owner, Self.count + 1)))
        let copy = try directory.copied()
        let again = try RocksStore(path: copy.path + "/db")
        #expect(try again.mailbox(Self.owner).count == left + 1)
    }

    @Test(
        "A torn sync mark falls back to the previous commit, and an unreadable one is reported and replaced")
    func note() throws {
        let directory = try killed()
        let path = directory.path + "/db"
        guard case .synced(let commit) = try SyncMark.read(path) else { return #expect(Bool(false)) }
        let file = URL(fileURLWithPath: path + "/" + SyncMark.name)
        var bytes = try Data(contentsOf: file)
        let newest = commit % 2 == 0 ? 0 : 512
        bytes[newest + 12] ^= 1
        try bytes.write(to: file)
        #expect(try SyncMark.read(path) == .synced(commit - 1))
        bytes[512 - newest + 20] ^= 1
        try bytes.write(to: file)
        #expect(try SyncMark.read(path) == .damaged)
        let store = try RocksStore(path: path)
        #expect(store.remarks == [.unreadableSyncMark])
        #expect(try SyncMark.read(path) == .synced(commit))
        #expect(try store.mailbox(Self.owner).count == Int(Self.count))
        try Data().write(to: file)
        #expect(try SyncMark.read(path) == .absent)
    }

    @Test("Opening rejects a folder that contains only the sync mark")
    func vanished() throws {
        let directory = try killed()
        for name in try files(directory).keys where name != SyncMark.name {
            try FileManager.default.removeItem(atPath: directory.path + "/db/" + name)
        }
        let error = #expect(throws: StoreError.self) { try RocksStore(path: directory.path + "/db") }
        #expect(error?.kind == .lost)
    }
}
