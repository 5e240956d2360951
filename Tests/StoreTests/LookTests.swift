import Basics
import Glibc
import Testing

@testable import RocksStore

/// What a look for something that is not there costs, when much is.
@Suite struct LookTests {
    /// Enough that their filter in one piece is larger than a shard of the engine's cache.
    private static let rows = 1_100_000
    private let directory = ScratchDirectory()

    @Test("An upstream message that is new reads few bytes, however many ids are remembered")
    func few() throws {
        let engine = try Engine(path: directory.path + "/db", memory: SeenMemory())
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
        // A piece of a filter has 4 KiB; one look in a hundred reads a block of rows as well.
        #expect(each < 8_192, "\(each) bytes each: the filter is read whole")
    }

    @Test("Canary: what this thread reads of a file is seen")
    func canary() {
        let before = Self.readBytes
        let file = open("/proc/self/exe", O_RDONLY)
        var room = [UInt8](repeating: 0, count: 1_048_576)
        let count = read(file, &room, room.count)
        close(file)
        #expect(count == room.count && Self.readBytes - before >= count)
    }

    private static func key(_ random: inout SeededRandom) -> Key { Key(random.next(), random.next()) }

    /// Bytes that this thread has read so far, from files and caches of the system alike.
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
