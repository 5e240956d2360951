import Foundation
import Testing

/// SCRAM on the real daemon, with clients that support it (ccs-xmpp 1.5.1).
@Suite("SCRAM", .serialized, .enabled(if: TestPaths.hasPython, "run Scripts/bootstrap --tests first"))
struct SCRAMClientTests {
    private static let usual = ["X-OAUTH2", "X-GOOGLE-TOKEN", "PLAIN"]

    private func bound(_ daemon: RunningDaemon, _ arguments: String...) throws -> Driver {
        let sender = try daemon.firstSender
        return try Driver(
            "scram_plus.py", [String(daemon.port("app_server")), sender.id] + arguments, secret: sender.key)
    }

    @Test("SCRAM is not offered by default, and a client that prefers it uses PLAIN")
    func offByDefault() throws {
        let daemon = try RunningDaemon()
        let offer = try bound(daemon, "offer").expect(event: "offered")
        #expect(offer["mechanisms"] as? [String] == Self.usual)
        #expect(offer["types"] as? [String] == [])
        let sender = try daemon.firstSender
        let server = try Driver(
            "slixmpp_app_server.py", [String(daemon.port("app_server")), sender.id], secret: sender.key)
        #expect(try server.expect(event: "connected")["mechanism"] as? String == "PLAIN")
    }

    @Test("slixmpp logs in by SCRAM with every valid key, and is refused with another one")
    func slixmpp() throws {
        let daemon = try RunningDaemon(flags: ["--scram"])
        let sender = try daemon.firstSender
        let rotated = try daemon.ctl("senders", "rotate-key", sender.id)
        let newer = try #require(rotated["key"] as? String)
        for key in [sender.key, newer] {
            let server = try Driver(
                "slixmpp_app_server.py", [String(daemon.port("app_server")), sender.id], secret: key)
            #expect(try server.expect(event: "connected")["mechanism"] as? String == "SCRAM-SHA-256")
            try server.send(["to": "not-a-token", "message_id": "m-1", "data": ["a": "b"]])
            let nack = try server.expectJSON("the NACK") { $0["message_id"] as? String == "m-1" }
            #expect(nack["error"] as? String == "BAD_REGISTRATION")
        }
        let unauthorized = try Driver(
            "slixmpp_app_server.py", [String(daemon.port("app_server")), sender.id], secret: newer + "x")
        try unauthorized.expect(event: "refused")
        #expect(daemon.words.contains("event=login_refused"))
    }

    @Test("a sender logs in by SCRAM when it was created before a restart")
    func afterRestart() throws {
        let first = try RunningDaemon()
        let sender = try first.firstSender
        first.signal(SIGTERM)
        #expect(try first.wait() == 0)
        let daemon = try RunningDaemon(continuing: first.scratch, flags: ["--scram"])
        let server = try Driver(
            "slixmpp_app_server.py", [String(daemon.port("app_server")), sender.id], secret: sender.key)
        #expect(try server.expect(event: "connected")["mechanism"] as? String == "SCRAM-SHA-256")
    }

    @Test(
        "-PLUS binds the login to the channel, so that a man in the middle is refused",
        arguments: ["", "TLS1.2"])
    func plus(version: String) throws {
        let daemon = try RunningDaemon(flags: ["--scram"])
        let client = try bound(daemon, "plus", version)
        let offer = try client.expect(event: "offered")
        #expect(
            offer["mechanisms"] as? [String] == ["SCRAM-SHA-256-PLUS", "SCRAM-SHA-256"] + Self.usual)
        #expect(offer["types"] as? [String] == ["tls-exporter"])
        let facts = try client.expect(event: "connected")
        #expect(facts["is_mutual"] as? Bool == true)
        #expect(facts["iterations"] as? Int ?? 0 >= 4_096)
        for wrong in ["downgrade", "other-channel"] {
            try bound(daemon, wrong, version).expect(event: "refused")
        }
    }

    @Test("an unknown sender gets a challenge like a known one, with the same salt at every attempt")
    func unknownSender() throws {
        let daemon = try RunningDaemon(flags: ["--scram"])
        func salt(_ sender: String) throws -> String {
            let client = try Driver(
                "scram_plus.py", [String(daemon.port("app_server")), sender, "plus"], secret: "no-such-key-is"
            )
            return try #require(try client.expect(event: "refused")["salt"] as? String)
        }
        let salts = [try salt("424242"), try salt("424242"), try salt("424243")]
        #expect(salts[0] == salts[1] && salts[0] != salts[2])
        let known = try salt(daemon.firstSender.id)
        #expect(known.count == salts[0].count)
    }

    @Test(
        "libstrophe logs in by SCRAM and exchanges messages",
        .enabled(if: Strophe.isInstalled, "libstrophe-dev is missing")
    )
    func libstrophe() throws {
        for (flags, mechanism) in [(["--scram"], "SCRAM-SHA-256"), ([], "PLAIN")] {
            let daemon = try RunningDaemon(flags: flags)
            let sender = try daemon.firstSender
            let server = try Strophe.driver(daemon, sender: sender.id, key: sender.key)
            #expect(try server.expect(event: "mechanism")["name"] as? String == mechanism)
            try server.expect(event: "connected")
            try server.write(line: #"{"to":"not-a-token","message_id":"m-1","data":{"a":"b"}}"#)
            let nack = try server.expectJSON("the NACK") { $0["message_id"] as? String == "m-1" }
            #expect(nack["error"] as? String == "BAD_REGISTRATION")
            let unauthorized = try Strophe.driver(daemon, sender: sender.id, key: sender.key + "x")
            try unauthorized.expect(event: "refused")
        }
    }
}
