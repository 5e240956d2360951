import Foundation
import Testing

/// Runs every code block of the top-level pages and docs unchanged, except those listed here with a reason.
///
/// The blocks of a page in `sessions` run one after the other in one shell. A block of output is compared with what its programs
/// print: ShownOutputTests.
@Suite("Code blocks of the documentation")
struct ShownBlocksTests {
    /// A block, by its page and first line.
    struct Place: Equatable, Sendable {
        var file: String
        var firstLine: String
    }

    /// A code block of a page.
    struct Block: CustomTestStringConvertible, Sendable {
        var file: String
        var line: Int
        var text: String
        /// The language after the fence, or nothing for commands.
        var language = ""
        var testDescription: String { "\(file):\(line)" }
        var place: Place { Place(file: file, firstLine: firstLine) }
        var firstLine: String { String(text.split(separator: "\n").first ?? "") }
    }

    /// Code blocks that are not run, by file and first line.
    static let notRun: [(file: String, firstLine: String, reason: String)] = [
        ("README.md", "Scripts/quickstart", "builds for release; ShownOutputTests runs it without a build"),
        (
            "README.md",
            " app servers ── XMPP, TLS 5235 ──►┌──────────────────┐◄─ MCS, TLS 5228 ── devices",
            "a diagram"
        ),
        (
            "README.md",
            "ccsctl apns add AuthKey_ABC123DEFG.p8 --team-id TEAM123456 --test-bundle-id com.example.app",
            "needs a key from Apple"
        ),
        ("CONTRIBUTING.md", "Scripts/bootstrap --tests", "installs packages and runs this test"),
        (
            "docs/architecture.md",
            " app server                                                                       device",
            "a diagram"
        ),
        ("docs/architecture.md", "Proof        Simulation  ccs-bench  ccs-fuzz  ccs-relay", "a diagram"),
        ("docs/install.md", "sudo apt install ./ccsd_*_amd64.deb", "InstallTests runs it in a container"),
        (
            "docs/install.md",
            "podman build --format docker --build-arg COMMIT=\"$(git rev-parse --short=12 HEAD)\" --build-arg TIME=\"$(git log -1 --format=%ct)\" --tag ccsd .",
            "needs a container engine; Scripts/package-check executes the Containerfile without one"
        ),
        (
            "docs/install.md", "sudo systemctl daemon-reload",
            "needs the service; SystemdUnitTests restarts both units after the drop-in"
        ),
        ("docs/install.md", "Scripts/bootstrap --package", "installs packages and builds for release"),
        (
            "docs/backup.md", "ccsctl backup $(date +%Y-%m-%dT%H%M%S)",
            "needs the service; SystemdUnitTests runs the command"
        ),
        (
            "docs/backup.md", "systemctl stop ccsd.socket ccsd.service",
            "needs the service; MoveTests runs the block"
        ),
        ("docs/backup.md", "ccsctl drain --hold --yes", "needs the service; MoveTests runs the block"),
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
        (
            "docs/first-app.md", "python3 -m venv libraries && . libraries/bin/activate",
            "downloads libraries, which the tests have in .venv"
        ),
        (
            "docs/operations.md", "ccsd check --store --config /etc/ccsd/ccsd.yaml",
            "needs a configuration in /etc; DamagedTableTests runs the command"
        ),
        (
            "docs/operations.md", "ccsd check --config /etc/ccsd/ccsd.yaml",
            "needs a configuration in /etc; SystemdUnitTests has one"
        ),
        (
            "docs/operations.md",
            "ccsctl reload --certificate /etc/ccsd/certificate.pem --private-key /etc/ccsd/key.pem",
            "needs a certificate in /etc; SystemdUnitTests runs it"
        ),
        (
            "docs/metrics.md", "# prometheus.yml",
            "a configuration of Prometheus, which MonitoringTests checks with promtool"
        ),
        (
            "docs/cluster.md", #"server_name: nats-1"#,
            "a configuration of NATS for three machines; ClusterExampleTests runs servers with it on one"
        ),
        (
            "docs/cluster.md",
            #"openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 3650 -subj "/CN=nats authority" -keyout nats-ca.key -out nats-ca.pem"#,
            "needs nk; ClusterExampleTests runs the rest"
        ),
        (
            "docs/cluster.md", "nats server cluster peer-remove nats-3",
            "needs nats; ClusterLogTests sends the same request"
        ),
        (
            "docs/cluster.md", "nats stream info CCS_2", "needs nats, and a stream that has stopped"
        ),
        (
            "docs/cluster.md",
            #"nats stream info CCS_0 --json | jq '.config | .name = "CCS_2" | .subjects = ["ccs.2"]' > CCS_2.json"#,
            "needs nats; ClusterHaltTests sends the same requests"
        ),
        (
            "docs/cluster.md",
            "ccsctl cluster found cluster --node 10.0.0.1:5240 --node 10.0.0.2:5240 --node 10.0.0.3:5240 --log-server 10.0.0.1:4222 --log-server 10.0.0.2:4222 --log-server 10.0.0.3:4222 --log-nkey-file /etc/ccsd/ccsd.nk --log-ca-file /etc/ccsd/nats-ca.pem --log-monitor 10.0.0.1:8222 --log-monitor 10.0.0.2:8222 --log-monitor 10.0.0.3:8222",
            "needs three machines; ClusterExampleTests runs it with addresses of one"
        ),
        (
            "docs/cluster.md", "ccsctl cluster status",
            "needs a node with the default socket; the page runs it with another"
        ),
        ("docs/cluster.md", "ccsctl cluster handover 3 --to 2", "the owner differs from run to run"),
        (
            "docs/cluster.md", "ccsctl backup /var/lib/ccsd-backup/node",
            "needs two machines; BackupTests restores backups"
        ),
        ("docs/cluster.md", "ccsctl cluster remove 3", "needs a node that is gone"),
        (
            "docs/webhooks.md", "ccsctl senders webhook set 100000000001 https://app.example.com/ccs",
            "needs an endpoint; WebhookTests sets one"
        ),
        (
            "docs/webhooks.md",
            "python3 docs/examples/webhook_receiver.py certificate.pem key.pem secret.txt 8443",
            "serves until it is stopped; WebhookTests runs it"
        ),
        (
            "docs/cluster.md", "ccsctl cluster admit 3",
            "needs a node that was removed; ClusterOperatorTests admits one"
        ),
        (
            "docs/testing-your-app.md", PytestExampleTests.commands,
            "downloads libraries; PytestExampleTests runs it with those of .wheels"
        ),
        (
            "docs/testing-your-app.md", "- name: Push messages reach the app",
            "downloads libraries; PytestExampleTests runs the same commands"
        ),
        ("docs/testing.md", "Scripts/test", "runs this test"),
    ]

