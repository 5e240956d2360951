import Foundation
import Testing

/// The tests and libraries that docs/security-evidence.md names exist.
@Suite struct SecurityPageTests {
    /// Returns the names of tests on a page, which are in double quotes.
    static func proofs(in page: String) -> [Substring] {
        let parts = page.split(separator: "\"", omittingEmptySubsequences: false)
        return parts.indices.filter { !$0.isMultiple(of: 2) }.map { parts[$0] }
    }

    /// Returns the names without a test.
    static func missing(_ page: String) -> [Substring] {
        let tests = SourceTree.tests
        return proofs(in: page).filter { proof in !tests.contains { $0.mentions("\"\(proof)\"") } }
    }

    @Test("every test that docs/security-evidence.md names exists")
    func exist() throws {
        let page = try #require(SourceTree.read("docs/security-evidence.md"))
        #expect(Self.proofs(in: page).count > 40)
        #expect(Self.missing(page) == [])
    }

    @Test("docs/security-evidence.md names every library of Package.swift")
    func libraries() throws {
        let page = try #require(SourceTree.read("docs/security-evidence.md"))
        let manifest = try #require(SourceTree.read("Package.swift"))
        let doors = [
            "COpenSSL": "OpenSSL", "CExpat": "expat", "CNGHTTP2": "nghttp2", "CZlib": "zlib",
            "CRocksDB": "RocksDB", "CYAML": "libyaml", "CCURL": "libcurl", "CLibXML2": "libxml2",
        ]
        let used = manifest.matches(of: /name: "(C[A-Z]\w+)"/).map { String($0.1) }
            .filter { !["CLinux", "CCommit"].contains($0) }
        #expect(
            Set(used) == Set(doors.keys), "add the new library to docs/security-evidence.md and to this test")
        for (door, library) in doors { #expect(page.contains(library), "\(door)") }
    }

    /// Returns the version of a library in the table of libraries.
    private static func version(of library: String, in page: String) -> String? {
        page.matches(of: /\| (\w+) \| ([0-9]+\.[0-9]+) \|/).first { $0.1 == library }.map { String($0.2) }
    }

    @Test(
        "docs/security-evidence.md has the versions of the installed libraries",
        arguments: [
            ("OpenSSL", "openssl"), ("expat", "expat"), ("nghttp2", "libnghttp2"), ("zlib", "zlib"),
            ("RocksDB", "rocksdb"), ("libyaml", "yaml-0.1"), ("libcurl", "libcurl"),
            ("libxml2", "libxml-2.0"),
        ])
    func versions(library: String, package: String) throws {
        let page = try #require(SourceTree.read("docs/security-evidence.md"))
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

    @Test("canary: the name of a missing test is found")
    func canary() {
        let page = "| a threat | a guard | \"no such test " + "anywhere\" |"
        #expect(Self.missing(page).count == 1)
    }
}
