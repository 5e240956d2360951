import Basics
import Catalogue
import Delivery
import Glibc
import Sessions
import Testing
import Transport
import Wire

@testable import Server

/// A whole server: its start and stop, a reload, the operator's commands and pages.
@Suite("In-process server", .serialized)
struct InProcessServerTests {
    private static func device(_ number: UInt64) -> Mutation {
        let now = Now.read().wall
        return .putDevice(
            DeviceRecord(
                device: DeviceID(number), token: SecretDigest(bytes: [UInt8](repeating: 1, count: 32)),
                createdAt: now, seenAt: now, nextRegistration: 1))
    }

    @Test("a stopped server reports its state and removes its socket, and the next one has the same secrets")
    func restart() throws {
        let folder = try ServerFolder()
        let name = RegistrationName(device: DeviceID(5), number: RegistrationNumber(1))
        let first = try InProcessServer(in: folder)
        let (token, secret) = (first.daemon.secrets.seal.token(for: name), first.daemon.secrets.scram)
        let socket = first.daemon.configuration.controlSocket
        #expect(first.daemon.isReady && access(socket, F_OK) == 0)
        var status = stat()
        let isThere = stat("\(folder.path)/data", &status) == 0
        #expect(isThere && status.st_mode & 0o777 == 0o700)
        #expect(first.stop() == .success)
        #expect(access(socket, F_OK) != 0)
        #expect(first.daemon.drainer.state == .stopping && !first.daemon.isReady)
        let second = try InProcessServer(in: folder)
        #expect(second.daemon.secrets.seal.token(for: name) == token && second.daemon.secrets.scram == secret)
    }

    @Test("a reload applies reloadable keys, reports those that need a restart, and counts failures")
    func reload() throws {
        let server = try InProcessServer(in: ServerFolder())
        let daemon = server.daemon
        try server.configure("log_level: debug\nkeepalive_seconds: 7\nlog_format: json\n")
        let reloaded = try daemon.reload()
        #expect(Set(reloaded.applied) == [.logLevel, .keepaliveSeconds] && reloaded.waiting == [.logFormat])
        #expect(daemon.log.level == .debug && daemon.configuration.keepaliveSeconds == 7)
        #expect(daemon.sessionSettings.value.keepaliveSeconds == 7)
        #expect(daemon.configuration.logFormat == .text)

        try server.configure("log_level: loud\n")
        #expect(throws: Daemon.ReloadFailure.self) { try daemon.reload() }
        #expect(daemon.metrics.value(.configReloadSuccess) == 0)
        #expect(daemon.metrics.value(.configReloads, 0) == 1 && daemon.metrics.value(.configReloads, 1) == 1)
        #expect(daemon.log.level == .debug && daemon.configuration.keepaliveSeconds == 7)

        try server.configure("")
        _ = try daemon.reload()
        #expect(daemon.log.level == .info && daemon.metrics.value(.configReloadSuccess) == 1)
    }

    @Test("a reload that failed for want of a file of the certificate is made up for when the file is there")
    func lateReload() throws {
        let (other, folder) = (try ServerFolder(), try ServerFolder())
        #expect(try InProcessServer(in: other).stop() == .success)
        let (certificate, key) = ("\(folder.path)/server.pem", "\(folder.path)/server.key")
        for (file, copy) in [("server.pem", certificate), ("server.key", key)] {
            try SmallFile.replace(copy, with: SmallFile.read("\(other.path)/data/\(file)"), mode: 0o600)
        }
        let files = "certificate_file: \(certificate)\nkey_file: \(key)\n"
        let server = try InProcessServer(in: folder, files)
        let daemon = server.daemon
        try server.configure(files + "keepalive_seconds: 7\n")
        let content = try SmallFile.read(key)
        try SmallFile.remove(key)
        #expect(throws: Daemon.ReloadFailure.self) { try daemon.reload() }
        daemon.checkCertificates()
        #expect(daemon.reloadFailure != nil && daemon.configuration.keepaliveSeconds != 7)

        try SmallFile.replace(key, with: content, mode: 0o600)
        daemon.checkCertificates()
        #expect(daemon.reloadFailure == nil && daemon.configuration.keepaliveSeconds == 7)
        #expect(daemon.metrics.value(.configReloads, 1) == 1)
    }

