import Basics
import Delivery
import Foundation
import Store
import Testing

@testable import RocksStore

/// The journal by itself: a frame is read as it was written, or it is rejected.
@Suite struct JournalTests {
    private let directory = ScratchDirectory()
    private var path: String { directory.path + "/db" }

    private func frame(_ commit: UInt64, segment: UInt64, _ body: [UInt8] = [1, 2, 3]) -> [UInt8] {
        var writer = JournalWriter()
        writer.begin()
        writer.put(.senders, Key(commit).bytes, body.raw)
        writer.seal(commit: commit, segment: segment)
        return writer.frame.copied()
    }

    @Test("A reader returns every entry as it was written")
    func entries() throws {
        var writer = JournalWriter()
        var record = ByteBuffer()
        record.append([9, 8, 7])
        writer.begin()
        var isEmpty = writer.isEmpty
        #expect(isEmpty)
        let places = [
            MessageKey(kind: .message, owner: 3, sequence: .max),
            MessageKey(kind: .upstream, owner: 4, sequence: 5),
        ]
        for place in places { writer.put(place, record: record) }
        for place in places { writer.remove(place, end: -7) }
        let seen = SeenKey(Samples.upstream(8, 1)).key
        writer.seen(seen.bytes, time: Key(77).bytes)
        writer.put(.groups, Key(1).bytes, record.bytes)
        writer.put(.topics, Key(2).bytes, Key().bytes)
        writer.remove(.fanouts, Key(3).bytes)
        writer.tally(3, record)
        isEmpty = writer.isEmpty
        #expect(!isEmpty)
        writer.seal(commit: 12, segment: 10)
        let bytes = writer.frame.copied()
        let found = JournalFrame.entries(in: bytes.raw, at: 0, commit: 12, segment: 10)
        let range = try #require(found)
        var reader = JournalReader(range)
        var described: [String] = []
        while let entry = try reader.next(in: bytes.raw) {
            func text(_ range: Range<Int>) -> String { bytes[range].map { "\($0)" }.joined(separator: ",") }
            switch entry {
            case .put(let place, let record):
                described.append("put \(place.kind) \(place.owner) \(place.sequence) \(text(record))")
            case .remove(let place, let end):
                described.append("remove \(place.kind) \(place.owner) \(place.sequence) \(end)")
            case .seen(let key, let time):
                #expect(Array(bytes[key]) == [UInt8](copying: seen.bytes))
                described.append("seen \(text(time))")
            case .row(let family, let key, let value):
                described.append("row \(family) \(bytes[key].last ?? 0) \(value.map(text) ?? "nil")")
            case .tally(let partition, let record): described.append("tally \(partition) \(text(record))")
            }
        }
        #expect(
            described == [
                "put message 3 18446744073709551615 9,8,7", "put upstream 4 5 9,8,7",
                "remove message 3 18446744073709551615 -7", "remove upstream 4 5 -7", "seen 0,0,0,0,0,0,0,77",
                "row groups 1 9,8,7", "row topics 2 ", "row fanouts 3 nil", "tally 3 9,8,7",
            ])
    }

    @Test("A frame is rejected when it is in another place, truncated, or has a changed byte")
    func strangers() {
        let bytes = frame(12, segment: 10)
        func isTaken(_ bytes: [UInt8], _ commit: UInt64 = 12, _ segment: UInt64 = 10) -> Bool {
            JournalFrame.entries(in: bytes.raw, at: 0, commit: commit, segment: segment) != nil
        }
        #expect(isTaken(bytes) && isTaken(bytes + [1, 2, 3]))
        #expect(!isTaken(bytes, 13) && !isTaken(bytes, 12, 11) && !isTaken([]))
        for length in 0..<bytes.count { #expect(!isTaken(Array(bytes.prefix(length)))) }
        for place in bytes.indices {
            var changed = bytes
            changed[place] ^= 0x10
            #expect(!isTaken(changed), "byte \(place)")
        }
    }

    @Test("A reader rejects entries that no version has written")
    func garbage() throws {
        for bytes in [
            [0], [9], [1, 2, 3], [6, 99] + [UInt8](repeating: 0, count: 16),
            [8] + [UInt8](repeating: 255, count: 8),
        ]
            as [[UInt8]]
        {
            var reader = JournalReader(0..<bytes.count)
            #expect(throws: RecordFault.self) {
                while true {
                    let entry = try reader.next(in: bytes.raw)
                    if entry == nil { break }
                }
            }
        }
    }

    private func write(_ entry: JournalEntry, of file: [UInt8], to writer: inout JournalWriter) {
        func record(_ range: Range<Int>) -> ByteBuffer {
            var record = ByteBuffer()
            record.append(file.raw.extracting(range))
            return record
        }
        switch entry {
        case .put(let place, let range): writer.put(place, record: record(range))
        case .remove(let place, let end): writer.remove(place, end: end)
        case .seen(let key, let time): writer.seen(file.raw.extracting(key), time: file.raw.extracting(time))
        case .row(let family, let key, let value?):
            writer.put(family, file.raw.extracting(key), file.raw.extracting(value))
        case .row(let family, let key, nil): writer.remove(family, file.raw.extracting(key))
        case .tally(let partition, let range): writer.tally(partition, record(range))
        }
    }

    @Test(
        "A reader rejects randomly changed entries, or they are written again as the same bytes"
    )
    func mutated() {
        var random = SeededRandom(seed: 7)
        var writer = JournalWriter()
        var record = ByteBuffer()
        record.append([9, 8, 7])
        writer.begin()
        writer.put(MessageKey(kind: .message, owner: 3, sequence: 4), record: record)
        writer.put(.groups, Key(1).bytes, record.bytes)
        writer.remove(.fanouts, Key(3).bytes)
        writer.seen(SeenKey(Samples.upstream(8, 1)).key.bytes, time: Key(77).bytes)
        writer.tally(3, record)
        let whole = [UInt8](writer.frame.copied().dropFirst(JournalFrame.head))
        var (read, refused) = (0, 0)
        for _ in 0..<50_000 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let at = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[at] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.remove(at: at)
                default: bytes.insert(UInt8.random(in: 0...9, using: &random), at: at)
                }
            }
            var reader = JournalReader(0..<bytes.count)
            writer.begin()
            do throws(RecordFault) {
                while let entry = try reader.next(in: bytes.raw) { write(entry, of: bytes, to: &writer) }
                read += 1
                let again = [UInt8](writer.frame.copied().dropFirst(JournalFrame.head))
                if again != bytes { Issue.record("\(bytes) was read, and is written as \(again)") }
            } catch { refused += 1 }
        }
        #expect(read > 0 && refused > 0)
    }

    @Test(
        "A scan skips files whose commits the engine has when they are torn or have gaps between them"
    )
    func unreachable() throws {
        let store = try RocksStore(path: path)
        for sequence in 1...20 as ClosedRange<UInt64> {
            try store.apply(.putMessage(Samples.message(5, sequence)))
        }
        try store.close()
        let closed = try JournalScan(path)
        #expect(
            closed.applied == 20 && closed.commit == 20 && closed.segments.allSatisfy { $0.frames.isEmpty }
        )
        for (first, bytes) in [(3, frame(3, segment: 3)), (7, [1, 2, 3]), (15, [])] as [(UInt64, [UInt8])] {
            try Data(bytes).write(to: URL(fileURLWithPath: "\(path)/\(JournalFolder.name(first))"))
        }
        // A file that continues after the last commit of the engine.
        try Data(frame(21, segment: 21, [UInt8](repeating: 0, count: 9)))
            .write(to: URL(fileURLWithPath: "\(path)/\(JournalFolder.name(21))"))
        let scan = try JournalScan(path)
        #expect(scan.commit == 21 && scan.failure(synced: 21) == nil)
        let again = try RocksStore(path: path)
        #expect(try again.mailbox(5).count == 20)
        let left = try FileManager.default.contentsOfDirectory(atPath: path).filter {
            JournalFolder.first(of: $0) != nil
        }
        #expect(left == [JournalFolder.name(22)])
    }

    @Test("The journal removes files once the engine has flushed their commits")
    func retired() throws {
        let store = try RocksStore(path: path, sizes: Kind.rotating.sizes)
        for sequence in 1...400 as ClosedRange<UInt64> {
            try store.apply(
                .putMessage(Samples.message(5, sequence, body: [UInt8](repeating: 1, count: 300))))
            let files = try FileManager.default.contentsOfDirectory(atPath: path).filter {
                JournalFolder.first(of: $0) != nil
            }
            #expect(files.count < 12, "after \(sequence)")
        }
        #expect(try store.mailbox(5).count == 400)
        let killed = try directory.copied()
        #expect(try JournalScan(killed.path + "/db").applied > 300)
        #expect(try RocksStore(path: killed.path + "/db").mailbox(5).count == 400)
    }

    @Test("Recent messages move to the engine, oldest commit first, when they exceed their limit")
    func moving() throws {
        var index = RecentIndex(partitions: 1)
        let header = MessageRecord.Header(isCounted: true, expiresAt: 9)
        func place(_ sequence: UInt64) -> MessageKey {
            MessageKey(kind: .message, owner: 1, sequence: sequence)
        }
        for commit in 1...4 as ClosedRange<UInt64> {
            try index.put(place(commit), in: 0, header, commit: commit)
            index.put(SeenKey(Samples.upstream(8, 1, device: commit)), at: 5, commit: commit)
            try index.end(commit, bytes: 10)
        }
        index.remove(place(2))
        #expect(try index.evict(to: 40).commit == nil)
        let first = try index.evict(to: 25)
        #expect(first.commit == 2 && first.keys == [place(1)] && first.seen.count == 2)
        #expect(index[place(1)] == nil && index[place(3)]?.commit == 3)
        let seen = (1...3 as ClosedRange<UInt64>).map { SeenKey(Samples.upstream(8, 1, device: $0)) }
        #expect(seen.allSatisfy { index[$0] == 5 }, "the engine has the first two in its memtable only")
        index.forget(upTo: 2, atMost: 1)
        #expect(index[seen[0]] == nil && index[seen[1]] == 5)
        index.forget(upTo: 3, atMost: 9)
        #expect(index[seen[1]] == nil && index[seen[2]] == 5, "the third has not moved to the engine")
        // A message that was removed and put again belongs to the later commit.
        index.remove(place(3))
        try index.put(place(3), in: 0, header, commit: 5)
        try index.end(5, bytes: 10)
        #expect(try index.evict(to: 10).keys == [place(4)])
        #expect(try index.evict(to: 0).keys == [place(3)] && index.bytes == 0)
    }

    @Test("A commit is synced before the engine gets it, and not when it only has recent messages")
    func order() throws {
        for (kind, synced) in [(Kind.rocks, 0), (.moving, 1)] {
            let directory = ScratchDirectory()
            let store = try RocksStore(path: directory.path + "/db", sizes: kind.sizes)
            try store.apply(.putMessage(Samples.message(5, 1)), durable: false)
            #expect(try SyncMark.read(directory.path + "/db") == .synced(UInt64(synced)), "\(kind)")
            #expect(try store.mailbox(5).count == 1)
        }
    }

    @Test("canary: a scan ends at a commit whose number is not the next one")
    func gap() throws {
        try RocksStore(path: path).close()
        let bytes = frame(1, segment: 1) + frame(3, segment: 1)
        try Data(bytes).write(to: URL(fileURLWithPath: "\(path)/\(JournalFolder.name(1))"))
        let scan = try JournalScan(path)
        #expect(scan.commit == 1 && scan.unread == [JournalFolder.name(1)])
        #expect(scan.failure(synced: 3)?.kind == .lost && scan.failure(synced: 1) == nil)
    }
}
