import Foundation
import Testing

/// Clients with a mistake in their settings at the real ports: each is named once, and counted.
@Suite("Clients with wrong settings", .serialized) struct WrongClientTests {
    /// Returns the lines of the log about failed handshakes at a listener.
    private func lines(_ daemon: RunningDaemon, _ listener: String) -> [Substring] {
        daemon.words.split(separator: "\n").filter {
            $0.contains("event=handshake_failed ") && $0.contains("listener=\(listener) ")
        }
    }

    /// Sends bytes to a port. Returns what the server answers until it closes.
    private func send(_ text: String, port: Int) throws -> String {
        let descriptor = try PlainHTTP.connected(port: UInt16(port))
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        guard Foundation.send(descriptor, bytes, bytes.count, 0) == bytes.count else {
            throw HarnessFailure("cannot send")
        }
        var answer: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4_096)
        while case let count = read(descriptor, &chunk, chunk.count), count > 0 { answer += chunk[..<count] }
        return String(decoding: answer, as: UTF8.self)
    }

    @Test(
        "plain HTTP gets the URL with https, and XMPP without TLS a line in the log; repetitions are only counted"
    )
    func plain() throws {
        let bench = try OperatorAPIBench()
        let daemon = bench.daemon
        for (listener, port) in [("admin", bench.port), ("https", try daemon.port("https"))] {
            for _ in 1...3 {
                let answer = try send("GET / HTTP/1.1\r\nHost: localhost:\(port)\r\n\r\n", port: port)
                #expect(
                    answer.hasPrefix("HTTP/1.1 400 ") && answer.contains("use https://localhost:\(port)/"),
                    "\(answer)")
            }
            try eventually("\(listener) is logged") { !lines(daemon, listener).isEmpty }
            let found = lines(daemon, listener)
            #expect(found.count == 1 && found[0].contains("reason=plain_http"), "\(found)")
            #expect(found[0].contains("level=notice"), "\(found)")
        }
        for listener in ["app_server", "device"] {
            for _ in 1...3 {
                _ = try send(
                    "<stream:stream to='gcm.googleapis.com' version='1.0'>", port: daemon.port(listener))
            }
            try eventually("\(listener) is logged") { !lines(daemon, listener).isEmpty }
            let found = lines(daemon, listener)
            #expect(found.count == 1 && found[0].contains("reason=not_tls"), "\(found)")
        }
    }

    @Test("a client that does not trust the CA is named, and what to give it")
    func untrusted() throws {
        let (daemon, other) = (try RunningDaemon(), try RunningDaemon())
        for _ in 1...2 {
            let client = try Tool.run(
                URL(fileURLWithPath: "/usr/bin/openssl"),
                [
                    "s_client", "-connect", "127.0.0.1:\(try daemon.port("app_server"))", "-CAfile",
                    other.authority, "-verify_return_error",
                ])
            #expect(client.code != 0)
        }
        try eventually("it is logged") { !lines(daemon, "app_server").isEmpty }
        let found = lines(daemon, "app_server")
        #expect(found.count == 1 && found[0].contains("reason=certificate_not_trusted"), "\(found)")
        #expect(found[0].contains("ca.pem"), "\(found)")
    }
}
