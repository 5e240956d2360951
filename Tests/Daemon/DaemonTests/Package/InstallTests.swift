import Catalogue
import Foundation
import Testing

/// The Debian package, installed under a booted systemd on a machine without Swift.
@Suite(
    "The installed package", .serialized,
    .enabled(if: TestPackages.bootObstacle == nil, Comment(rawValue: TestPackages.bootObstacle ?? "")))
struct InstallTests {
    /// Returns the commands of docs/install.md that install the package and exchange the first messages.
    private func shownCommands() throws -> String {
        let page = try String(
            contentsOf: TestPaths.root.appendingPathComponent("docs/install.md"), encoding: .utf8)
        let block = ShownBlocksTests.blocks(of: page, file: "docs/install.md").first {
            $0.firstLine.hasPrefix("sudo apt install ./ccsd_")
        }
        return try #require(block).text
    }

    @Test("the commands of docs/install.md lead from a machine without Swift to messages in both directions")
    func newcomer() throws {
        let system = try TestPackages.boot()
        let before = try namedFiles(system)
        let dynamic = try system.run("/opt/ccsd-tests/ccsctl", "--version")
        #expect(
            dynamic.code != 0 && dynamic.errors.contains("libswift"),
            "canary: a program that needs Swift does not start: \(dynamic)")
        let lines = try shownCommands().split(separator: "\n")
        #expect(lines.count == 5)

        // The first command installs, and starts nothing.
        let prelude =
            "set -e; cd /opt/ccsd-tests; rm ccsd_\(TestPackages.olderVersion)*; sudo() { \"$@\"; }\n"
        try system.output("bash", "-c", prelude + lines[0])
        #expect(try system.run("systemctl", "is-enabled", "ccsd.service").output == "disabled\n")
        #expect(try system.run("systemctl", "is-enabled", "ccsd.socket").output == "disabled\n")
        #expect(try system.run("systemctl", "is-active", "ccsd.socket").output == "inactive\n")
        for program in Program.packaged {
            let version = try system.output(program.name, "--version")
            #expect(version.hasPrefix("\(program.name) \(Program.version) (commit "), "\(version)")
        }
        let completion = "source /usr/share/bash-completion/completions/ccsctl && complete -p ccsctl"
        #expect(try system.output("bash", "-c", completion).contains("_ccsctl"))

        let rest = lines.dropFirst().joined(separator: "\n")
        let conversation = try system.output(
            "bash", "-c", "set -e; cd /opt/ccsd-tests; sudo() { \"$@\"; }\n" + rest)
        for step in ["ACK m-1", "m-1 is on the device", "u-1 is on disk", "ACK u-1", "You were offline"] {
            #expect(conversation.contains(step), "\(step): \(conversation)")
        }
        try system.output("ccsctl", "audit")

        try reloadsCertificates(system)
        let process = try system.property("MainPID")
        let start = ConnectionProbe.now
        try system.output("systemctl", "kill", "--signal=STOP", "--kill-whom=main", "ccsd.service")
        try system.waitForReplacement(of: process)
        #expect(ConnectionProbe.now - start < 35)
        try system.output("ccsctl", "audit")

