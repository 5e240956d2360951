import Foundation
import Testing

/// Start, stop and reload of the daemon.
@Suite("Life of the daemon", .serialized)
struct LifecycleTests {
    @Test("ccsd prints ports, CA and first sender when it starts for the first time")
    func firstRun() throws {
        let daemon = try RunningDaemon()
        let text = daemon.greeting.joined(separator: "\n")
        for word in ["app servers", "devices", "CA to trust", "sender ID", "server key", "Next:"] {
            #expect(text.contains(word), "no \(word) in the greeting")
        }
        let attributes = try FileManager.default.attributesOfItem(atPath: daemon.directory.path + "/data")
        #expect(attributes[.posixPermissions] as? Int == 0o700)
        let secret = daemon.directory.path + "/data/first-sender.key"
        #expect(try FileManager.default.attributesOfItem(atPath: secret)[.posixPermissions] as? Int == 0o600)
        #expect(!daemon.words.contains(try daemon.firstSender.key), "the key is in the log")
    }

    @Test("ccsd exits with 64 and creates no store when its argument vector is empty", arguments: [0, 1])
    func emptyArgumentVector(count: Int32) throws {
        let scratch = try Scratch()
        defer { extendLifetime(scratch) }
        let program = TestPaths.programs.appendingPathComponent("ccsd").path
        let name = try #require(strdup(""))
        defer { free(name) }
        // With a count of 1 the program name is empty: Linux since 5.18 replaces a count of 0 by this.
        var arguments: [UnsafeMutablePointer<CChar>?] = count == 0 ? [nil] : [name, nil]
        let variable = try #require(strdup("CCSD_DATA_DIRECTORY=\(scratch.url.path)/data"))
        defer { free(variable) }
        var environment: [UnsafeMutablePointer<CChar>?] = [variable, nil]
        var files = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&files)
        defer { posix_spawn_file_actions_destroy(&files) }
        let errors = scratch.url.path + "/errors"
        posix_spawn_file_actions_addopen(&files, 2, errors, O_WRONLY | O_CREAT, 0o600)
        var process: pid_t = 0
        try #require(posix_spawn(&process, program, &files, nil, &arguments, &environment) == 0)
        var status: Int32 = 0
        var ended: pid_t = 0
        try? eventually("the process ends") {
            ended = waitpid(process, &status, WNOHANG)
            return ended != 0
        }
        if ended == 0 {
            kill(process, SIGKILL)
            waitpid(process, &status, 0)
        }
        #expect(status == 64 << 8, "\(status)")
        #expect(try String(contentsOfFile: errors, encoding: .utf8).contains("argument vector"))
        #expect(!FileManager.default.fileExists(atPath: scratch.url.path + "/data"))
    }

    @Test("ccsd exits with 0 on SIGTERM, and the next start finds the same sender")
    func stopAndStart() throws {
        let daemon = try RunningDaemon()
        let sender = try daemon.firstSender
        daemon.signal(SIGTERM)
        #expect(try daemon.wait() == 0)
        let again = try RunningDaemon(continuing: daemon.scratch)
        let senders = try again.ctl("senders", "list")["senders"] as? [[String: Any]]
        #expect(senders?.compactMap { $0["sender_id"] as? String } == [sender.id])
        #expect(!again.greeting.contains { $0.contains("server key") })
    }

    @Test("ccsd exits with an error when another ccsd uses the data directory")
    func locked() throws {
        let daemon = try RunningDaemon()
        let second = try Tool.run(
            "ccsd",
            [
                "--data-directory", daemon.directory.path + "/data", "--app-server-port", "0",
                "--app-server-preproduction-port", "0", "--device-port", "0", "--https-port", "0",
            ])
        #expect(second.code == 74)
        #expect(second.errors.contains("another ccsd uses this data directory"))
    }

    @Test("ccsd exits with an error that names the port when a port is in use")
    func takenPort() throws {
        let daemon = try RunningDaemon()
        let port = String(try daemon.port("device"))
        let scratch = try Scratch()
        defer { extendLifetime(scratch) }
        let second = try Tool.run(
            "ccsd",
            [
                "--data-directory", scratch.url.path, "--app-server-port", "0",
                "--app-server-preproduction-port", "0", "--device-port", port, "--https-port", "0",
            ])
        #expect(second.code == 74)
        #expect(second.errors.contains(port))
    }

    @Test(
        "a wrong config file is refused with file, line, column and the nearest key; SIGHUP keeps the settings"
    )
    func configuration() throws {
        let scratch = try Scratch()
        defer { extendLifetime(scratch) }
        let folder = scratch.url
        let file = folder.appendingPathComponent("ccsd.yaml")
        try "format: 1\nkeepalive_second: 30\n".write(to: file, atomically: true, encoding: .utf8)
        let refused = try Tool.run("ccsd", ["check", "--config", file.path])
        #expect(refused.code == 78)
        #expect(refused.errors.contains("\(file.path):2:1: keepalive_second"))
        #expect(refused.errors.contains("keepalive_seconds"))
        try "format: 1\nkeepalive_seconds: 30\n".write(to: file, atomically: true, encoding: .utf8)
        #expect(
            try Tool.run(
                "ccsd",
                ["check", "--config", file.path, "--data-directory", folder.path + "/d"]
                    + RunningDaemon.noPorts
            ).code == 0)

        let daemon = try RunningDaemon()
        #expect(try daemon.ctl("reload")["reloaded"] as? Bool == true)
        daemon.signal(SIGHUP)
        try eventually("the reload is in the log") {
            daemon.words.components(separatedBy: "reloaded").count >= 3
        }
        #expect(try daemon.ctl("status")["state"] as? String == "serving")
    }

    @Test("a reload keeps the settings, logs the reason and sets the metric when the file is wrong")
    func failedReload() throws {
        let scratch = try Scratch()
        defer { extendLifetime(scratch) }
        let folder = scratch.url
        let file = folder.appendingPathComponent("ccsd.yaml")
        try "format: 1\nlog_level: info\n".write(to: file, atomically: true, encoding: .utf8)
        let daemon = try RunningDaemon(flags: [
            "--config", file.path, "--admin-port", "\(try RunningDaemon.freePort())",
        ])
        try "format: 1\nlog_level: loud\n".write(to: file, atomically: true, encoding: .utf8)
        daemon.signal(SIGHUP)
        try eventually("the failure is in the log") { daemon.words.contains("reload_failed") }
        #expect(daemon.words.contains("\(file.path):2:12: log_level"))
        let page = try PlainHTTP.get("/metrics", port: UInt16(daemon.port("admin")))
        #expect(page.contains("ccs_config_reload_success 0\n"))
        #expect(page.contains("ccs_config_reloads_total{result=\"failed\"} 1\n"))
        #expect(try daemon.ctl("status")["state"] as? String == "serving")
    }

    @Test("a reload applies no setting of the file when the certificate cannot be used")
    func halfReload() throws {
        let scratch = try Scratch()
        defer { extendLifetime(scratch) }
        let file = scratch.url.appendingPathComponent("ccsd.yaml")
        func write(_ lines: String...) throws {
            let text = (["format: 1"] + lines + [""]).joined(separator: "\n")
            try text.write(to: file, atomically: true, encoding: .utf8)
        }
        try write("device_messages_per_minute: 2")
        let daemon = try RunningDaemon(flags: ["--config", file.path])
        for name in ["own.pem", "own.key"] {
            let path = scratch.url.appendingPathComponent(name)
            try "no PEM\n".write(to: path, atomically: true, encoding: .utf8)
        }
        try write(
            "device_messages_per_minute: 5", "certificate_file: \(scratch.url.path)/own.pem",
            "key_file: \(scratch.url.path)/own.key")
        let refused = try Tool.run("ccsctl", ["--socket", daemon.controlSocket, "reload"])
        #expect(refused.code != 0 && "\(refused)".contains("contains no certificate"), "\(refused)")
        #expect("\(refused)".contains("\(scratch.url.path)/own.pem"), "the file is named: \(refused)")
        // The settings are applied and named once the certificate is valid.
        try write("device_messages_per_minute: 5")
        #expect(try daemon.ctl("reload")["changed"] as? [String] == ["device_messages_per_minute"])
    }

    @Test("a test's folder is removed when its last daemon is released")
    func folders() throws {
        var first: RunningDaemon? = try RunningDaemon()
        let folder = try #require(first).directory.path
        first?.signal(SIGTERM)
        #expect(try #require(first).wait() == 0)
        var second: RunningDaemon? = try RunningDaemon(continuing: #require(first).scratch)
        first = nil
        #expect(FileManager.default.fileExists(atPath: folder + "/data/ca.pem"))
        #expect(try #require(second).ctl("status")["state"] as? String == "serving")
        second = nil
        #expect(!FileManager.default.fileExists(atPath: folder))
        #expect(Scratch.isLeft("ccs-tests-\(Int32.max)") && !Scratch.isLeft("ccs-tests-\(getpid())"))
        #expect(!Scratch.isLeft("ccs-tests-") && !Scratch.isLeft("other-prefix-\(Int32.max)"))
    }

    @Test("canary: a failed start is reported as an error")
    func canary() throws {
        #expect(throws: HarnessFailure.self) { try RunningDaemon(flags: ["--no-such-flag", "1"]) }
    }
}
