import Foundation
import Testing

/// The units of `systemd/` under a real systemd, booted in a container.
@Suite(
    "Under systemd", .serialized,
    .enabled(
        if: BootedSystem.obstacle == nil, Comment(rawValue: BootedSystem.obstacle ?? "")))
struct SystemdUnitTests {
    /// Boots the container and starts the service as README describes.
    private func started() throws -> BootedSystem {
        let system = try BootedSystem()
        try system.output("systemctl", "enable", "--now", "ccsd.socket", "ccsd.service")
        return system
    }

    private func listeners(_ system: BootedSystem) throws -> Set<String> {
        let status = try system.output(
            "ccsctl", "--socket", "/run/ccsd/control.sock", "--json", "status")
        let object = try JSONSerialization.jsonObject(with: Data(status.utf8)) as? [String: Any]
        let listeners = object?["listeners"] as? [[String: Any]] ?? []
        return Set(
            listeners.filter { $0["name"] as? String != "control" }
                .map { "\($0["address"] as? String ?? "")|\($0["port"] as? Int ?? 0)" })
    }

    /// The local addresses of the sockets on which ccsd listens; other programs of the machine may listen as well.
    private func listening(_ system: BootedSystem) throws -> [Substring] {
        let process = try system.property("MainPID")
        let own = try system.output("sh", "-c", "readlink /proc/\(process)/fd/* || true").split(
            separator: "\n")
        let table = try system.output("cat", "/proc/net/tcp", "/proc/net/tcp6").split(separator: "\n")
        // Local address, state (0A is listening) and inode.
        return table.map { $0.split(separator: " ") }.filter {
            $0.count > 9 && $0[3] == "0A" && own.contains("socket:[\($0[9])]")
        }.map { $0[1] }
    }

    @Test(
        "the sample configuration listens on loopback and reports it; the documented drop-in opens the ports"
    )
    func firstStart() throws {
        let system = try started()
        #expect(try system.property("ActiveState") == "active")
        let ports = [5235, 5236, 5228, 443, 8443]
        #expect(try listeners(system) == Set(ports.map { "127.0.0.1|\($0)" }))
        let text = try system.property("StatusText")
        #expect(text.contains("device on 127.0.0.1:5228") && text.contains("app_server on 127.0.0.1:5235"))
        #expect(text.contains("https on 127.0.0.1:443 and 127.0.0.1:8443"), "\(text)")
        let open = try listening(system)
        #expect(open.count == ports.count && open.allSatisfy { $0.hasPrefix("0100007F:") }, "\(open)")

        try system.write(
            "/etc/systemd/system/ccsd.socket.d/open.conf",
            try BootedSystem.documented("ccsd.socket", mark: "#   ", from: "[Socket]"))
        try system.output("systemctl", "daemon-reload")
        try system.output("systemctl", "restart", "ccsd.socket", "ccsd.service")
        #expect(try listeners(system) == Set(ports.map { "::|\($0)" }))
        #expect(try system.property("StatusText").contains("device on [::]:5228"))
        let exposure = try system.output("systemd-analyze", "security", "--no-pager", "ccsd.service")
        let level = exposure.split(separator: "\n").first { $0.contains("Overall exposure level") }
        let number = try #require(level?.split(separator: " ").compactMap { Double($0) }.first, "\(exposure)")
        #expect(number <= 1.2)
    }

