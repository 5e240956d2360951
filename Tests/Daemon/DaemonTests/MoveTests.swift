import Foundation
import Testing

/// `docs/backup.md` under a booted systemd: the move to another machine, line by line.
@Suite(
    "The move to another machine", .serialized,
    .enabled(if: BootedSystem.obstacle == nil, Comment(rawValue: BootedSystem.obstacle ?? "")))
struct MoveTests {
    /// Returns the lines of a block of the page.
    private func lines(of first: String) throws -> [String] {
        let page = try String(
            contentsOf: TestPaths.root.appendingPathComponent("docs/backup.md"), encoding: .utf8)
        let block = ShownBlocksTests.blocks(of: page, file: "docs/backup.md").first { $0.firstLine == first }
        return try #require(block, "\(first)").text.split(separator: "\n").map(String.init)
    }

    private func status(_ system: BootedSystem) throws -> [String: Any] {
        let text = try system.output("ccsctl", "--json", "status")
        return try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    private func accepted(_ system: BootedSystem) throws -> Int {
        let connections = try status(system)["connections"] as? [String: Any]
        return try #require(connections?["accepted"] as? Int)
    }

    /// Connects to the ports of clients, which the system completes, and returns how many connections ccsd has accepted since.
    private func acceptedOfThree(_ system: BootedSystem) throws -> Int {
        let before = try accepted(system)
        for port in [5235, 5228, 8443] {
            try system.output("bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/\(port)")
        }
        // One is the connection of the second status.
        return try accepted(system) - before - 1
    }

    @Test("the commands of the page move every sender; between drain and stop no client gets in")
    func move() throws {
        let system = try BootedSystem()
        try system.write("/etc/ccsd/ccsd.yaml", "format: 1\nadmin_port: 9100\ndrain_grace_seconds: 1\n")
        try system.output("systemctl", "enable", "--now", "ccsd.socket", "ccsd.service")
        try system.output("ccsctl", "senders", "add", "--sender-id", "4711")
        let move = try lines(of: "ccsctl drain --hold --yes")
        #expect(move.count == 3)

        try system.output("bash", "-c", move[0])
        #expect(try status(system)["state"] as? String == "drained")
        #expect(try acceptedOfThree(system) == 0)
        let health = try system.run("ccsctl", "health")
        #expect(health.code == 11 && health.output.contains("drained"), "\(health)")
        func page(_ path: String) throws -> String {
            try system.output(
                "bash", "-c",
                "exec 3<>/dev/tcp/127.0.0.1/9100; printf 'GET \(path) HTTP/1.0\\r\\n\\r\\n' >&3; cat <&3")
        }
        #expect(try page("/readyz").contains("not ready: drained"))
        #expect(try page("/metrics").contains("\nccs_drained 1\n"))
        try eventually("systemd shows the state", seconds: 60) {
            try system.property("StatusText").hasPrefix("drained")
        }

        // Back instead of on: what has waited is served as well.
        try system.output("ccsctl", "drain", "--release")
        #expect(try status(system)["state"] as? String == "serving")
        #expect(try system.servedSubject().contains("subject"))
        #expect(try system.run("ccsctl", "health").code == 0)

        for line in move { try system.output("bash", "-c", line) }
        for unit in ["ccsd.socket", "ccsd.service"] {
            #expect(try system.run("systemctl", "is-active", unit).code != 0)
            #expect(try system.run("systemctl", "is-enabled", unit).output == "disabled\n")
        }

        // The other machine: the same one, with another state.
        try system.output(
            "bash", "-c", "mkdir -p /mnt/backup && cp -a /var/lib/ccsd-backup/move /mnt/backup/monday")
        try system.output("systemctl", "enable", "--now", "ccsd.socket", "ccsd.service")
        try system.output("ccsctl", "senders", "remove", "4711", "--yes")
        try system.output(
            "bash", "-c",
            "set -e\n" + (try lines(of: "systemctl stop ccsd.socket ccsd.service").joined(separator: "\n")))
        #expect(try system.output("ccsctl", "senders", "list").contains("4711"))
        #expect(
            try system.output("stat", "-c", "%a %n", "/var/lib/ccsd/ca.pem", "/var/lib/ccsd/ca.key")
                == "644 /var/lib/ccsd/ca.pem\n600 /var/lib/ccsd/ca.key")
        #expect(try status(system)["state"] as? String == "serving", "a restart ends the drain")
    }

    @Test("a backup of the service is a copy and is reported as one, and its time is kept over a restart")
    func backup() throws {
        let system = try BootedSystem()
        try system.write("/etc/ccsd/ccsd.yaml", "format: 1\nadmin_port: 9100\n")
        try system.output("systemctl", "enable", "--now", "ccsd.socket", "ccsd.service")
        func last() throws -> Int? {
            let page = try system.output(
                "bash", "-c",
                "exec 3<>/dev/tcp/127.0.0.1/9100; printf 'GET /metrics HTTP/1.0\\r\\n\\r\\n' >&3; cat <&3")
            let line = page.split(separator: "\n").first { $0.hasPrefix("ccs_last_backup_seconds ") }
            return line.flatMap { Int($0.split(separator: " ")[1]) }
        }
        #expect(try last() == 0)
        let made = try system.output("ccsctl", "backup", "/var/lib/ccsd-backup/monday")
        #expect(made.contains("all copied: not on the mount of the data directory"), "\(made)")
        let time = try #require(try last())
        #expect(time > 1_700_000_000)
        try system.output("systemctl", "restart", "ccsd.service")
        #expect(try last() == time)
    }
}
