import Basics
import Glibc
import Testing

@testable import RocksStore

/// The cost of a lookup of an absent key in a large store.
@Suite struct LookupCostTests {
    /// So large that an unpartitioned filter would exceed a shard of the engine's cache.
    private static let rows = 1_100_000
    private let directory = ScratchDirectory()

    @Test("A new upstream message reads few bytes when many IDs are stored")
    func few() throws {
        let engine = try Engine(path: directory.path + "/db", memory: SeenFilter())
        var random = SeededRandom(seed: 5)
        for _ in 0..<(Self.rows / 10_000) {
            let batch = EngineBatch(engine)
            for _ in 0..<10_000 { batch.put(.seen, Self.key(&random).bytes, Key(1).bytes) }
            try engine.write(batch)
        }
        engine.compact(.seen)
        let before = Self.readBytes
        for _ in 0..<2_000 {
            #expect(try engine.get(.seen, Self.key(&random).bytes) { $0.byteCount } == nil)
        }
        let each = (Self.readBytes - before) / 2_000
        // A partition of a filter has 4 KiB. One in a hundred lookups also reads a block of rows.
        #expect(each < 8_192, "\(each) bytes each: the whole filter is read")
    }

    @Test("canary: reads of a file by this thread are counted")
    func canary() {
        let before = Self.readBytes
        let file = open("/proc/self/exe", O_RDONLY)
        var room = [UInt8](repeating: 0, count: 1_048_576)
        let count = read(file, &room, room.count)
        close(file)
        #expect(count == room.count && Self.readBytes - before >= count)
    }

    private static func key(_ random: inout SeededRandom) -> Key { Key(random.next(), random.next()) }

    /// Number of bytes that this thread has read so far, from files or from the page cache.
    private static var readBytes: Int {
        let file = open("/proc/thread-self/io", O_RDONLY)
        defer { close(file) }
        var room = [UInt8](repeating: 0, count: 4_096)
        let count = read(file, &room, room.count)
        let line =
            String(decoding: room.prefix(max(0, count)), as: UTF8.self).split(separator: "\n").first ?? ""
        return Int(line.split(separator: " ").last ?? "") ?? -1
    }
}