    @Test(
        "a restart fails when the configuration has a typing error, and sockets queue connections"
    )
    func typingError() throws {
        let system = try started()
        let probe = try system.probe()
        try probe.expectServed(1)
        try system.write("/etc/ccsd/ccsd.yaml", "format: 1\nlog_levle: info\n")
        #expect(try system.run("systemctl", "restart", "ccsd.service").code != 0)
        let tries = "journalctl -u ccsd.service -o cat --no-pager | grep -c 'ccsd.yaml:2:1: log_levle'"
        try eventually(
            "waiting connections have started it more often than the default start limit of systemd",
            seconds: 300
        ) {
            Int(try system.output("sh", "-c", tries)) ?? 0 >= 11
        }
        let log = try system.output("journalctl", "-u", "ccsd.service", "-o", "cat", "--no-pager")
        #expect(log.contains("code=exited, status=78/CONFIG"), "\(log)")
        #expect(try system.run("systemctl", "is-active", "ccsd.socket").code == 0)
        #expect(try system.property("NRestarts") == "0", "systemd does not restart after exit code 78")

        // Waiting connections keep a start in progress that has read the mistake; the documented command must not fail with it.
        try system.write("/etc/ccsd/ccsd.yaml", "format: 1\nlog_level: info\n")
        let started = try system.run("systemctl", "start", "ccsd.service")
        #expect(started.code == 0, "\(started)")
        #expect(try system.property("ActiveState") == "active")
        try probe.expectServed(1)
        let failures = try probe.failures()
        #expect(failures.isEmpty, "\(failures)")
        try system.output("systemctl", "restart", "ccsd.service")
        #expect(try system.property("ActiveState") == "active")
    }

    @Test(
        "systemctl reload fails when the configuration is wrong, and the service keeps the previous one"
    )
    func reload() throws {
        let system = try started()
        let process = try system.property("MainPID")
        try system.output("systemctl", "reload", "ccsd.service")
        try system.write("/etc/ccsd/ccsd.yaml", "format: 1\nlog_level: loud\n")
        #expect(try system.run("systemctl", "reload", "ccsd.service").code != 0)
        #expect(try system.property("ActiveState") == "active")
        let health = try system.run("ccsctl", "health")
        #expect(health.code == 21 && health.output.hasPrefix("reload_failed: "), "\(health)")
        let log = try system.output("journalctl", "-u", "ccsd.service", "-o", "cat", "--no-pager")
        #expect(log.contains("/etc/ccsd/ccsd.yaml:2:12: log_level"), "\(log)")
        #expect(!(try listeners(system)).isEmpty)
        try system.write("/etc/ccsd/ccsd.yaml", "format: 1\nlog_level: debug\n")
        try system.output("systemctl", "reload", "ccsd.service")
        #expect(try system.property("MainPID") == process)
        #expect(try system.run("ccsctl", "health").code == 0)
    }

