import Foundation
import Testing

/// firebase-messaging 0.4, a library for web apps, unmodified, with its host names redirected (mcs-device 6).
///
/// It stops permanently after a stanza that it cannot decrypt, after three consecutive Closes, and when a ping is not answered
/// within 5 s.
@Suite(
    "firebase-messaging", .serialized,
    .enabled(if: TestPaths.hasPython, "run Scripts/bootstrap --tests first"))
struct FirebaseMessagingTests {
    /// A daemon that can be restarted, and the library with its state.
    private final class Bench {
        private(set) var daemon: RunningDaemon
        let sender: (id: String, key: String)

        init() throws {
            daemon = try RunningDaemon()
            sender = try daemon.firstSender
        }

        func device(pingSeconds: Double = 20) throws -> Driver {
            let state = daemon.directory.appendingPathComponent("firebase.json").path
            return try Driver(
                "firebase_messaging_device.py", [state, sender.id, String(pingSeconds)],
                environment: daemon.hostMap())
        }

        func xmpp() throws -> Driver {
            let server = try Driver(
                "slixmpp_app_server.py", [String(daemon.port("app_server")), sender.id], secret: sender.key)
            try server.expect(event: "connected")
            return server
        }

        func http() throws -> Driver {
            try Driver(
                "legacy_http_server.py", [String(daemon.port("https")), sender.id], secret: sender.key,
                environment: daemon.hostMap())
        }

        /// Stops the daemon, which sends Close to devices, and starts it again on the same ports.
        func restart() throws {
            daemon.signal(SIGTERM)
            guard try daemon.wait() == 0 else {
                throw HarnessFailure("ccsd exited with an error: \(daemon.words)")
            }
            daemon = try RunningDaemon(continuing: daemon.scratch, ports: daemon.ports)
        }

        /// Submits a message with a receipt request, and waits for its ACK.
        func push(_ server: Driver, to token: String, _ id: String) throws {
            try server.send([
                "to": token, "message_id": id, "data": ["id": id], "delivery_receipt_requested": true,
            ])
            let answer = try server.expectJSON("the answer to \(id)") { $0["message_id"] as? String == id }
            guard answer["message_type"] as? String == "ack" else { throw HarnessFailure("\(answer)") }
        }

        /// Returns the original message ID of the next receipt.
        func receipt(_ server: Driver) throws -> String? {
            let receipt = try server.expectJSON("a receipt") { $0["message_type"] as? String == "receipt" }
            return (receipt["data"] as? [String: Any])?["original_message_id"] as? String
        }

        /// Returns the audit's counts of delivered and pending messages.
        func counts() throws -> (delivered: Int?, pending: Int?) {
            let audit = try daemon.ctl("audit")
            let downstream = audit["downstream"] as? [String: Any]
            #expect(audit["holds"] as? Bool == true, "\(audit)")
            return (downstream?["delivered"] as? Int, downstream?["pending"] as? Int)
        }
    }

    private func waitForLogin(_ device: Driver) throws {
        try device.expect("the login") { $0["text"] as? String == "Successfully logged in to MCS endpoint" }
    }

    /// Expects the message with this ID next and returns it.
    @discardableResult
    private func expectNext(_ device: Driver, _ id: String) throws -> [String: Any] {
        let event = try device.expect(event: "message")
        let message = try #require(event["message"] as? [String: Any])
        #expect((message["data"] as? [String: String])?["id"] == id, "\(message)")
        #expect(message["fcmMessageId"] as? String == event["persistent_id"] as? String)
        return message
    }

