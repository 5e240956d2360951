import Delivery
import Foundation
import Store
import Testing

@testable import RocksStore

/// The engine's list of files with a torn end, as power cuts of Scripts/bad-disk have left it.
@Suite struct TornListTests {
    private static let count = 20 as UInt64

    /// A record of the list with a change that the engine passes over, of so many octets or a few more.
    private func record(_ size: Int) -> [UInt8] {
        // A tag that may be ignored (8,193), the length, and as much of nothing.
        let content = max(0, size - 7 - 4)
        var octets: [UInt8] = [0x81, 0x40, UInt8(content & 0x7f) | 0x80, UInt8(content >> 7)]
        octets += [UInt8](repeating: 7, count: content)
        let type = [1 as UInt8]
        let checksum = TornList.checksum((type + octets)[...])
        let head = (0..<4).map { UInt8(truncatingIfNeeded: checksum >> (8 * UInt32($0))) }
        return head + [UInt8(octets.count & 0xff), UInt8(octets.count >> 8)] + type + octets
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

    /// The list, made to end so many octets before a sector does.
    private func padded(_ list: URL, before: Int) throws -> [UInt8] {
        var octets = [UInt8](try Data(contentsOf: list))
        let missing = 512 - before - octets.count % 512
        octets += record(missing < 20 ? missing + 512 : missing)
        try #require(octets.count % 512 == 512 - before)
        return octets
    }

    @Test("A change whose head lost its first sector alone is cut off, told of, and kept", arguments: 1...6)
    func torn(_ before: Int) throws {
        let directory = try store()
        let list = try list(directory)
        let whole = try padded(list, before: before)
        let torn = whole + [UInt8](repeating: 0, count: before) + record(300).dropFirst(before)
        #expect(TornList.tornEnd(of: torn) == whole.count)
        try Data(torn).write(to: list)
        let error = #expect(throws: StoreError.self, "canary: the engine takes it for damage") {
            try LogEnd(directory.path + "/db")
        }
        #expect(error?.kind == .corrupt)
        let store = try RocksStore(path: directory.path + "/db")
        #expect(store.remarks == [.tornList(list.lastPathComponent)])
        #expect(try store.mailbox(5).count == Int(Self.count))
        #expect(try Data(contentsOf: URL(fileURLWithPath: list.path + ".torn")) == Data(torn))
        try store.close()
        #expect(try RocksStore(path: directory.path + "/db").remarks.isEmpty)
    }

    @Test("A change whose last sectors are zeros is cut off as well", arguments: [8, 100, 300])
    func tornTail(_ before: Int) throws {
        let directory = try store()
        let list = try list(directory)
        let whole = try padded(list, before: before)
        let torn = whole + record(900).prefix(before) + [UInt8](repeating: 0, count: 900 - before)
        #expect(TornList.tornEnd(of: torn) == whole.count)
        try Data(torn).write(to: list)
        #expect(throws: StoreError.self, "canary: the engine takes it for damage") {
            try LogEnd(directory.path + "/db")
        }
        let store = try RocksStore(path: directory.path + "/db")
        #expect(store.remarks == [.tornList(list.lastPathComponent)])
        #expect(try store.mailbox(5).count == Int(Self.count))
        var damaged = torn
        damaged[torn.count - 1] = 1
        #expect(TornList.tornEnd(of: damaged) == nil, "the last sector was written, and is damaged")
    }

    @Test("Nothing else is cut off: what is whole, what is damaged, what has more behind it")
    func others() throws {
        let directory = try store()
        let whole = try padded(try list(directory), before: 3)
        #expect(TornList.tornEnd(of: whole + record(300)) == nil)
        #expect(TornList.tornEnd(of: Array((whole + record(300)).dropLast(10))) == nil, "the end is missing")
        var changed = whole + record(300)
        changed[whole.count] ^= 0x10
        #expect(TornList.tornEnd(of: changed) == nil, "an octet of the head has changed")
        let torn = whole + [0, 0, 0] + record(300).dropFirst(3)
        #expect(TornList.tornEnd(of: torn + record(2_000) + record(2_000)) == nil, "it is not at the end")
        for place in stride(from: 0, to: whole.count, by: 7) {
            var damaged = torn
            damaged[place] ^= 0x10
            #expect(TornList.tornEnd(of: damaged) == nil, "octet \(place) before it has changed")
        }
    }
}
