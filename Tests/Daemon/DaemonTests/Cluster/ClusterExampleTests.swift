import BasicsSupport
import Foundation
import NATSServerSupport
import Testing

/// The example of three machines in docs/cluster.md, on three addresses of this one: NATS with TLS and a login.
@Suite(
    "The example of a cluster", .serialized,
    .enabled(if: NATSServerProcess.isInstalled, "nats-server: run Scripts/bootstrap --tests"))
struct ClusterExampleTests {
    /// An NKey of a user that nothing but this test has.
    private static let seed = "SUAMWRHPPXST7OS35ZUW27GLS4YV3AWTDXD54ASRZI75Y7MV32J7FCHS4Q"
    private static let user = "UB6YLNWQSLJXBIJATCHXVBQSAFUXR2PK3V3XYRHHBPMJO3PXL6B6OTYX"
    private static let page = TestPaths.root.appendingPathComponent("docs/cluster.md")

    /// The block of the page with this first line, for addresses and files of this test.
    private func block(_ first: String, in folder: URL) throws -> String {
        let page = try String(contentsOf: Self.page, encoding: .utf8)
        let start = try #require(page.range(of: "```\n\(first)"))
        let end = try #require(page.range(of: "\n```", range: start.upperBound..<page.endIndex))
        var text = String(page[start.lowerBound..<end.lowerBound].dropFirst(4))
        for (old, new) in [
            ("10.0.0.", "127.0.7."), ("/etc/nats/", "\(folder.path)/"), ("/etc/ccsd/", "\(folder.path)/"),
            ("\"UXXX\"", "\"\(Self.user)\""),
        ] {
            text = text.replacingOccurrences(of: old, with: new)
        }
        return text
    }

    @Test(
        "its commands make certificates, its servers demand TLS and the login, and a cluster is founded on them"
    )
    func example() throws {
        let scratch = try Scratch()
        let folder = scratch.url
        // Without the program that makes NKeys.
        let certificates = try block("openssl req -x509", in: folder).components(separatedBy: "\n(umask")[0]
        let made = try Tool.run(
            URL(fileURLWithPath: "/bin/bash"), ["-ec", "cd \"\(folder.path)\"\n\(certificates)"])
        #expect(made.code == 0, "\(made)")
        try Self.seed.write(to: folder.appendingPathComponent("ccsd.nk"), atomically: true, encoding: .utf8)
        let configuration = try block("server_name: nats-1", in: folder)
        var servers: [ChildProcess] = []
        defer { for server in servers { server.end() } }
        for number in 1...3 {
            let own =
                configuration
                .replacingOccurrences(of: "nats-1", with: "nats-\(number)")
                .replacingOccurrences(of: "/var/lib/nats", with: "\(folder.path)/store-\(number)")
                .split(separator: "\n").map { line in
                    line.contains("routes:")
                        ? String(line) : line.replacingOccurrences(of: "127.0.7.1", with: "127.0.7.\(number)")
                }
            let file = folder.appendingPathComponent("nats-\(number).conf")
            try own.joined(separator: "\n").write(to: file, atomically: true, encoding: .utf8)
            let server = ChildProcess()
            server.executableURL = NATSServerProcess.program
            server.arguments = ["--config", file.path, "--log", "\(folder.path)/nats-\(number).log"]
            try server.run()
            servers.append(server)
        }
        let command = try block("ccsctl cluster found cluster --node 10.0.0.1", in: folder)
        let words = command.split(separator: " ").dropFirst().map(String.init)
        let ccsctl = TestPaths.programs.appendingPathComponent("ccsctl")
        let target = folder.appendingPathComponent("founded").path
        let founding = words.enumerated().map { $0 == 2 ? target : $1 }
        let stranger = founding.enumerated().filter { at, word in
            word != "--log-nkey-file" && (at == 0 || founding[at - 1] != "--log-nkey-file")
        }
        let refused = try Tool.run(ccsctl, stranger.map(\.element), seconds: Patience.seconds)
        #expect(refused.code != 0 && refused.errors.contains("refused the login"), "\(refused)")
        let founded = try Tool.run(ccsctl, founding, seconds: Patience.seconds)
        let logs = (1...3).map {
            (try? String(contentsOfFile: "\(folder.path)/nats-\($0).log", encoding: .utf8)) ?? ""
        }
        #expect(founded.code == 0, "\(founded) \(logs.map { $0.suffix(500) })")
        let node = try RunningDaemon(flags: [
            "--cluster-directory", "\(target)/node-1", "--listen-address", "127.0.7.1",
        ])
        try eventually("the node owns partitions: \(node.words)") {
            let status = try node.ctl("status")["cluster"] as? [String: Any]
            return status?["owned"] as? Int ?? 0 > 0
        }
    }
}
