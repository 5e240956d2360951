import Foundation
import Testing
import Transport

/// TLS versions and certificates on the real ports (ccs-xmpp 1.2).
@Suite("TLS versions")
struct TLSTests {
    /// Runs `openssl s_client` with verification of the server. Returns its output and exit code.
    private func dial(_ daemon: RunningDaemon, _ listener: String, _ flags: [String], trust: String? = nil)
        throws -> (code: Int32, text: String)
    {
        let client = try Tool.run(
            URL(fileURLWithPath: "/usr/bin/openssl"),
            ["s_client", "-connect", "127.0.0.1:\(try daemon.port(listener))"] + flags + [
                "-CAfile", trust ?? daemon.authority, "-verify_return_error",
            ])
        return (client.code, client.output)
    }

    /// Returns the version that a port negotiates when a client offers only that one, or `nil` if the handshake fails.
    private func agreed(_ daemon: RunningDaemon, _ listener: String, _ flag: String) throws -> String? {
        let (code, text) = try dial(daemon, listener, [flag, "-cipher", "ALL:@SECLEVEL=0"])
        // "New, TLSv1.0, Cipher is …", or "New, (NONE), Cipher is (NONE)".
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("New, ") }, "\(text)")
        guard code == 0, !line.contains("(NONE)") else { return nil }
        return text.split(separator: "\n").first {
            $0.contains("Protocol  :") || $0.hasPrefix("New, TLSv1.3")
        }
        .map { $0.hasPrefix("New") ? "TLSv1.3" : String($0.split(separator: " ").last ?? "") }
    }

    /// Returns the certificate of a port as PEM.
    private func certificate(_ daemon: RunningDaemon, _ listener: String, trust: String? = nil) throws
        -> String
    {
        let (code, text) = try dial(daemon, listener, [], trust: trust)
        #expect(code == 0)
        let begin = try #require(text.range(of: "-----BEGIN CERTIFICATE-----"), "\(text)")
        let end = try #require(text.range(of: "-----END CERTIFICATE-----"), "\(text)")
        return String(text[begin.upperBound..<end.lowerBound])
    }

    private func versions(_ daemon: RunningDaemon, _ listener: String) throws -> [String?] {
        try ["-tls1", "-tls1_1", "-tls1_2", "-tls1_3"].map { try agreed(daemon, listener, $0) }
    }

    @Test(
        "TLS 1.0 and 1.1 are refused unless tls_minimum allows them, with a warning; a reload applies it"
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
            "ccsd",
            ["check", "--config", file.path, "--data-directory", folder.path + "/data"]
                + RunningDaemon.noPorts)
        #expect(checked.code == 0)
        #expect(
            checked.errors.contains(
                "warning: \(file.path):2:14: tls_minimum: 1.0 accepts TLS versions that RFC 8996"))

        try "format: 1\ntls_minimum: 1.3\n".write(to: file, atomically: true, encoding: .utf8)
        #expect(try daemon.ctl("reload")["reloaded"] as? Bool == true)
        #expect(try versions(daemon, "app_server") == [nil, nil, nil, "TLSv1.3"])
    }

    @Test(
        "SIGHUP keeps the certificate of every port when its file is missing, until a new file exists")
    func goneCertificate() throws {
        let (first, second) = (try RunningDaemon(), try RunningDaemon())
        let scratch = try Scratch()
        defer { extendLifetime(scratch) }
        let names = (certificate: "server.pem", key: "server.key")
        func lay(_ name: String, of daemon: RunningDaemon) throws -> String {
            let file = scratch.url.appendingPathComponent(name)
            try? FileManager.default.removeItem(at: file)
            try FileManager.default.copyItem(
                at: daemon.directory.appendingPathComponent("data/\(name)"), to: file)
            return file.path
        }
        let flags = try [
            "--certificate-file", lay(names.certificate, of: first), "--key-file", lay(names.key, of: first),
        ]
        let daemon = try RunningDaemon(flags: flags)
        let listeners = ["app_server", "app_server_preproduction", "device", "https"]
        func shown(trust: RunningDaemon) throws -> [String] {
            try listeners.map { try certificate(daemon, $0, trust: trust.authority) }
        }
        let before = try shown(trust: first)
        for name in [names.key, names.certificate] {
            try FileManager.default.removeItem(at: scratch.url.appendingPathComponent(name))
            try expectFailedReload(daemon)
            #expect(try shown(trust: first) == before)
        }
        for name in [names.certificate, names.key] { _ = try lay(name, of: second) }
        #expect(try daemon.ctl("reload")["reloaded"] as? Bool == true)
        #expect(Set(try shown(trust: second)).isDisjoint(with: before))
    }

    @Test(
        "a certificate from ccsctl reload stays in use until the files change; a wrong one is refused"
    )
    func handedCertificate() throws {
        let (first, second) = (try RunningDaemon(), try RunningDaemon())
        let scratch = try Scratch()
        defer { extendLifetime(scratch) }
        func file(_ name: String, of daemon: RunningDaemon) -> String {
            daemon.directory.appendingPathComponent("data/\(name)").path
        }
        let certificate = scratch.url.appendingPathComponent("server.pem")
        let key = scratch.url.appendingPathComponent("server.key")
        func lay() throws {
            try Data(contentsOf: URL(fileURLWithPath: file("server.pem", of: first))).write(to: certificate)
            try Data(contentsOf: URL(fileURLWithPath: file("server.key", of: first))).write(to: key)
        }
        try lay()
        let daemon = try RunningDaemon(flags: [
            "--certificate-file", certificate.path, "--key-file", key.path,
        ])
        let before = try self.certificate(daemon, "device", trust: first.authority)
        func handOver(_ certificate: String, _ key: String, to daemon: RunningDaemon) throws -> Tool {
            try Tool.run(
                "ccsctl",
                [
                    "--socket", daemon.controlSocket, "reload", "--certificate", certificate, "--private-key",
                    key,
                ])
        }
        let wrong = try handOver(file("server.pem", of: second), key.path, to: daemon)
        #expect(wrong.code == 1 && wrong.errors.contains("load the key"), "\(wrong)")
        #expect(try self.certificate(daemon, "device", trust: first.authority) == before)

        let right = try handOver(file("server.pem", of: second), file("server.key", of: second), to: daemon)
        #expect(right.code == 0, "\(right)")
        let after = try self.certificate(daemon, "device", trust: second.authority)
        #expect(after != before)
        #expect(try daemon.ctl("reload")["reloaded"] as? Bool == true)
        #expect(
            try self.certificate(daemon, "device", trust: second.authority) == after,
            "the files are unchanged")
        try lay()
        #expect(try daemon.ctl("reload")["reloaded"] as? Bool == true)
        #expect(
            try self.certificate(daemon, "device", trust: first.authority) == before, "the files have changed"
        )

        let own = try handOver(file("server.pem", of: second), file("server.key", of: second), to: first)
        #expect(own.code == 1 && own.errors.contains("certificate_file and key_file are not set"), "\(own)")
    }

    @Test("SIGHUP keeps the self-made certificate and authority when no descriptor is free")
    func noDescriptor() throws {
        let daemon = try RunningDaemon()
        let before = try certificate(daemon, "device")
        let authority = try Data(contentsOf: URL(fileURLWithPath: daemon.authority))
        #expect(DescriptorLimit.set(process: daemon.pid, to: 3))
        try expectFailedReload(daemon)
        #expect(DescriptorLimit.set(process: daemon.pid, to: 1_024))
        #expect(try certificate(daemon, "device") == before)
        #expect(try daemon.ctl("reload")["reloaded"] as? Bool == true)
        #expect(try certificate(daemon, "device") == before)
        #expect(try Data(contentsOf: URL(fileURLWithPath: daemon.authority)) == authority)
    }

    private func expectFailedReload(_ daemon: RunningDaemon) throws {
        func failures() -> Int { daemon.words.components(separatedBy: "event=reload_failed").count }
        let earlier = failures()
        daemon.signal(SIGHUP)
        try eventually("the failed reload is in the log") { failures() > earlier }
    }
}
