import Basics
import Client
import Foundation
import Testing
import Wire
import WireSupport

/// Instance ID on the real daemon.
@Suite("Instance ID", .serialized)
struct InstanceIDTests {
    private func ask(
        _ daemon: RunningDaemon, _ method: String, _ path: String, _ sender: (id: String, key: String),
        _ body: String = ""
    ) throws -> JSONValue {
        let device = try TestDevice(daemon, sender: sender.id)
        defer { device.stop() }
        var call = HTTPCall(method, path)
        call.headers.append(("Authorization", Redacted("key=\(sender.key)")))
        call.add("Content-Type", "application/json")
        call.body = Array(body.utf8)
        let answer = try device.call(daemon, call)
        #expect(answer.status == 200, "\(answer.text)")
        return try JSONValue(parsing: answer.text)
    }

    private func tokens(_ answer: JSONValue) -> [String?] {
        (answer["results"]?.elements ?? []).map { $0["registration_token"]?.text }
    }

    @Test("an APNs token maps to the same registration, also after kill -9, and messages to it are stored")
    func imports() throws {
        let daemon = try RunningDaemon()
        let sender = try daemon.firstSender
        let body =
            "{\"application\":\"com.example.ios\",\"sandbox\":true,\"apns_tokens\":[\"0a1b\",\"0A1B\",\"x\"]}"
        let made = tokens(try ask(daemon, "POST", "/iid/v1:batchImport", sender, body))
        #expect(made.count == 3 && made[0] != nil && made[0] == made[1] && made[2] == nil)
        let token = try #require(made[0])
        let info = try ask(daemon, "GET", "/iid/info/\(token)", sender)
        #expect(info["platform"]?.text == "IOS" && info["application"]?.text == "com.example.ios")
        let sent = try ask(
            daemon, "POST", "/fcm/send", sender, "{\"to\":\"\(token)\",\"data\":{\"a\":\"b\"}}")
        #expect(sent["success"]?.integer == 1)
        daemon.signal(SIGKILL)
        #expect(try daemon.wait() == -SIGKILL)
        let next = try RunningDaemon(continuing: daemon.scratch)
        let again = tokens(try ask(next, "POST", "/iid/v1:batchImport", sender, body))
        #expect(again == made)
        let audit = try next.ctl("audit")
        #expect(audit["holds"] as? Bool == true)
        let pending = try #require(audit["downstream"] as? [String: Any])["pending"]
        #expect(pending as? Int == 1)
    }
}
