import Delivery
import Foundation
import RocksStore
import Store
import Testing

/// Bytes that change on the disk: it is noticed, it is named, and what is whole stays and is served.
@Suite struct CorruptionTests {
    private static let owners = 1...4 as ClosedRange<UInt64>
    private static let sizes: EngineSizes = {
        var sizes = EngineSizes()
        sizes.buffers = 393_216
        return sizes
    }()

    /// A store of many sorted files, closed.
    private func filled() throws -> ScratchDirectory {
        let directory = ScratchDirectory()
        let store = try RocksStore(path: directory.path + "/db", sizes: Self.sizes)
        for sequence in 1...150 as ClosedRange<UInt64> {
            for owner in Self.owners {
                let body = (0..<900).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ Int(sequence) * Int(owner)) }
                try store.apply(.putMessage(Samples.message(owner, sequence, body: body)), durable: false)
            }
        }
        try store.close()
        return directory
    }

    /// The files of a store whose names begin or end so.
    private func files(_ directory: ScratchDirectory, _ mark: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory.path + "/db")
            .filter { $0.hasPrefix(mark) || $0.hasSuffix(mark) }.sorted()
    }

    private func flip(_ file: String, in directory: ScratchDirectory, at part: Double) throws {
        let url = URL(fileURLWithPath: directory.path + "/db/" + file)
        var bytes = try Data(contentsOf: url)
        bytes[Int(Double(bytes.count) * part)] ^= 0x10
        try bytes.write(to: url)
    }

    private func mailboxes(_ store: RocksStore) -> [UInt64: [StoredMessage]] {
        var found: [UInt64: [StoredMessage]] = [:]
        for owner in Self.owners { found[owner] = try? store.mailbox(owner) }
        return found
    }

    /// Opens a damaged store; what it said, nil: there was no need to say anything.
    private func complaint(_ directory: ScratchDirectory, _ whole: [UInt64: [StoredMessage]]) throws
        -> String?
    {
        let store: RocksStore
        do throws(StoreError) {
            store = try RocksStore(path: directory.path + "/db", sizes: Self.sizes)
        } catch {
            #expect(error.kind == .damaged, "\(error)")
            return error.description
        }
        let found = mailboxes(store)
        for (owner, messages) in found { #expect(messages == whole[owner], "mailbox \(owner)") }
        let audit = try store.audit()
        if audit.holds { #expect(found.count == whole.count) }
        return audit.unreadable.isEmpty ? nil : audit.unreadable.joined(separator: "; ")
    }

    @Test(
        "a changed byte is noticed, its file is named, and the rest is there",
        arguments: [".sst", "MANIFEST-"])
    func changed(_ mark: String) throws {
        let directory = try filled()
        let whole = mailboxes(try RocksStore(path: directory.path + "/db", sizes: Self.sizes))
        #expect(whole.values.allSatisfy { $0.count == 150 }, "the canary: all is there before the damage")
        let names = try files(directory, mark)
        #expect(!names.isEmpty)
        var noticed = 0
        for file in names.suffix(4) {
            for part in [0.1, 0.3, 0.5, 0.7] {
                let copy = try directory.copied()
                try flip(file, in: copy, at: part)
                if let words = try complaint(copy, whole) {
                    noticed += 1
                    // Where the engine could not open a sorted file it names the list that it has it from.
                    #expect(words.contains(file) || words.contains("/MANIFEST-"), "\(words)")
                }
                // Nothing was taken away: with the byte as it was, all is there.
                guard try files(copy, mark).contains(file) else { continue }
                try flip(file, in: copy, at: part)
                #expect(try complaint(copy, whole) == nil)
            }
        }
        #expect(noticed > 0)
    }

    @Test("A changed byte anywhere behind the rows of any sorted file is noticed, and no row is passed over")
    func behindRows() throws {
        let directory = try filled()
        let whole = mailboxes(try RocksStore(path: directory.path + "/db", sizes: Self.sizes))
        var noticed = 0
        for file in try files(directory, ".sst") {
            let size = try Data(contentsOf: URL(fileURLWithPath: directory.path + "/db/" + file)).count
            // Filter, index, properties and the foot lie in the last bytes, and each is sealed as a whole.
            for byte in stride(from: max(0, size - 1_500), to: size, by: 101) {
                let copy = try directory.copied()
                try flip(file, in: copy, at: (Double(byte) + 0.5) / Double(size))
                if try complaint(copy, whole) != nil { noticed += 1 }
            }
        }
        #expect(noticed > 0)
    }
}