        // Without a backup, its folder goes.
        try purge(
            system,
            keeps: [
                "/var/lib/private/ccsd", "/etc/ccsd", "/etc/systemd/system/ccsd.service.d", "/var/lib/ccsd",
            ], before: before)
    }

    /// A certificate passed as a credential is renewed by a reload, and a bad one changes nothing.
    private func reloadsCertificates(_ system: BootedSystem) throws {
        try system.makeCertificate("first")
        try system.loadCertificateAsCredential()
        try system.output("systemctl", "restart", "ccsd.service")
        #expect(try system.servedSubject().hasSuffix("first"))
        try system.makeCertificate("second")
        try system.output("systemctl", "reload", "ccsd.service")
        #expect(try system.servedSubject().hasSuffix("second"))
        try system.write("/etc/ccsd/key.pem", "not a key\n")
        #expect(try system.run("systemctl", "reload", "ccsd.service").code != 0)
        #expect(try system.servedSubject().hasSuffix("second"))
        try system.makeCertificate("third")
        try system.output("systemctl", "reload", "ccsd.service")
        #expect(try system.servedSubject().hasSuffix("third"))
    }

    @Test(
        "an upgrade keeps the data and refuses no connection; remove keeps data and backups, and so does purge"
    )
    func upgrade() throws {
        let packages = try TestPackages.made.get()
        let system = try TestPackages.boot()
        let before = try namedFiles(system)
        func apt(_ words: String...) throws -> String {
            try system.output("sh", "-c", "cd /opt/ccsd-tests && apt-get \(words.joined(separator: " "))")
        }
        _ = try apt("install", "./\(packages.older.lastPathComponent)")
        try system.write("/etc/ccsd/ccsd.yaml", "format: 1\nlog_level: debug\n")
        try system.output("systemctl", "enable", "--now", "ccsd.socket", "ccsd.service")
        try system.output("ccsctl", "senders", "add", "--sender-id", "100000000001", "--label", "kept")
        let process = try system.property("MainPID")
        let probe = try system.probe()
        try probe.expectServed(2)
        let backup = "/var/lib/ccsd-backup/before-the-upgrade"
        try system.output("ccsctl", "backup", backup)

        _ = try apt("install", "./\(packages.package.lastPathComponent)")
        #expect(try system.property("ActiveState") == "active")
        #expect(try system.property("MainPID") != process, "the new program runs")
        #expect(try system.output("ccsctl", "senders", "list").contains("100000000001"))
        #expect(try system.output("cat", "/etc/ccsd/ccsd.yaml").hasSuffix("log_level: debug"))
        try probe.expectServed(2)
        let failures = try probe.failures()
        #expect(failures.isEmpty, "\(failures)")
        try system.output("ccsd", "restore", "--verify", backup)

        _ = try apt("remove", "ccsd")
        #expect(try system.run("systemctl", "is-active", "ccsd.socket").code != 0)
        #expect(try system.run("ls", "/etc/ccsd/ccsd.yaml", "/var/lib/private/ccsd").code == 0)
        _ = try apt("install", "./\(packages.package.lastPathComponent)")
        for unit in ["ccsd.socket", "ccsd.service"] {
            #expect(try system.run("systemctl", "is-enabled", unit).output == "enabled\n")
            #expect(try system.run("systemctl", "is-active", unit).output == "active\n", "it was enabled")
        }
        #expect(try system.output("ccsctl", "senders", "list").contains("100000000001"))

        try system.write("/etc/ccsd/own.pem", "a certificate of the operator\n")
        try purge(
            system,
            keeps: [
                "/var/lib/private/ccsd", "/var/lib/private/ccsd-backup", "/etc/ccsd", "/var/lib/ccsd",
                "/var/lib/ccsd-backup",
            ], before: before)
    }

    /// Purges the package, which must report the paths that it keeps and keep no other, and removes them with the reported command.
    private func purge(_ system: BootedSystem, keeps paths: [String], before: Set<String>) throws {
        let report = try system.output("apt-get", "purge", "ccsd")
        let command = "rm -r \(paths.joined(separator: " "))"
        #expect(report.split(whereSeparator: \.isNewline).contains("  \(command)"), "\(report)")
        #expect(try namedFiles(system).subtracting(before) == Set(paths))
        try system.output("sh", "-c", command)
        #expect(try namedFiles(system) == before)
    }

    /// Returns the paths that are named after ccsd or its tools, without what systemd keeps at run time.
    private func namedFiles(_ system: BootedSystem) throws -> Set<String> {
        let find =
            "find /etc /usr /var /run \\( -path /run/systemd -o -path /var/tmp -o -path '/var/lib/private/ccsd*/*' \\) -prune -o \\( "
            + "-name '*ccsd*' -o -name '*ccsctl*' -o -name '*ccs-device*' \\) ! -name 99ccsd-tests -print"
        return Set(try system.output("sh", "-c", find).split(separator: "\n").map(String.init))
    }
}
