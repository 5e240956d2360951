import Delivery
import Foundation
import Store
import Testing

@testable import RocksStore

/// Manifests of the engine with a torn end, as power cuts of Scripts/bad-disk have left them.
@Suite struct TornManifestTests {
    private static let count = 20 as UInt64
    /// Length of the header of a record: checksum, length, type.
    private static let head = 7
    private static let block = 32_768

    /// Returns a record that the engine ignores, with at least a given length.
    private func record(_ size: Int) -> [UInt8] {
        // A tag that may be ignored (8,193), the length, and filler.
        let content = max(0, size - Self.head - 4)
        var bytes: [UInt8] = [0x81, 0x40, UInt8(content & 0x7f) | 0x80, UInt8(content >> 7)]
        bytes += [UInt8](repeating: 7, count: content)
        return Self.record(type: 1, bytes)
    }

    /// Returns a fragment of a type: a whole record (1), its first part (2) or its last part (4).
    private static func record(type: UInt8, _ bytes: [UInt8]) -> [UInt8] {
        let checksum = TornManifest.checksum(([type] + bytes)[...])
        let sum = (0..<4).map { UInt8(truncatingIfNeeded: checksum >> (8 * UInt32($0))) }
        return sum + [UInt8(bytes.count & 0xff), UInt8(bytes.count >> 8), type] + bytes
    }

    private func store() throws -> ScratchDirectory {
        let directory = ScratchDirectory()
        let store = try RocksStore(path: directory.path + "/db")
        for sequence in 1...Self.count { try store.apply(.putMessage(Samples.message(5, sequence))) }
        try store.close()
        return directory
    }

    private func list(_ directory: ScratchDirectory) throws -> URL {
        let names = try FileManager.default.contentsOfDirectory(atPath: directory.path + "/db")
        let name = try #require(names.filter { $0.hasPrefix("MANIFEST-") && !$0.hasSuffix(".torn") }.max())
        return URL(fileURLWithPath: "\(directory.path)/db/\(name)")
    }

    /// Returns a manifest that ends a given number of bytes before the end of a sector.
    private func padded(_ list: URL, before: Int) throws -> [UInt8] {
        var bytes = [UInt8](try Data(contentsOf: list))
        let missing = 512 - before - bytes.count % 512
        bytes += record(missing < 20 ? missing + 512 : missing)
        try #require(bytes.count % 512 == 512 - before)
        return bytes
    }

    @Test(
        "A manifest is truncated, reported and kept when a record has lost the first bytes of its header",
        arguments: 1...6)
    func torn(_ before: Int) throws {
        let directory = try store()
        let list = try list(directory)
        let whole = try padded(list, before: before)
        let torn = whole + [UInt8](repeating: 0, count: before) + record(300).dropFirst(before)
        try isMended(directory, list, torn, to: whole.count)
    }

    @Test("A manifest is truncated when the last sectors of a record are zeros", arguments: [8, 100, 300])
    func tornTail(_ before: Int) throws {
        let directory = try store()
        let list = try list(directory)
        let whole = try padded(list, before: before)
        let torn = whole + record(900).prefix(before) + [UInt8](repeating: 0, count: 900 - before)
        try isMended(directory, list, torn, to: whole.count)
        var damaged = whole + record(900)
        damaged[torn.count - 1] ^= 1
        #expect(TornManifest.tornEnd(of: damaged) == nil, "all sectors were written, one is damaged")
    }

    @Test(
        "A manifest is truncated when a record has lost a sector in its middle", arguments: [8, 100, 300])
    func tornMiddle(_ before: Int) throws {
        let directory = try store()
        let list = try list(directory)
        let whole = try padded(list, before: before)
        let change = record(1_500)
        let torn =
            whole + change.prefix(before) + [UInt8](repeating: 0, count: 512) + change.dropFirst(before + 512)
            + record(300)
        try isMended(directory, list, torn, to: whole.count)
    }

    @Test("A manifest is truncated when the first fragment of a record has lost its last sector")
    func beginLacksItsEnd() throws {
        let directory = try store()
        let list = try list(directory)
        let change = try atBlockEnd(list, begin: 700)
        let torn = change.whole + change.begin.prefix(188) + [UInt8](repeating: 0, count: 512) + change.end
        try isMended(directory, list, torn, to: change.whole.count)
    }

