import Foundation
import Testing

/// What no library does, on a bare TLS socket against the real daemon.
@Suite(
    "App servers on bare sockets", .serialized,
    .enabled(if: Places.hasPython, "run Scripts/bootstrap --tests first")
)
struct BareAppServerTests {
    private static func bare(_ daemon: RunningDaemon) throws -> Driver {
        let sender = try daemon.firstSender
        return try Driver(
            "bare_app_server.py", [String(daemon.port("app_server")), sender.id], secret: sender.key)
    }

    @Test(
        "what is sent without reading is answered, however the app server ends",
        arguments: [
            (count: 60, last: "", half: true), (60, "</stream:stream>", true),
            (101, "</stream:stream>", false), (2_000, "</stream:stream>", false),
        ])
    func answered(count: Int, last: String, half: Bool) throws {
        let daemon = try RunningDaemon()
        let device = try TestDevice(daemon, sender: daemon.firstSender.id)
        device.stop()
        let server = try Self.bare(daemon)
        try server.tell([
            "do": "flood", "count": count, "token": device.token, "last": last, "half": half,
        ])
        let answers = try server.expect(event: "answers", seconds: 60)
        // ACK or, where one device gets too many, NACK: but each has its answer.
        #expect(answers["ids"] as? Int == count)
        #expect(answers["last"] as? String == "</stream:stream>")
    }

    @Test("a window of payloads that grow when written reaches an app server on a narrow link")
    func narrowLink() throws {
        let daemon = try RunningDaemon()
        let device = try TestDevice(daemon, sender: daemon.firstSender.id)
        let payload = String(repeating: "<", count: 4_000)
        for _ in 0..<100 { try device.sendUpstream(["a": payload]) }
        let server = try Self.bare(daemon)
        try server.tell(["do": "drink", "count": 100])
        #expect(try server.expect(event: "drunk", seconds: 60)["messages"] as? Int == 100)
    }

    @Test("a session is listed under the sender whose key it has, not the one tried before")
    func listedSender() throws {
        let daemon = try RunningDaemon()
        let server = try Self.bare(daemon)
        try server.tell(["do": "second", "first": "4711"])
        let answer = try server.expect(event: "logged in")["answer"] as? String
        #expect(answer?.contains("<success") == true)
        let sessions = try daemon.ctl("sessions", "list")["sessions"] as? [[String: Any]]
        #expect(sessions?.compactMap { $0["sender_id"] as? String } == [try daemon.firstSender.id])
    }

    @Test("failed logins of an address are counted together, whichever reactor has the connection")
    func guesses() throws {
        let daemon = try RunningDaemon(
            flags: ["--failed-logins-per-address", "30", "--failed-logins-per-minute", "0"], reactors: 4)
        let server = try Self.bare(daemon)
        try server.tell(["do": "guess", "connections": 60])
        let failures = try #require(server.expect(event: "guessed", seconds: 60)["failures"] as? Int)
        // Twice as many where a minute ends meanwhile.
        #expect((30...60).contains(failures))
        let connections = try daemon.ctl("status")["connections"] as? [String: Any]
        let refused = connections?["refused"] as? [String: Int]
        #expect((refused?["failed_logins"] ?? 0) > 0, "\(connections ?? [:])")
    }
}
