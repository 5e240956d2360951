import Foundation
import Testing

/// Which TLS clients must speak, on the real ports (ccs-xmpp 1.2).
@Suite("TLS versions")
struct TLSTests {
    /// The version on which `openssl s_client` agrees with a port when it knows no other; nil where it is refused.
    private func agreed(_ daemon: RunningDaemon, _ listener: String, _ flag: String) throws -> String? {
        let client = ChildProcess()
        let output = Pipe()
        client.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
        client.arguments = [
            "s_client", "-connect", "127.0.0.1:\(try daemon.port(listener))", flag, "-cipher",
            "ALL:@SECLEVEL=0",
            "-CAfile", daemon.authority, "-verify_return_error",
        ]
        client.standardInput = FileHandle(forReadingAtPath: "/dev/null")
        client.standardOutput = output
        client.standardError = FileHandle(forWritingAtPath: "/dev/null")
        try client.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        client.waitUntilExit()
        // "New, TLSv1.0, Cipher is …", or "New, (NONE), Cipher is (NONE)".
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("New, ") }, "\(text)")
        guard client.terminationStatus == 0, !line.contains("(NONE)") else { return nil }
        return text.split(separator: "\n").first {
            $0.contains("Protocol  :") || $0.hasPrefix("New, TLSv1.3")
        }
        .map { $0.hasPrefix("New") ? "TLSv1.3" : String($0.split(separator: " ").last ?? "") }
    }

    private func versions(_ daemon: RunningDaemon, _ listener: String) throws -> [String?] {
        try ["-tls1", "-tls1_1", "-tls1_2", "-tls1_3"].map { try agreed(daemon, listener, $0) }
    }

    @Test(
        "1.0 and 1.1 are refused until tls_minimum lets them in, with a warning; a reload is enough, both ways"
    )
    func minimum() throws {
        let scratch = try Scratch()
        defer { extendLifetime(scratch) }
        let folder = scratch.url
        let file = folder.appendingPathComponent("ccsd.yaml")
        try "format: 1\n".write(to: file, atomically: true, encoding: .utf8)
        let daemon = try RunningDaemon(flags: ["--config", file.path])
        let listeners = ["app_server", "app_server_preproduction", "device", "https"]
        for listener in listeners {
            #expect(try versions(daemon, listener) == [nil, nil, "TLSv1.2", "TLSv1.3"], "\(listener)")
        }
        #expect(!daemon.words.contains("RFC 8996"))

        try "format: 1\ntls_minimum: 1.0\n".write(to: file, atomically: true, encoding: .utf8)
        #expect(try daemon.ctl("reload")["reloaded"] as? Bool == true)
        for listener in listeners {
            #expect(
                try versions(daemon, listener) == ["TLSv1", "TLSv1.1", "TLSv1.2", "TLSv1.3"], "\(listener)")
        }
        #expect(daemon.words.contains("tls_deprecated") && daemon.words.contains("RFC 8996"))
        let checked = try Tool.run(
            "ccsd", ["check", "--config", file.path, "--data-directory", folder.path + "/data"])
        #expect(checked.code == 0)
        #expect(checked.errors.contains("warning: tls_minimum: 1.0 lets clients in with TLS that RFC 8996"))

        try "format: 1\ntls_minimum: 1.3\n".write(to: file, atomically: true, encoding: .utf8)
        #expect(try daemon.ctl("reload")["reloaded"] as? Bool == true)
        #expect(try versions(daemon, "app_server") == [nil, nil, nil, "TLSv1.3"])
    }
}