    /// Languages of blocks that are no commands, with their check.
    static let languages = [
        "python": "equal to a file of docs/examples: DocumentTests",
        "ini": "equal to the comments of a unit: SystemdTests",
        "xml": "printed by ccsd reference: ReferencePageTests",
        "promql": "checked by promtool with the alert rules: MonitoringTests",
    ]

    /// Blocks that need a running daemon with the default ports, and the lines that start and end one.
    private static let withDaemon: Set = ["ccsctl audit", "ccsctl clock accept --yes"]
    private static let daemon = "ccsd 2> log &\nuntil ccsctl status > status 2>&1; do sleep 0.1; done\n"

    /// Pages whose blocks run one after the other in one shell.
    static let sessions = [
        "docs/first-app.md", "docs/cluster.md", "docs/operator-api.md", "docs/testing-your-app.md",
    ]
    /// How many blocks of output a page has, where it is not 1.
    private static let outputs = ["docs/first-app.md": 2, "docs/testing-your-app.md": 0]

    /// Returns the code blocks of a page.
    static func blocks(of text: String, file: String) -> [Block] {
        var found: [Block] = []
        var open: Block?
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            if line.hasPrefix("```") {
                if let block = open { found.append(block) }
                let language = String(line.drop { $0 == "`" })
                open = open == nil ? Block(file: file, line: index + 2, text: "", language: language) : nil
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
        return (["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"] + names).flatMap { name in
            let text =
                (try? String(contentsOf: TestPaths.root.appendingPathComponent(name), encoding: .utf8)) ?? ""
            return blocks(of: text, file: name)
        }
    }()

    private static func isListed(_ block: Block) -> Bool {
        notRun.contains { $0.file == block.file && $0.firstLine == block.firstLine }
            || languages[block.language] != nil || ShownOutputTests.shown.contains { $0 == block.place }
    }

    /// The blocks that run on their own.
    static let run = all.filter { !isListed($0) && !sessions.contains($0.file) }

    /// Whether a network namespace can be created, in which the default ports are free.
    static let canSeparate =
        (try? Tool.run(URL(fileURLWithPath: "/usr/bin/unshare"), separated + ["true"]).code) == 0
    private static let separated = [
        "--user", "--map-root-user", "--net", "--mount", "/bin/bash", "-c",
        #"ip link set lo up && mount -t tmpfs none /mnt && cp /etc/hosts /mnt && mount --bind /mnt/hosts /etc/hosts && exec "$@""#,
        "bash",
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
        for place in ShownOutputTests.shown { #expect(Self.all.contains { $0.place == place }, "\(place)") }
    }

    @Test(
        "a code block runs in an empty folder with the programs in PATH",
        .enabled(if: canSeparate, "unshare cannot create a network namespace"), arguments: run)
    func runs(block: Block) throws {
        let tool = try Self.paste((Self.withDaemon.contains(block.firstLine) ? Self.daemon : "") + block.text)
        #expect(tool.code == 0, "\(block.testDescription): \(tool)")
    }

    @Test(
        "the blocks of a page run one after the other and print what it shows",
        .enabled(
            if: canSeparate && TestPaths.hasPython && hasNATSServer,
            "unshare cannot create a network namespace, or run Scripts/bootstrap --tests first"),
        arguments: sessions)
    func session(page: String) throws {
        let blocks = Self.all.filter { $0.file == page }
        let tool = try Self.paste(blocks.filter { !Self.isListed($0) }.map(\.text).joined())
        #expect(tool.code == 0, "\(page): \(tool)")
        let shown = blocks.filter { ShownOutputTests.shown.contains($0.place) }
        #expect(shown.count == Self.outputs[page, default: 1], "\(page)")
        for block in shown {
            #expect(
                ShownOutputTests.missing(block.text, in: tool.output) == [],
                "\(block.testDescription): \(tool)")
        }
    }

    private static let natsServer = TestPaths.root.appendingPathComponent(".venv/bin/nats-server")
    static let hasNATSServer = FileManager.default.isExecutableFile(atPath: natsServer.path)

    /// Runs lines in a shell up to the first one that fails, in a folder with the documents, as in a clone.
    private static func paste(_ text: String) throws -> Tool {
        let scratch = try Scratch()
        defer { extendLifetime(scratch) }
        let script = """
            set -em
            cd '\(scratch.url.path)'
            cp -r '\(TestPaths.root.path)/docs' '\(TestPaths.root.path)/systemd' .
            nats-server() { '\(natsServer.path)' "$@"; }
            python3() { '\(TestPaths.python.path)' "$@"; }
            unset PYTHONUNBUFFERED
            PATH='\(TestPaths.programs.path)':$PATH
            trap 'for job in $(jobs -p); do kill -- -$job 2>/dev/null || true; done; wait || true' EXIT
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
