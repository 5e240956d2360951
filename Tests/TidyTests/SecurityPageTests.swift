import Foundation
import Testing

/// docs/security.md names no proof that does not exist, and no library that is not used.
@Suite struct SecurityPageTests {
    /// The proofs that a page names: in rows of tables and in text, between double quotes.
    static func proofs(in page: String) -> [Substring] {
        let parts = page.split(separator: "\"", omittingEmptySubsequences: false)
        return parts.indices.filter { !$0.isMultiple(of: 2) }.map { parts[$0] }
    }

    /// The proofs for which there is no test.
    static func missing(_ page: String) -> [Substring] {
        proofs(in: page).filter { proof in
            !SourceTree.tests.contains { $0.text.contains("\"\(proof)\"") }
        }
    }

    @Test("every test that the page names exists")
    func exist() throws {
        let page = try #require(SourceTree.read("docs/security.md"))
        #expect(Self.proofs(in: page).count > 40)
        #expect(Self.missing(page) == [])
    }

    @Test("the page has every library of Package.swift")
    func libraries() throws {
        let page = try #require(SourceTree.read("docs/security.md"))
        let manifest = try #require(SourceTree.read("Package.swift"))
        let doors = [
            "COpenSSL": "OpenSSL", "CExpat": "expat", "CNGHTTP2": "nghttp2", "CZlib": "zlib",
            "CRocksDB": "RocksDB", "CYAML": "libyaml", "CLibXML2": "libxml2",
        ]
        let used = manifest.matches(of: /name: "(C[A-Z]\w+)"/).map { String($0.1) }.filter { $0 != "CLinux" }
        #expect(Set(used) == Set(doors.keys), "name the new library in the page and here")
        for (door, library) in doors { #expect(page.contains(library), "\(door)") }
    }

    /// The version that a row of the table of libraries names.
    private static func version(of library: String, in page: String) -> String? {
        page.matches(of: /\| (\w+) \| ([0-9]+\.[0-9]+) \|/).first { $0.1 == library }.map { String($0.2) }
    }

    @Test(
        "the versions on the page are those that are built with",
        arguments: [
            ("OpenSSL", "openssl"), ("expat", "expat"), ("nghttp2", "libnghttp2"), ("zlib", "zlib"),
            ("RocksDB", "rocksdb"), ("libyaml", "yaml-0.1"), ("libxml2", "libxml-2.0"),
        ])
    func versions(library: String, package: String) throws {
        let page = try #require(SourceTree.read("docs/security.md"))
        let tool = Process()
        let output = Pipe()
        tool.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        tool.arguments = ["pkg-config", "--modversion", package]
        tool.standardOutput = output
        try tool.run()
        let words = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        tool.waitUntilExit()
        let installed = words.split { ".\n".contains($0) }.prefix(2).joined(separator: ".")
        #expect(Self.version(of: library, in: page) == installed)
        #expect(Self.version(of: "nothing", in: page) == nil, "canary")
    }

    @Test("canary: a proof that does not exist is found")
    func canary() {
        let page = "| a threat | a guard | \"no such test " + "anywhere\" |"
        #expect(Self.missing(page).count == 1)
    }
}
