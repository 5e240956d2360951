import Basics
import Testing

@testable import NodeProtocol

/// Copies of a store between nodes.
@Suite("Copies of a store") struct CopyTests {
    private static let digest = [UInt8](repeating: 7, count: CopyContent.digestBytes)

    private func content(_ files: [(String, [UInt8])]) throws -> [UInt8] {
        var content: [UInt8] = []
        for (name, bytes) in files {
            content += try #require(CopyContent.file(name, bytes: UInt64(bytes.count)))
            content += bytes + Self.digest
        }
        return content + CopyContent.end
    }

    private func description(_ files: Int, _ bytes: Int) -> CopyDescription {
        CopyDescription(layout: 1, files: UInt32(files), bytes: UInt64(bytes))
    }

    /// Reads a content in parts of a length. Returns the files, or throws.
    private func read(
        _ content: [UInt8], _ description: CopyDescription, parts: Int
    ) throws -> (files: [String: [UInt8]], isComplete: Bool) {
        var reader = CopyReader(description)
        var (files, name): ([String: [UInt8]], String) = ([:], "")
        for start in stride(from: 0, to: content.count, by: parts) {
            let part = Array(content[start..<min(content.count, start + parts)])
            for item in try reader.read(part.raw) {
                switch item {
                case .file(let new, _): (name, files[new]) = (new, [])
                case .bytes(let range): files[name, default: []] += part[range]
                case .digest(let digest): #expect(digest == Self.digest)
                case .end: name = ""
                }
            }
        }
        return (files, reader.isComplete)
    }

    @Test(
        "a copy is read as it was written, in parts of any length", arguments: [1, 2, 7, 33, 1_000, 100_000])
    func parts(length: Int) throws {
        let large = (0..<70_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let files = [("CURRENT", Array("MANIFEST-1\n".utf8)), ("000012.sst", large), ("000013.log", [])]
        let found = try read(content(files), description(3, 70_011), parts: length)
        #expect(found.isComplete && found.files.count == 3)
        for (name, bytes) in files { #expect(found.files[name] == bytes) }
    }

    @Test("a copy with other files or bytes than announced is refused or incomplete")
    func announced() throws {
        let whole = try content([("a.sst", [1, 2, 3]), ("b.sst", [4])])
        #expect(try read(whole, description(2, 4), parts: 5).isComplete)
        #expect(try !read(whole, description(2, 5), parts: 5).isComplete)
        #expect(try !read(whole, description(3, 4), parts: 5).isComplete)
        #expect(try !read(Array(whole.dropLast()), description(2, 4), parts: 5).isComplete)
        for description in [description(1, 4), description(2, 3)] {
            #expect(throws: NodeProtocolFault.self) { try read(whole, description, parts: 5) }
        }
        #expect(throws: NodeProtocolFault.self) { try read(whole + [0], description(2, 4), parts: 5) }
        #expect(throws: NodeProtocolFault.self) {
            try read(content([("a.sst", [1]), ("a.sst", [2])]), description(2, 2), parts: 5)
        }
    }

    @Test("a name that leads out of the folder of the store is neither written nor read")
    func names() throws {
        for name in ["", ".", "..", "../x", "a/b", ".hidden", "a b", "é", String(repeating: "x", count: 65)] {
            #expect(CopyContent.file(name, bytes: 1) == nil, "\(name)")
            let bytes = [UInt8(name.utf8.count)] + Array(name.utf8) + [UInt8](repeating: 0, count: 8)
            guard !name.isEmpty else { continue }
            #expect(throws: NodeProtocolFault.self, "\(name)") {
                try read(bytes, description(1, 1), parts: 5)
            }
        }
    }

    @Test("each header is read as it was written, and nothing else is one")
    func headers() throws {
        let headers: [CopyHeader] =
            [.request(5), .copy(.max, CopyDescription(layout: 9, files: 12, bytes: 1 << 40))]
            + CopyRefusal.allCases.map { .refused(7, $0) }
        for header in headers {
            let bytes = header.encoded()
            #expect(try CopyHeader(decoding: bytes.raw) == header)
            for count in bytes.indices {
                #expect(throws: NodeProtocolFault.self) {
                    try CopyHeader(decoding: Array(bytes[..<count]).raw)
                }
            }
            #expect(throws: NodeProtocolFault.self) { try CopyHeader(decoding: (bytes + [0]).raw) }
        }
        let many = CopyHeader.copy(1, description(Limits.StoreCopy.files + 1, 0)).encoded()
        for bytes in [many, [1, 4, 0], [1, 2, 0, 9], [2, 1, 0]] {
            #expect(throws: NodeProtocolFault.self) { try CopyHeader(decoding: bytes.raw) }
        }
    }
}