    @Test("firebase-messaging decrypts and acknowledges each message from XMPP and legacy HTTP")
    func pushes() throws {
        let bench = try Bench()
        let device = try bench.device()
        let ready = try device.expect(event: "ready")
        #expect(ready["fresh"] as? Bool == true)
        let token = try #require(ready["token"] as? String)
        try waitForLogin(device)

        let xmpp = try bench.xmpp()
        for id in ["x-1", "x-2", "x-3"] { try bench.push(xmpp, to: token, id) }
        for id in ["x-1", "x-2", "x-3"] {
            let message = try expectNext(device, id)
            #expect(message["from"] as? String == bench.sender.id)
            #expect(try bench.receipt(xmpp) == id)
        }
        let http = try bench.http()
        try http.command([
            "do": "send",
            "json": [
                "registration_ids": [token], "data": ["id": "h-1"], "priority": "high", "collapse_key": "k",
                "notification": ["title": "Näher", "body": "\"quoted\" \u{1F600}"],
            ],
        ])
        let answer = try http.expect(event: "answered")
        let results = (answer["json"] as? [String: Any])?["results"] as? [[String: Any]]
        let message = try expectNext(device, "h-1")
        #expect(results?.first?["message_id"] as? String == message["fcmMessageId"] as? String, "\(answer)")
        #expect(message["priority"] as? String == "high" && message["collapse_key"] as? String == "k")
        let notification = message["notification"] as? [String: String]
        #expect(notification == ["title": "Näher", "body": "\"quoted\" \u{1F600}"])

        try eventually("no message waits for an ack") { try bench.counts() == (4, 0) }
        let shown = try bench.daemon.ctl("devices", "show", try #require(ready["device"] as? String))
        #expect((shown["pending"] as? [Any])?.isEmpty == true, "\(shown)")
        try expectNoComplaint(device)
    }

    @Test("firebase-messaging keeps one connection while its pings are answered in time")
    func heartbeats() throws {
        let bench = try Bench()
        let device = try bench.device(pingSeconds: 1)
        let token = try #require(try device.expect(event: "ready")["token"] as? String)
        try waitForLogin(device)
        for _ in 0..<3 {
            try device.expect("a ping") { $0["text"] as? String == "Sent heartbeat ping" }
            try device.expect("its answer") {
                ($0["text"] as? String)?.hasPrefix("Received heartbeat ack") == true
            }
        }
        try bench.push(try bench.xmpp(), to: token, "after")
        try expectNext(device, "after")
        try expectNoComplaint(device)
    }

    @Test("firebase-messaging reconnects after four Closes and gets each stored message once")
    func returns() throws {
        let bench = try Bench()
        let device = try bench.device()
        let ready = try device.expect(event: "ready")
        let token = try #require(ready["token"] as? String)
        try waitForLogin(device)
        // The library stops at the third consecutive Close; a message after each login resets its count.
        for round in 0..<4 {
            try bench.push(try bench.xmpp(), to: token, "before-\(round)")
            try expectNext(device, "before-\(round)")
            try eventually("the message is acknowledged") { try bench.counts().pending == 0 }
            try bench.restart()
            try device.expect("Close") { ($0["text"] as? String)?.contains("Close message") == true }
            try waitForLogin(device)
        }
        device.finish()
        try eventually("the device has disconnected") {
            try bench.daemon.ctl("status")["devices"] as? Int == 0
        }
        let server = try bench.xmpp()
        for id in ["away-1", "away-2"] { try bench.push(server, to: token, id) }
        try bench.restart()

        let returned = try bench.device()
        let again = try returned.expect(event: "ready")
        #expect(again["fresh"] as? Bool == false && again["token"] as? String == token)
        #expect(again["device"] as? String == ready["device"] as? String)
        try expectNext(returned, "away-1")
        try expectNext(returned, "away-2")
        let next = try bench.xmpp()
        try bench.push(next, to: token, "last")
        try expectNext(returned, "last")
        try eventually("no message waits for an ack") { try bench.counts() == (7, 0) }
        try expectNoComplaint(returned)
    }

    /// Expects that the library has logged no warning or error so far.
    private func expectNoComplaint(_ device: Driver) throws {
        #expect(throws: HarnessFailure.self) {
            try device.expect("a complaint", seconds: 0.5) {
                $0["level"] as? String == "ERROR" || $0["level"] as? String == "WARNING"
            }
        }
    }

    @Test("canary: the library does not reach the daemon when its host names are not redirected")
    func canary() throws {
        let bench = try Bench()
        let state = bench.daemon.directory.appendingPathComponent("nothing.json").path
        let device = try Driver(
            "firebase_messaging_device.py", [state, bench.sender.id, "20"],
            environment: bench.daemon.hostMap(httpsPort: 1))
        try device.expect("a complaint") { $0["level"] as? String == "WARNING" }
        #expect(throws: HarnessFailure.self) { try device.expect(event: "ready", seconds: 3) }
    }
}