    @Test(
        "a check beside the service recognizes every port, of the socket unit and its own, and finds mistakes"
    )
    func check() throws {
        let system = try BootedSystem()
        let good = "format: 1\nadmin_port: 9100\n"
        try system.write("/etc/ccsd/ccsd.yaml", good)
        try system.output("systemctl", "enable", "--now", "ccsd.socket", "ccsd.service")
        func check(_ file: String = "/etc/ccsd/ccsd.yaml") throws -> Tool {
            try system.run("ccsd", "check", "--config", file)
        }
        let found = try check()
        #expect(found.code == 0, "\(found)")
        for port in [5235, 5236, 5228, 8443, 9100] {
            #expect(found.errors.contains("port \(port) is in use by the running ccsd"), "\(found)")
        }
        #expect(found.errors.contains("answers at /run/ccsd/control.sock"), "\(found)")
        try system.write("/etc/ccsd/ccsd.yaml", good + "log_level: loud\n")
        let wrong = try check()
        #expect(wrong.code == 78 && wrong.errors.contains("ccsd.yaml:3:12: log_level"), "\(wrong)")
        // Another file is not that of the service: a daemon started with it could not have the port.
        try system.write("/etc/other.yaml", good)
        let other = try check("/etc/other.yaml")
        #expect(
            other.code == 78 && other.errors.contains("port 9100 is in use by another process"), "\(other)")
    }

    @Test(
        "a backup goes to the folder of the unit, elsewhere it is refused, and root restores it for ccsd")
    func backup() throws {
        let system = try started()
        let ctl = ["ccsctl", "--socket", "/run/ccsd/control.sock"]
        func backup(_ folder: String) throws -> Tool {
            try system.run(ctl[0], ctl[1], ctl[2], "backup", folder)
        }
        try system.output(ctl[0], ctl[1], ctl[2], "senders", "add", "--sender-id", "4711")
        let made = try backup("monday")
        #expect(made.output.contains("/ccsd-backup/monday"), "\(made)")
        let elsewhere = try backup("/srv/monday")
        #expect(elsewhere.code == 1 && elsewhere.errors.contains("/var/lib/ccsd-backup"), "\(elsewhere)")
        let hidden = try backup("/tmp/monday")
        #expect(hidden.code == 1 && hidden.errors.contains("is not visible here"), "\(hidden)")

        func restore() throws -> Tool {
            try system.run(
                "ccsd", "restore", "--replace", "/var/lib/ccsd-backup/monday", "--data-directory",
                "/var/lib/ccsd")
        }
        let inUse = try restore()
        #expect(inUse.code == 74 && inUse.errors.contains("the data directory is in use"), "\(inUse)")
        try system.output(ctl[0], ctl[1], ctl[2], "senders", "remove", "4711", "--yes")
        try system.output("systemctl", "stop", "ccsd.socket", "ccsd.service")
        let restored = try restore()
        #expect(restored.code == 0, "\(restored)")
        try system.output("systemctl", "start", "ccsd.socket", "ccsd.service")
        #expect(try system.output(ctl[0], ctl[1], ctl[2], "senders", "list").contains("4711"))
    }

    @Test("reload with the documented drop-in loads a renewed certificate, and so does restart")
    func renewal() throws {
        let system = try BootedSystem()
        try system.makeCertificate("first")
        try system.loadCertificateAsCredential()
        try system.output("systemctl", "enable", "--now", "ccsd.socket", "ccsd.service")
        #expect(try system.servedSubject().hasSuffix("first"))
        let process = try system.property("MainPID")

        try system.makeCertificate("second")
        try system.output("systemctl", "reload", "ccsd.service")
        #expect(try system.servedSubject().hasSuffix("second"))
        // On SIGHUP the daemon sees the credentials of its start, so the certificate from ccsctl stays in use.
        try system.output("systemctl", "kill", "--signal=HUP", "--kill-whom=main", "ccsd.service")
        try eventually("the reload is in the log", seconds: 60) {
            try system.output("journalctl", "-u", "ccsd.service", "-o", "cat", "--no-pager")
                .components(separatedBy: "event=reloaded").count > 2
        }
        #expect(try system.servedSubject().hasSuffix("second"))

        try system.write("/etc/ccsd/key.pem", "not a key\n")
        #expect(try system.run("systemctl", "reload", "ccsd.service").code != 0)
        #expect(try system.servedSubject().hasSuffix("second"))
        #expect(try system.property("MainPID") == process)

        try system.makeCertificate("third")
        try system.output("systemctl", "restart", "ccsd.service")
        #expect(try system.servedSubject().hasSuffix("third"))
    }

    @Test("systemctl restart refuses no connection under load")
    func restart() throws {
        let system = try started()
        let probe = try system.probe()
        for _ in 0..<3 {
            try probe.expectServed(3)
            try system.output("systemctl", "restart", "ccsd.service")
        }
        try probe.expectServed(3)
        let failures = try probe.failures()
        #expect(failures.isEmpty, "\(failures)")
    }

    @Test("systemd replaces a daemon within 35 s when it hangs (SIGSTOP), and no connection is refused")
    func watchdog() throws {
        let system = try started()
        let probe = try system.probe()
        try probe.expectServed(3)
        let process = try system.property("MainPID")
        let start = ConnectionProbe.now
        try system.output("systemctl", "kill", "--signal=STOP", "--kill-whom=main", "ccsd.service")
        try system.waitForReplacement(of: process)
        try probe.expectServed(1)
        #expect(ConnectionProbe.now - start < 35)
        #expect(try system.property("NRestarts") == "1")
        // Connections of the stopped process ended; no new connection was refused.
        let failures = try probe.failures().filter { "\($0["error"] ?? "")".contains("Refused") }
        #expect(failures.isEmpty, "\(failures)")
    }
}
