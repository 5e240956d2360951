import Foundation
import Testing

/// HTTP/2 on the real HTTPS port, with the library that async app servers use (http 1.1, 1.2).
@Suite("HTTP/2", .serialized, .enabled(if: TestPaths.hasPython, "run Scripts/bootstrap --tests first"))
struct HTTP2Tests {
    private func client(_ daemon: RunningDaemon) throws -> Driver {
        try Driver(
            "http2_client.py",
            [String(daemon.port("https")), daemon.authority, daemon.firstSender.id])
    }

    @Test("one connection serves 300 concurrent check-ins, then 300 registrations, each with its own token")
    func burst() throws {
        let daemon = try RunningDaemon(reactors: 2)
        let client = try client(daemon)
        try client.command(["do": "burst", "count": 300, "http2": true])
        let event = try client.expect(event: "burst", seconds: 120)
        #expect(event["versions"] as? [String] == ["HTTP/2"] && event["connections"] as? Int == 1)
        #expect(event["good"] as? Int == 600 && event["devices"] as? Int == 300)
        #expect(event["tokens"] as? Int == 300)
    }

    @Test("a client gets HTTP/1.1 when it does not offer HTTP/2 (canary: the test distinguishes versions)")
    func fallback() throws {
        let daemon = try RunningDaemon()
        let client = try client(daemon)
        try client.command(["do": "burst", "count": 5, "http2": false])
        let event = try client.expect(event: "burst", seconds: 60)
        #expect(event["versions"] as? [String] == ["HTTP/1.1"] && event["tokens"] as? Int == 5)
    }

    @Test("only the HTTPS port negotiates ALPN; other ports accept a client that offers it")
    func agreed() throws {
        let daemon = try RunningDaemon()
        let client = try client(daemon)
        func chosen(_ alpn: [String], _ listener: String, _ name: String = "localhost") throws -> [String] {
            try client.command(["do": "raw", "alpn": alpn, "name": name, "port": daemon.port(listener)])
            let event = try client.expect(event: "raw")
            return [event["chosen"] as? String ?? "?", event["line"] as? String ?? "?"]
        }
        let missing = "HTTP/1.1 404 Not Found"
        #expect(try chosen(["http/1.1"], "https") == ["http/1.1", missing])
        #expect(try chosen([], "https") == ["", missing])
        #expect(try chosen(["acme"], "https") == ["", missing])
        // The server detects HTTP/1.1 by the first bytes even when h2 was negotiated.
        #expect(try chosen(["http/1.1", "h2"], "https") == ["h2", missing])
        for listener in ["app_server", "app_server_preproduction", "device"] {
            #expect(try chosen(["h2", "http/1.1"], listener) == ["", ""], "\(listener)")
        }
    }

    @Test("the certificate is valid for every host name of the HTTP services")
    func names() throws {
        let daemon = try RunningDaemon()
        let client = try client(daemon)
        let names = [
            "android.googleapis.com", "gcm-http.googleapis.com", "fcm.googleapis.com", "iid.googleapis.com",
            "oauth2.googleapis.com", "iamcredentials.googleapis.com", "www.googleapis.com",
            "accounts.google.com", "android.clients.google.com",
        ]
        for name in names {
            try client.command(["do": "raw", "alpn": [], "name": name])
            #expect(try client.expect(event: "raw")["line"] as? String == "HTTP/1.1 404 Not Found", "\(name)")
        }
    }
}
