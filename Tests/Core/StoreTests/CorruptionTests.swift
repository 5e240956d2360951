import Delivery
import Foundation
import RocksStore
import Store
import Testing

/// Bytes that change on the disk: the store detects and names the damage, and serves everything that is intact.
@Suite struct CorruptionTests {
    private static let owners = 1...4 as ClosedRange<UInt64>
    private static let sizes: EngineSizes = {
        var sizes = EngineSizes()
        sizes.buffers = 393_216
        return sizes
    }()

    /// Returns the directory of a closed store with many sorted files.
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

    /// Returns the files of a store whose names start or end with a mark.
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

    /// Opens a damaged store and returns its error. Returns `nil` if everything can be read.
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
        "A store names the file with a changed byte, and serves the rest",
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
                    // If the engine cannot open a sorted file, it names the manifest that lists the file.
                    #expect(words.contains(file) || words.contains("/MANIFEST-"), "\(words)")
                }
                // Nothing was removed: with the original byte everything is there.
                guard try files(copy, mark).contains(file) else { continue }
                try flip(file, in: copy, at: part)
                #expect(try complaint(copy, whole) == nil)
            }
        }
        #expect(noticed > 0)
    }

    @Test("A store skips no row when a byte after the rows of a sorted file has changed")
    func behindRows() throws {
        let directory = try filled()
        let whole = mailboxes(try RocksStore(path: directory.path + "/db", sizes: Self.sizes))
        var noticed = 0
        for file in try files(directory, ".sst") {
            let size = try Data(contentsOf: URL(fileURLWithPath: directory.path + "/db/" + file)).count
            // Filter, index, properties and footer are in the last bytes. Each has a checksum.
            for byte in stride(from: max(0, size - 1_500), to: size, by: 101) {
                let copy = try directory.copied()
                try flip(file, in: copy, at: (Double(byte) + 0.5) / Double(size))
                if try complaint(copy, whole) != nil { noticed += 1 }
            }
        }
        #expect(noticed > 0)
    }
}
