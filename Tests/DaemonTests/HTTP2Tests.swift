import Foundation
import Testing

/// HTTP/2 on the real HTTPS port, spoken by the library that async app servers use (http 1.1, 1.2).
@Suite("HTTP/2", .serialized, .enabled(if: Places.hasPython, "run Scripts/bootstrap --tests first"))
struct HTTP2Tests {
    private func client(_ daemon: RunningDaemon) throws -> Driver {
        try Driver(
            "http2_client.py",
            [String(daemon.port("https")), daemon.authority, daemon.firstSender.id])
    }

    @Test("300 check-ins at once, then 300 registrations, on one connection; each has its own token")
    func burst() throws {
        let daemon = try RunningDaemon(reactors: 2)
        let client = try client(daemon)
        try client.tell(["do": "burst", "count": 300, "http2": true])
        let told = try client.expect(event: "burst", seconds: 120)
        #expect(told["versions"] as? [String] == ["HTTP/2"] && told["connections"] as? Int == 1)
        #expect(told["good"] as? Int == 600 && told["devices"] as? Int == 300)
        #expect(told["tokens"] as? Int == 300)
    }

    @Test("a client without HTTP/2 is served in HTTP/1.1 (canary: the version is really told apart)")
    func fallback() throws {
        let daemon = try RunningDaemon()
        let client = try client(daemon)
        try client.tell(["do": "burst", "count": 5, "http2": false])
        let told = try client.expect(event: "burst", seconds: 60)
        #expect(told["versions"] as? [String] == ["HTTP/1.1"] && told["tokens"] as? Int == 5)
    }

    @Test("only the HTTPS port agrees on a protocol; a client that names one is welcome on the others too")
    func agreed() throws {
        let daemon = try RunningDaemon()
        let client = try client(daemon)
        func chosen(_ alpn: [String], _ listener: String, _ name: String = "localhost") throws -> [String] {
            try client.tell(["do": "raw", "alpn": alpn, "name": name, "port": daemon.port(listener)])
            let told = try client.expect(event: "raw")
            return [told["chosen"] as? String ?? "?", told["line"] as? String ?? "?"]
        }
        let missing = "HTTP/1.1 404 Not Found"
        #expect(try chosen(["http/1.1"], "https") == ["http/1.1", missing])
        #expect(try chosen([], "https") == ["", missing])
        #expect(try chosen(["acme"], "https") == ["", missing])
        // Whoever agrees on h2 and then speaks HTTP/1.1 is understood by its first octets.
        #expect(try chosen(["http/1.1", "h2"], "https") == ["h2", missing])
        for listener in ["app_server", "app_server_preproduction", "device"] {
            #expect(try chosen(["h2", "http/1.1"], listener) == ["", ""], "\(listener)")
        }
    }

    @Test("every host name of the HTTP services gets a certificate that holds for it")
    func names() throws {
        let daemon = try RunningDaemon()
        let client = try client(daemon)
        let names = [
            "android.googleapis.com", "gcm-http.googleapis.com", "fcm.googleapis.com", "iid.googleapis.com",
            "oauth2.googleapis.com", "iamcredentials.googleapis.com", "www.googleapis.com",
            "accounts.google.com", "android.clients.google.com",
        ]
        for name in names {
            try client.tell(["do": "raw", "alpn": [], "name": name])
            #expect(try client.expect(event: "raw")["line"] as? String == "HTTP/1.1 404 Not Found", "\(name)")
        }
    }
}
