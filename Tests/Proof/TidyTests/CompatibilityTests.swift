import Glibc
import Testing

/// docs/compatibility.md matches the plays, and every row of the specification has a proof.
///
/// One after the other, since the script writes the evidence that another test reads.
@Suite(.serialized) struct CompatibilityTests {
    static let hasPython = access("/usr/bin/python3", X_OK) == 0

    @Test(
        "docs/compatibility.md is what Scripts/compatibility prints",
        .enabled(if: hasPython, "python3 is not installed"))
    func page() {
        let result = SourceTree.output(
            of: "/usr/bin/python3 \(SourceTree.root)/Scripts/compatibility --check")
        #expect(result.code == 0, "\(result.text)")
    }

    @Test(
        "the evidence has a row for every requirement and every client",
        .enabled(if: hasPython, "python3 is not installed"))
    func evidence() throws {
        let check = "/usr/bin/python3 \(SourceTree.root)/Scripts/compatibility --check"
        #expect(SourceTree.output(of: check).code == 0)
        let evidence = try #require(SourceTree.read(".build/compatibility.md"))
        let rows = try #require(SourceTree.read("Fixtures/transcripts/appserver/rows.txt"))
        let names = rows.split(separator: "\n").filter { !$0.hasPrefix("#") }.compactMap {
            $0.split(separator: " ").first
        }
        #expect(names.count > 300)
        expectNone(names.filter { !evidence.contains("| \($0) |") }.map { "\($0) has no evidence" })
        let page = try #require(SourceTree.read("docs/compatibility.md"))
        let matrix = page.split(separator: "| client | connection |").last ?? ""
        let clients = matrix.split(separator: "\n").filter { $0.hasPrefix("| ") && !$0.hasPrefix("| **") }
            .compactMap { $0.split(separator: "|").first?.drop { $0 == " " } }
        #expect(clients.count > 30)
        expectNone(clients.filter { !evidence.contains("| \($0)") }.map { "\($0)has no evidence" })
    }

    @Test(
        "canary: a play without a row, a row without a play, and a different page are found",
        .enabled(if: hasPython, "python3 is not installed"))
    func canary() {
        let tree = SourceTree.output(of: "mktemp -d").text.dropLast()
        let plays = "\(tree)/Fixtures/transcripts/appserver"
        let script = """
            mkdir -p \(plays) \(tree)/Scripts && cp \(SourceTree.root)/Scripts/compatibility \(tree)/Scripts
            printf '1.1-a | A\\n1.1-b | B\\n' > \(plays)/rows.txt
            printf 'Proves: 1.1-a, 1.1-c\\nClients: any\\n' > \(plays)/01.1-x.play
            /usr/bin/python3 \(tree)/Scripts/compatibility --check
            """
        let found = SourceTree.output(of: "(\(script))")
        #expect(found.code == 1)
        #expect(found.text.contains("01.1-x.play proves 1.1-c"))
        #expect(found.text.contains("1.1-b has no play"))
        #expect(found.text.contains("differs from the plays"))
        _ = SourceTree.output(of: "rm -rf \(tree)")
    }
}
