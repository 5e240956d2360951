import Foundation
import Testing

/// Runs every code block of README.md and docs unchanged, except those listed here with a reason.
@Suite("Code blocks of the documentation")
struct ShownBlocksTests {
    /// A code block of a page.
    struct Block: CustomTestStringConvertible, Sendable {
        var file: String
        var line: Int
        var text: String
        var testDescription: String { "\(file):\(line)" }
        var firstLine: String { String(text.split(separator: "\n").first ?? "") }
    }

    /// Code blocks that are not run, by file and first line.
    static let notRun: [(file: String, firstLine: String, reason: String)] = [
        ("README.md", "Scripts/quickstart", "installs packages and builds for release"),
        ("README.md", "ccsd 0.1.0 is ready.", "output of a program"),
        ("README.md", "Scripts/test", "runs this test"),
        (
            "README.md",
            " app servers ──TLS 5235/5236──►┐                                  ┌◄──TLS 5228── devices, simulators (MCS)",
            "a diagram"
        ),
        (
            "README.md",
            "ccsctl apns add AuthKey_ABC123DEFG.p8 --team-id TEAM123456 --test-bundle-id com.example.app",
            "needs a key from Apple"
        ),
        (
            "docs/architecture.md",
            " app server                                                                       device",
            "a diagram"
        ),
        (
            "docs/backup.md", "ccsctl backup /var/lib/ccsd-backup/$(date +%Y-%m-%dT%H%M%S)",
            "needs the service; SystemdUnitTests runs the command"
        ),
        (
            "docs/backup.md", "systemctl stop ccsd.socket ccsd.service",
            "needs the service; BackupTests restores backups"
        ),
        ("docs/backup.md", "systemctl stop ccsd.socket", "needs the service"),
        ("docs/backup.md", "ccsctl export registry.jsonl", "needs two servers; ExportTests has them"),
        (
            "docs/ci-example.md", "- name: Push messages reach a device",
            "needs the programs in /usr/bin; CIExampleTests runs the script"
        ),
        (
            "docs/ci-example.md",
            "ccs-device many --sender 100000000001 --devices 10000 --tokens tokens --count 10000 --seconds 120 --json",
            "ten thousand devices wait two minutes for messages"
        ),
    ]

    /// Returns the code blocks of a page.
    static func blocks(of text: String, file: String) -> [Block] {
        var found: [Block] = []
        var open: Block?
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            if line.hasPrefix("```") {
                if let block = open { found.append(block) }
                open = open == nil ? Block(file: file, line: index + 2, text: "") : nil
            } else {
                open?.text += line + "\n"
            }
        }
        return found
    }

    static let all: [Block] = {
        let folder = TestPaths.root.appendingPathComponent("docs")
        let names = ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted()
            .filter { $0.hasSuffix(".md") }.map { "docs/\($0)" }
        return (["README.md"] + names).flatMap { name in
            let text =
                (try? String(contentsOf: TestPaths.root.appendingPathComponent(name), encoding: .utf8)) ?? ""
            return blocks(of: text, file: name)
        }
    }()

    private static func isListed(_ block: Block) -> Bool {
        notRun.contains { $0.file == block.file && $0.firstLine == block.firstLine }
    }

    static let run = all.filter { !isListed($0) }

    /// Whether a network namespace can be created, in which the default ports are free.
    static let canSeparate =
        (try? Tool.run(URL(fileURLWithPath: "/usr/bin/unshare"), separated + ["true"]).code) == 0
    private static let separated = [
        "--user", "--map-root-user", "--net", "/bin/bash", "-c", #"ip link set lo up && exec "$@""#, "bash",
    ]

    @Test("every listed code block exists, and other blocks are run")
    func listed() {
        for entry in Self.notRun {
            #expect(
                Self.all.contains { $0.file == entry.file && $0.firstLine == entry.firstLine },
                "\(entry.file) no longer has the block: \(entry.firstLine)")
            #expect(!entry.reason.isEmpty)
        }
        #expect(Self.run.contains { $0.file == "docs/ci-example.md" })
    }

    @Test(
        "a code block runs in an empty folder with the programs in PATH",
        .enabled(if: canSeparate, "unshare cannot create a network namespace"), arguments: run)
    func runs(block: Block) throws {
        let tool = try Self.paste(block.text)
        #expect(tool.code == 0, "\(block.testDescription): \(tool)")
    }

    /// Runs lines in a shell up to the first one that fails.
    private static func paste(_ text: String) throws -> Tool {
        let scratch = try Scratch()
        defer { extendLifetime(scratch) }
        let script = """
            set -em
            cd '\(scratch.url.path)'
            PATH='\(TestPaths.programs.path)':$PATH
            trap 'kill $(jobs -p) 2>/dev/null || true; wait || true' EXIT
            \(text)
            """
        return try Tool.run(
            URL(fileURLWithPath: "/usr/bin/unshare"), separated + ["/bin/bash", "-c", script], seconds: 180)
    }

    @Test(
        "canary: a block fails when its second line fails, and blocks are found by their lines",
        .enabled(if: canSeparate, "unshare cannot create a network namespace"))
    func canary() throws {
        #expect(try Self.paste("true\nccsctl nonsense\ntrue\n").code == 64)
        let found = Self.blocks(of: "a\n```\nb\nc\n```\n```yaml\nd\n```\n", file: "x")
        #expect(found.map(\.text) == ["b\nc\n", "d\n"] && found.map(\.line) == [3, 7])
    }
}
