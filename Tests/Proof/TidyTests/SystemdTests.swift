import Glibc
import Testing

@Suite struct SystemdTests {
    static let hasSystemdAnalyze = access("/usr/bin/systemd-analyze", X_OK) == 0

    /// Returns the exposure level of a unit file, or `nil` if systemd-analyze prints none.
    static func exposure(_ path: String) -> Double? {
        let output = SourceTree.output(of: "systemd-analyze security --offline=true --no-pager \(path)")
        guard
            let line = output.text.split(separator: "\n").first(where: {
                $0.contains("Overall exposure level")
            }),
            let number = line.split(separator: " ").first(where: { Double($0) != nil })
        else { return nil }
        return Double(number)
    }

    @Test(
        "the exposure level of the service is at most 1.2",
        .enabled(if: hasSystemdAnalyze, "systemd-analyze is not installed"))
    func isHardened() throws {
        let exposure = try #require(Self.exposure("\(SourceTree.root)/systemd/ccsd.service"))
        #expect(exposure <= 1.2)
    }

    @Test(
        "systemd-analyze verifies both units without complaints",
        .enabled(if: hasSystemdAnalyze, "systemd-analyze is not installed"))
    func areUnderstood() {
        let output = SourceTree.output(of: "systemd-analyze verify \(SourceTree.root)/systemd/ccsd.service")
        // The programs and pages are not installed where the test runs.
        let complaints = output.text.split(separator: "\n").filter { line in
            line.contains("ccsd.s") && !line.contains("is not executable") && !line.contains("Command 'man")
        }
        #expect(complaints == [])
    }

    @Test("the service sets readiness, watchdog, reload and state, and the socket its ports")
    func settings() throws {
        let unit = try #require(SourceTree.read("systemd/ccsd.service"))
        for line in [
            "Type=notify", "WatchdogSec=20", "StateDirectory=ccsd", "RestartPreventExitStatus=64 78",
            "ExecReload=/usr/bin/ccsctl --socket /run/ccsd/control.sock reload", "StartLimitIntervalSec=0",
            "Environment=SWIFT_BACKTRACE=enable=no",
        ] {
            #expect(unit.contains("\n\(line)\n"), "\(line)")
        }
        #expect(
            !unit.contains("\nExecStartPre="),
            "systemd restarts a service whose ExecStartPre fails, with any exit code")
        let socket = try #require(SourceTree.read("systemd/ccsd.socket"))
        for port in ["5235", "5236", "5228", "443", "8443"] {
            #expect(socket.contains("\nListenStream=127.0.0.1:\(port)\n"))
            #expect(socket.contains("\n#   ListenStream=\(port)\n"), "the drop-in that opens the port")
        }
    }

    /// Returns the lines of the first block in a page that starts with a line.
    private static func block(_ first: String, in page: String) -> [Substring] {
        let lines = page.split(separator: "\n", omittingEmptySubsequences: false)
        return Array(lines.drop { $0 != first }.prefix { $0 != "```" })
    }

    @Test("docs/install.md shows the drop-in that the socket unit describes")
    func openPorts() throws {
        let unit = try #require(SourceTree.read("systemd/ccsd.socket"))
        let described = unit.split(separator: "\n").filter { $0.hasPrefix("#   ") }.map { $0.dropFirst(4) }
        let page = try #require(SourceTree.read("docs/install.md"))
        #expect(described.count == 7 && Self.block("[Socket]", in: page) == described)
        #expect(Self.block("[Socket]", in: "[Socket]\nListenStream=1\n```\n") != described, "canary")
    }

    @Test(
        "canary: a unit without hardening has a high exposure level",
        .enabled(if: hasSystemdAnalyze, "systemd-analyze is not installed"))
    func canary() throws {
        var template = Array("/tmp/ccsd-unit-XXXXXX".utf8CString)
        #expect(mkdtemp(&template) != nil)
        let folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        defer { _ = SourceTree.output(of: "rm -r \(folder)") }
        _ = SourceTree.output(of: "printf '[Service]\\nExecStart=/bin/true\\n' > \(folder)/bare.service")
        #expect(try #require(Self.exposure("\(folder)/bare.service")) > 5)
    }
}
