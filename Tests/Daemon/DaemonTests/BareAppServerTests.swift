import Foundation
import Testing

/// Behaviour of app servers that no library shows, on bare TLS sockets against the real daemon.
@Suite(
    "App servers on bare sockets", .serialized,
    .enabled(if: TestPaths.hasPython, "run Scripts/bootstrap --tests first")
)
struct BareAppServerTests {
    private static func bare(_ daemon: RunningDaemon) throws -> Driver {
        let sender = try daemon.firstSender
        return try Driver(
            "bare_app_server.py", [String(daemon.port("app_server")), sender.id], secret: sender.key)
    }

    @Test(
        "every message is answered when the app server sends without reading, however its stream ends",
        arguments: [
            (count: 60, last: "", half: true), (60, "</stream:stream>", true),
            (101, "</stream:stream>", false), (2_000, "</stream:stream>", false),
        ])
    func answered(count: Int, last: String, half: Bool) throws {
        let daemon = try RunningDaemon()
        let device = try TestDevice(daemon, sender: daemon.firstSender.id)
        device.stop()
        let server = try Self.bare(daemon)
        try server.command([
            "do": "flood", "count": count, "token": device.token, "last": last, "half": half,
        ])
        let answers = try server.expect(event: "answers", seconds: 60)
        // ACK, or NACK beyond the rate of one device; each message has an answer.
        #expect(answers["ids"] as? Int == count)
        #expect(answers["last"] as? String == "</stream:stream>")
    }

    @Test("an app server on a slow link gets a full window of payloads that grow when escaped")
    func narrowLink() throws {
        let daemon = try RunningDaemon()
        let device = try TestDevice(daemon, sender: daemon.firstSender.id)
        let payload = String(repeating: "<", count: 4_000)
        for _ in 0..<100 { try device.sendUpstream(["a": payload]) }
        let server = try Self.bare(daemon)
        try server.command(["do": "read_slowly", "count": 100])
        #expect(try server.expect(event: "read", seconds: 60)["messages"] as? Int == 100)
    }

    @Test(
        "a session is listed under its authenticated sender when another sender failed before on the same stream"
    )
    func listedSender() throws {
        let daemon = try RunningDaemon()
        let server = try Self.bare(daemon)
        try server.command(["do": "second", "first": "4711"])
        let answer = try server.expect(event: "logged in")["answer"] as? String
        #expect(answer?.contains("<success") == true)
        let sessions = try daemon.ctl("sessions", "list")["sessions"] as? [[String: Any]]
        #expect(sessions?.compactMap { $0["sender_id"] as? String } == [try daemon.firstSender.id])
    }

    @Test("failed logins of one address are counted together when its connections are on several reactors")
    func guesses() throws {
        let daemon = try RunningDaemon(
            flags: ["--failed-logins-per-address", "30", "--failed-logins-per-minute", "0"], reactors: 4)
        let server = try Self.bare(daemon)
        try server.command(["do": "guess", "connections": 60])
        let guessed = try server.expect(event: "guessed", seconds: 60)
        let failures = try #require(guessed["failures"] as? Int)
        // Twice the limit if a minute ends in between.
        #expect((30...60).contains(failures))
        #expect((guessed["other"] as? String)?.contains("<temporary-auth-failure") == true, "\(guessed)")
    }
}