    /// Returns a manifest up to the end of a block of 32 KiB, and a record with a given number of bytes before that end.
    private func atBlockEnd(_ list: URL, begin: Int) throws -> (whole: [UInt8], begin: [UInt8], end: [UInt8])
    {
        var bytes = [UInt8](try Data(contentsOf: list))
        while bytes.count < Self.block - begin {
            let missing = Self.block - begin - bytes.count
            bytes += record(missing > 3_000 ? 1_000 : missing)
        }
        try #require(bytes.count == Self.block - begin)
        // The record may be split anywhere: its fragments are joined before it is read.
        let change = record(begin + 900).dropFirst(Self.head)
        let content = begin - Self.head
        return (
            bytes, Self.record(type: 2, Array(change.prefix(content))),
            Self.record(type: 4, Array(change.dropFirst(content)))
        )
    }

    @Test(
        "A manifest is truncated when the first fragment of a record is missing or has lost its start",
        arguments: [(7, 7), (8, 8), (100, 100), (700, 700), (700, 188)])
    func acrossBlocks(_ begin: Int, missing: Int) throws {
        let directory = try store()
        let list = try list(directory)
        let change = try atBlockEnd(list, begin: begin)
        try #require(change.begin.count == begin)
        try Data(change.whole + change.begin + change.end).write(to: list)
        _ = try JournalScan(directory.path + "/db")  // Canary: the engine reads both fragments as a record.
        let torn =
            change.whole + [UInt8](repeating: 0, count: missing) + change.begin.dropFirst(missing)
            + change.end
        try isMended(directory, list, torn, to: change.whole.count)
    }

    @Test(
        "A manifest is truncated at the last fragment of a record when that is missing", arguments: [0, 512])
    func endInNextBlock(_ left: Int) throws {
        let directory = try store()
        let list = try list(directory)
        let change = try atBlockEnd(list, begin: 100)
        let torn =
            change.whole + change.begin + change.end.prefix(left)
            + [UInt8](repeating: 0, count: change.end.count - left)
        try isMended(directory, list, torn, to: Self.block)
    }

    /// Expects that the engine rejects a manifest, and that the store truncates it at an offset and has all messages.
    private func isMended(_ directory: ScratchDirectory, _ list: URL, _ torn: [UInt8], to end: Int) throws {
        #expect(TornManifest.tornEnd(of: torn) == end)
        try Data(torn).write(to: list)
        let error = #expect(throws: StoreError.self, "canary: the engine reports damage") {
            try JournalScan(directory.path + "/db")
        }
        #expect(error?.kind == .corrupt)
        let store = try RocksStore(path: directory.path + "/db")
        #expect(store.remarks == [.tornManifest(list.lastPathComponent)])
        #expect(try store.mailbox(5).count == Int(Self.count))
        #expect(try Data(contentsOf: URL(fileURLWithPath: list.path + ".torn")) == Data(torn))
        try store.close()
        #expect(try RocksStore(path: directory.path + "/db").remarks.isEmpty)
    }

    @Test("A manifest is not truncated when it is intact, damaged, or continues after the torn record")
    func others() throws {
        let directory = try store()
        let whole = try padded(try list(directory), before: 3)
        #expect(TornManifest.tornEnd(of: whole + record(300)) == nil)
        #expect(
            TornManifest.tornEnd(of: Array((whole + record(300)).dropLast(10))) == nil, "the end is missing")
        var changed = whole + record(300)
        changed[whole.count] ^= 0x10
        #expect(TornManifest.tornEnd(of: changed) == nil, "a byte of the header has changed")
        let torn = whole + [0, 0, 0] + record(300).dropFirst(3)
        let more = (0..<9).flatMap { _ in record(2_000) }
        #expect(TornManifest.tornEnd(of: torn + more) == nil, "the torn record is not at the end")
        for place in stride(from: 0, to: whole.count, by: 7) {
            var damaged = torn
            damaged[place] ^= 0x10
            #expect(TornManifest.tornEnd(of: damaged) == nil, "byte \(place) before it has changed")
        }
    }
}