    @Test("the pages of a server report a drain, and a closed connection is removed from all counts")
    func pages() throws {
        let server = try InProcessServer(in: ServerFolder())
        #expect(try server.get("/readyz").hasPrefix("HTTP/1.1 200 "))
        #expect(try server.get("/metrics").contains("\nccs_draining 0\n"))
        server.daemon.drainer.enter(.draining(holds: false))
        let page = try server.get("/readyz")
        #expect(page.hasPrefix("HTTP/1.1 503 ") && page.hasSuffix("not ready: draining\n"))
        #expect(try server.get("/metrics").contains("\nccs_draining 1\n"))
        #expect(try server.get("/healthz").hasPrefix("HTTP/1.1 200 "), "it is alive during a drain")
        server.daemon.drainer.enter(.serving)

        let connection = try PlainConnection(port: server.adminPort)
        connection.send(
            "POST /metrics HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n"
                + String(repeating: "x", count: 500))
        #expect(
            InProcessServer.eventually { server.sum { $0.unauthenticatedBytes } == 500 },
            "canary: it is counted")
        connection.close()
        let isGone = InProcessServer.eventually {
            server.sum { host in host.allLinks.count { $0.kind != .control } } == 0
        }
        #expect(isGone && server.sum { $0.unauthenticatedBytes } == 0)
        #expect(server.daemon.metrics.value(.connectionsOpen, Link.Kind.admin.position) == 0)
    }

    @Test("a command with invalid arguments is refused without any effect")
    func refused() throws {
        let server = try InProcessServer(in: ServerFolder())
        #expect(try server.ask("senders add", ["sender_id": "4711"])["ok"]?.boolean == true)
        let wrong: [(String, JSONValue, String)] = [
            ("drain", ["session": "0-1", "sender_id": "4711"], "exclude each other"),
            (
                "senders rotate-key", ["sender_id": "4711", "overlap_seconds": 31_536_001],
                "invalid overlap_seconds \"31536001\": expected a whole number from 0 to 31536000"
            ),
            ("senders rotate-key", ["sender_id": "4711", "overlap_seconds": -1], "overlap_seconds"),
            ("reload", ["certificate": "x"], "must be given together"),
            ("devices forget", ["device": "12345"], "unknown device 12345"),
            ("drain", ["sender_id": "4712"], "unknown sender 4712"),
            ("send", ["sender_id": "4712", "to": "x", "data": [:]], "unknown sender 4712"),
            ("service-accounts list", ["sender_id": "4712"], "unknown sender 4712"),
            ("topics list", ["sender_id": "4712"], "unknown sender 4712"),
            (
                "senders rotate-key", ["sender_id": "4711", "key": "short"],
                "invalid key: expected a server key"
            ),
            ("nonsense", [:], "unknown command 'nonsense'"),
        ]
        for (command, arguments, text) in wrong {
            let answer = try server.ask(command, arguments)
            #expect(answer["ok"]?.boolean == false, "\(command)")
            #expect(answer["error"]?.text?.contains(text) == true, "\(answer.compact)")
        }
        #expect(server.daemon.senders.directory[SenderID(4_711)]?.keys.count == 1)
    }

    @Test("a refused message of the operator is reported and counted")
    func send() throws {
        let server = try InProcessServer(in: ServerFolder())
        _ = try server.ask("senders add", ["sender_id": "4711"])
        let answer = try server.ask("send", ["sender_id": "4711", "to": "malformed", "data": ["a": "b"]])
        #expect(answer["result"]?["outcome"]?.text == "nack")
        #expect(answer["result"]?["error"]?.text == "BAD_REGISTRATION")
        let position = RefusalReason.refusal(.invalidToken).position
        #expect(server.daemon.metrics.value(.refusals, RefusalInterface.control.position, position) == 1)
    }

    @Test("the status counts app servers and devices separately, and the audit includes lazy writes")
    func looks() throws {
        let server = try InProcessServer(in: ServerFolder())
        server.daemon.metrics.shards[0].add(2, to: .sessionsOpen, 1)
        let status = try server.ask("status")["result"]
        #expect(status?["app_servers"]?.integer == 0 && status?["devices"]?.integer == 2)
        #expect(status?["state"]?.text == "serving" && status?["store"]?["healthy"]?.boolean == true)
        let batch = WriteBatch(batchNumber: 0, mutations: [Self.device(11)], isDurable: false)
        server.daemon.storage.threads.submit(batch) { _ in }
        #expect(try server.ask("audit")["result"]?["devices"]?.integer == 1)
    }

    @Test("a page of devices has the start of the next page, except for the last page")
    func devices() throws {
        let server = try InProcessServer(in: ServerFolder())
        let outcome = server.daemon.storage.threads.commitAndWait([11, 12, 13].map(Self.device))
        #expect(outcome?.hasFailed == false)
        for (limit, next) in [(2, "12"), (3, nil), (4, nil)] as [(Int, String?)] {
            let page = try server.ask("devices list", ["limit": .integer(limit)])["result"]
            #expect(page?["devices"]?.elements?.count == min(limit, 3))
            #expect(page?["next_after"]?.text == next, "\(limit)")
        }
        let rest = try server.ask("devices list", ["after": "12"])["result"]?["devices"]?.elements
        #expect(rest?.compactMap { $0["device"]?.text } == ["13"])
    }

    @Test("a page of installations has the start of the next page, and an invalid position is refused")
    func installations() throws {
        let server = try InProcessServer(in: ServerFolder())
        let ids = ["a", "b", "c"].map { String(repeating: $0, count: InstallationToken.idLength) }
        let name = RegistrationName(device: DeviceID(1), number: RegistrationNumber(1))
        // Unused installations would expire during the test.
        let now = Now.read().wall
        let outcome = server.daemon.storage.threads.commitAndWait(
            ids.map {
                .putInstallation(
                    InstallationRecord(
                        id: Array($0.utf8), sender: SenderID(42), refresh: nil, createdAt: now - 1_000,
                        usedAt: now))
            } + [.linkInstallation(Array(ids[1].utf8), name)])
        #expect(outcome?.hasFailed == false)
        for (limit, next) in [(2, ids[1]), (3, nil), (4, nil)] as [(Int, String?)] {
            let page = try server.ask("installations list", ["limit": .integer(limit)])["result"]
            #expect(page?["installations"]?.elements?.count == min(limit, 3))
            #expect(page?["next_after"]?.text == next, "\(limit)")
        }
        let rest = try server.ask("installations list", ["after": .string(ids[0])])["result"]
        let rows = rest?["installations"]?.elements ?? []
        #expect(rows.compactMap { $0["installation"]?.text } == Array(ids.dropFirst()))
        #expect(rows.compactMap { $0["registrations"]?.integer } == [1, 0])
        #expect(rows.first?["sender_id"]?.text == "42" && rows.first?["ended"]?.boolean == true)
        #expect(rows.first?["used_at"]?.text == Timestamp.text(now))
        #expect(rows.first?["created_at"]?.text == Timestamp.text(now - 1_000))
        #expect(try server.ask("installations list", ["after": "x"])["error"] != nil)
    }
}
