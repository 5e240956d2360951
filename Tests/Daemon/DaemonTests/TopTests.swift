import Foundation
import Testing

/// `ccsctl top` and `ccsctl health` with a real daemon.
@Suite("Top and health", .serialized)
struct TopTests {
    private func ctl(_ daemon: RunningDaemon, _ arguments: [String]) throws -> Tool {
        try Tool.run("ccsctl", ["--socket", daemon.controlSocket] + arguments)
    }

    @Test("top prints one screen or one object for scripts, with what was sent")
    func scripts() throws {
        let daemon = try RunningDaemon()
        let sender = try daemon.firstSender
        let device = try TestDevice(daemon, sender: sender.id)
        let server = try TestAppServer(daemon, sender: sender)
        for number in 1...5 { #expect(try server.send("m-\(number)", to: device.token) == "ACK") }
        let object = try #require(try ctl(daemon, ["top", "--json"]).object)
        let senders = try #require(object["senders"] as? [[String: Any]])
        #expect(senders.first?["sender_id"] as? String == sender.id)
        #expect((senders.first?["downstream"] as? [String: Int])?["accepted"] == 5)
        let latencies = try #require(object["latencies"] as? [[String: Any]])
        let acks = latencies.first { $0["name"] as? String == "ack_downstream" }
        #expect(acks?["count"] as? Int == 5 && acks?["microseconds"] as? Int ?? 0 > 0)
        let screen = try ctl(daemon, ["top", "--once", "--interval", "1"])
        #expect(screen.code == 0 && !screen.output.contains("\u{1B}"), "\(screen)")
        for word in [sender.id, "ACCEPTED", "ack_downstream", "device 1", "serving"] {
            #expect(screen.output.contains(word), "\(word): \(screen)")
        }
        #expect(!daemon.words.contains("command=top"), "refreshes are not in the log")
    }

    @Test(
        "top leaves the terminal as it was when it is interrupted, and when the daemon ends",
        .enabled(if: TestPaths.hasPython, "run Scripts/bootstrap --tests first"))
    func terminal() throws {
        let daemon = try RunningDaemon()
        let script = TestPaths.root.appendingPathComponent("Tests/Daemon/DaemonTests/Clients/terminal_top.py")
            .path
        let program = TestPaths.programs.appendingPathComponent("ccsctl").path
        let tool = try Tool.run(
            URL(fileURLWithPath: "/usr/bin/python3"),
            [script, "x\\x03", program, "--socket", daemon.controlSocket, "top", "--interval", "1"])
        let seen = try #require(tool.object, "\(tool)")
        #expect(seen["code"] as? Int == 0, "\(tool)")
        #expect(seen["entered"] as? Int == 1 && seen["left"] as? Int == 1, "\(tool)")
        #expect(seen["hidden"] as? Int == 1 && seen["shown"] as? Int == 1, "\(tool)")
        #expect(seen["echo_before"] as? Bool == true && seen["echo_during"] as? Bool == false, "\(tool)")
        #expect(seen["same"] as? Bool == true, "\(tool)")
        #expect(seen["longest"] as? Int ?? 99 <= 80, "lines are cut at the width of the terminal")
        #expect((seen["text"] as? String)?.contains("MESSAGES/S") == true, "\(tool)")
    }

    @Test("health exits with 0, and with the code of what is wrong and what to do")
    func health() throws {
        let daemon = try RunningDaemon()
        let healthy = try ctl(daemon, ["health"])
        #expect(healthy.code == 0 && healthy.output == "ccsd is healthy: serving.\n", "\(healthy)")
        #expect(try ctl(daemon, ["health", "--json"]).object?["healthy"] as? Bool == true)
        let scratch = try Scratch()
        let (key, certificate) = (scratch.url.path + "/key.pem", scratch.url.path + "/certificate.pem")
        let made = try Tool.run(
            URL(fileURLWithPath: "/usr/bin/openssl"),
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-days", "5", "-keyout",
                key, "-out", certificate,
            ])
        #expect(made.code == 0, "\(made)")
        let expiring = try RunningDaemon(flags: ["--certificate-file", certificate, "--key-file", key])
        let found = try ctl(expiring, ["health"])
        #expect(found.code == 15, "\(found)")
        #expect(found.output.contains("certificate_expiring: the certificate expires on"), "\(found)")
        #expect(found.output.contains("renew it, then run ccsctl reload"), "\(found)")
        let object = try #require(try ctl(expiring, ["health", "--json"]).object)
        #expect(
            (object["findings"] as? [[String: Any]])?.first?["cause"] as? String == "certificate_expiring")
        let none = try Tool.run("ccsctl", ["--socket", scratch.url.path + "/none.sock", "health"])
        #expect(none.code == 69, "\(none)")
    }
}
