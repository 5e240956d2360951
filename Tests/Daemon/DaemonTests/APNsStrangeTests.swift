import Foundation
import Testing

/// The real daemon against servers that do what Apple never should. Nothing is lost or accepted by that, and Apple is used again
/// as soon as it is back.
@Suite("APNs strange", .serialized, .enabled(if: TestPaths.hasPython, "run Scripts/bootstrap --tests first"))
struct APNsStrangeTests {
    /// Runs a strange server in place of Apple.
    private func strange(_ kind: String, _ bench: AppleBench) throws -> Driver {
        bench.apple.die()
        let name = kind == "name" ? "client_universal" : "server"
        let server = try Driver(
            "strange_apns.py",
            [
                String(bench.apple.productionPort), bench.apple.file("\(name).pem"),
                bench.apple.file("\(name).key"), kind,
            ])
        try server.expect(event: "ready")
        return server
    }

    /// The kinds, each with its event in the log; without one if only a request fails.
    private static let kinds: [(kind: String, log: String)] = [
        ("name", "event=apns_connect_failed"),
        (
            "http1",
            "problem=\"the server does not speak HTTP/2: ccsd offers h2 (ALPN), and it agrees to no protocol"
        ),
        ("garbage", "event=apns_disconnected"), ("mute", "event=apns_disconnected"), ("headers", ""),
        ("body", ""), ("drip", ""), ("portal", "event=apns_answer_foreign"),
        ("relay", "event=apns_answer_foreign"),
    ]

    @Test("a now-or-never message is unavailable within 15 seconds, and a stored one waits", arguments: kinds)
    func unusable(kind: String, log: String) throws {
        let bench = try AppleBench()
        let devices = (0..<3).map { AppleBench.deviceToken("00", $0) }
        let tokens = try bench.register(devices)
        #expect(try bench.send(tokens[2]).messageID != nil)
        var server: Driver? = try strange(kind, bench)
        let start = Date()
        let answers = try bench.request(
            [AppleBench.legacy(tokens[0], lifetime: 0), AppleBench.legacy(tokens[1])], atOnce: 2)
        #expect(answers[0].word == "Unavailable", "\(kind): \(answers[0])")
        #expect(answers[1].messageID != nil, "\(kind): \(answers[1])")
        #expect(start.timeIntervalSinceNow > -15, "\(kind)")
        // Without trust or HTTP/2 there is no connection.
        if kind != "name", kind != "http1" { try #require(server).expect(event: "connected") }
        #expect(try bench.count("pending") == 1)
        if !log.isEmpty {
            try eventually("\(kind) is logged") { bench.daemon.words.contains(log) }
        }
        server = nil
        try bench.apple.revive()
        try eventually("\(kind): the stored message is forwarded") { try bench.count("forwarded") == 2 }
        #expect(bench.apple.requests(to: devices[0]).isEmpty, "\(kind): it was refused")
        #expect(try bench.count("pending") == 0 && bench.feedback().items.isEmpty)
    }

    @Test("a server that has HTTP/1.1 alone is named as that, and messages wait for Apple")
    func refusesHTTP2() throws {
        let bench = try AppleBench()
        let device = AppleBench.deviceToken("00", 1)
        let tokens = try bench.register([device])
        bench.apple.die()
        let server = ChildProcess()
        server.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
        server.arguments = [
            "s_server", "-accept", "127.0.0.1:\(bench.apple.productionPort)", "-quiet", "-alpn", "http/1.1",
            "-cert", bench.apple.file("server.pem"), "-key", bench.apple.file("server.key"),
        ]
        server.standardOutput = FileHandle.nullDevice
        server.standardError = FileHandle.nullDevice
        server.standardInput = Pipe()
        try server.run()
        try eventually("the server listens") {
            PlainHTTP.canConnect(port: UInt16(bench.apple.productionPort))
        }
        #expect(try bench.send(tokens[0]).messageID != nil)
        try eventually("it is logged") {
            bench.daemon.words.contains("event=apns_connect_failed")
                && bench.daemon.words.contains("the server does not speak HTTP/2: ccsd offers h2 (ALPN)")
        }
        #expect(try bench.count("pending") == 1)
        server.end()
        try bench.apple.revive()
        try eventually("the message is forwarded") { try bench.count("forwarded") == 1 }
    }

    @Test(
        "slow settings, no streams at first and interim answers are survived",
        arguments: ["slow", "closed", "hints"])
    func survived(kind: String) throws {
        let bench = try AppleBench()
        let tokens = try bench.register((0..<12).map { AppleBench.deviceToken("00", $0) })
        let server = try strange(kind, bench)
        let lifetimes = [0, nil] as [Int?]
        let answers = try bench.request(
            tokens.enumerated().map { AppleBench.legacy($1, lifetime: lifetimes[$0 % 2]) }, atOnce: 12)
        #expect(answers.allSatisfy { $0.messageID != nil }, "\(kind): \(answers)")
        try server.expect(event: "connected")
        // The audit counts stored messages alone; the answers of the others are Apple's.
        try eventually("\(kind): all are forwarded") { try bench.count("forwarded") == 6 }
        #expect(try bench.count("accepted") == 6 && bench.count("pending") == 0)
    }

    @Test("canary: the mock of Apple in place of a strange server accepts the same messages")
    func canary() throws {
        let bench = try AppleBench()
        let token = try bench.register([AppleBench.deviceToken("00")])[0]
        bench.apple.die()
        try bench.apple.revive()
        #expect(try bench.send(token, lifetime: 0).messageID != nil)
    }
}
