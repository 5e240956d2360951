import Basics
import Catalogue
import Delivery
import Glibc
import Operator
import Store
import Testing
import Wire

@testable import Server

/// The handlers of everyday commands on a server in this process.
@Suite("Everyday commands", .serialized)
struct EverydayControlTests {
    private static let sender = SenderID(4_711)

    /// Stores devices with one registration each; every third is reached through APNs, and every fifth has a message.
    private func fill(_ server: InProcessServer, devices: ClosedRange<UInt64>) {
        let now = Now.read().wall
        var mutations: [Mutation] = []
        for number in devices {
            let device = DeviceID(number)
            mutations.append(
                .putDevice(
                    DeviceRecord(
                        device: device, token: SecretDigest(bytes: [UInt8](repeating: 1, count: 32)),
                        createdAt: now, seenAt: now - Int64(number) * 1_000, nextRegistration: 2)))
            var registration = Registration(
                name: RegistrationName(device: device, number: RegistrationNumber(1)),
                category: Array((number % 2 == 0 ? "com.even" : "com.odd").utf8), subtype: [],
                senderText: Array("4711".utf8), sender: Self.sender, createdAt: now)
            if number % 3 == 0 { registration.apnsToken = Array("p_0123456789abcdef".utf8) }
            mutations.append(.putRegistration(registration))
            guard number % 5 == 0 else { continue }
            mutations.append(
                .putMessage(
                    StoredMessage(
                        device: device, sequence: SequenceNumber(UInt64(now) * 1_000 + number), salt: 3,
                        registration: RegistrationNumber(1), sender: Self.sender,
                        messageID: Array("m-\(number)".utf8), collapseKey: Array("key".utf8), acceptedAt: now,
                        expiresAt: now + 3_600_000, priority: .high, body: Array("SECRET".utf8))))
        }
        #expect(server.daemon.storage.threads.commitAndWait(mutations)?.hasFailed == false)
    }

    private func list(_ server: InProcessServer, _ arguments: JSONValue) throws -> ListDevices.Answer {
        let answer = try server.ask("devices list", arguments)
        return try ListDevices.Answer(json: answer["result"] ?? .null)
    }

    @Test("conditions select devices, and pages of any size have every device once")
    func devices() throws {
        let server = try InProcessServer(in: ServerFolder(), reactors: 2)
        fill(server, devices: 1...60)
        func numbers(_ arguments: JSONValue) throws -> [UInt64] {
            try list(server, arguments).devices.map(\.device.number)
        }
        let all = Array(1...60 as ClosedRange<UInt64>)
        #expect(try numbers([:]) == all)
        #expect(try numbers(["app": "com.even"]) == all.filter { $0 % 2 == 0 })
        #expect(try numbers(["channel": "apns"]) == all.filter { $0 % 3 == 0 })
        #expect(
            try numbers(["channel": "mcs", "app": "com.odd"]) == all.filter { $0 % 3 != 0 && $0 % 2 == 1 })
        #expect(try numbers(["waiting": true]) == all.filter { $0 % 5 == 0 })
        #expect(try numbers(["sender_id": "4711"]) == all && numbers(["sender_id": "1"]) == [])
        #expect(try numbers(["presence": "offline"]) == all && numbers(["presence": "online"]) == [])
        let edge = Timestamp.text(Now.read().wall - 30_000)
        let before = try numbers(["seen_before": .string(edge)])
        let after = try numbers(["seen_after": .string(edge)])
        #expect(before + after == after + before || (after + before).sorted() == all)
        #expect((after + before).sorted() == all && !before.isEmpty && !after.isEmpty)
        for limit in [1, 7, 12] {
            var seen: [UInt64] = []
            var place: JSONValue = .null
            repeat {
                let page = try list(
                    server, ["limit": .integer(limit), "after": place, "waiting": true])
                #expect(page.devices.count <= limit)
                seen += page.devices.map(\.device.number)
                place = page.nextAfter.map { .string("\($0.number)") } ?? .null
            } while place != .null
            #expect(seen == all.filter { $0 % 5 == 0 }, "\(limit)")
        }
        let row = try #require(try list(server, ["after": "14", "limit": 1]).devices.first)
        #expect(row.device == DeviceID(15) && row.channels == [.apns] && row.waiting == 1 && !row.isOnline)
    }

    @Test("pending messages are listed with their headers, never with their payload")
    func messages() throws {
        let server = try InProcessServer(in: ServerFolder())
        fill(server, devices: 5...5)
        let answer = try server.ask("messages list", ["device": "5"])
        let page = try ListMessages.Answer(json: answer["result"] ?? .null)
        let row = try #require(page.messages.first)
        #expect(page.messages.count == 1 && page.nextAfter == nil)
        #expect(row.messageID == "m-5" && row.bytes == 6 && row.collapseKey == "key" && row.app == "com.odd")
        #expect(row.priority == .high && row.state == .waiting && row.sender == Self.sender)
        #expect(row.persistentID != nil && row.kind == .message)
        #expect(!answer.compact.contains("SECRET"))
        let token = String(
            decoding: server.daemon.secrets.seal.token(
                for: RegistrationName(device: DeviceID(5), number: RegistrationNumber(2))), as: UTF8.self)
        let others = try server.ask("messages list", ["device": .string(token)])
        #expect(others["result"]?["messages"]?.elements == [], "the messages of another registration")
        #expect(try server.ask("messages list", ["device": "6"])["ok"]?.boolean == false)
        #expect(try server.ask("messages list", ["sender_id": "6"])["ok"]?.boolean == false)
    }

    @Test("a message is cancelled by either ID, for its device or registration, and then waits no longer")
    func cancellation() throws {
        let server = try InProcessServer(in: ServerFolder())
        fill(server, devices: 5...15)
        func cancel(_ device: String, _ id: String) throws -> JSONValue {
            try server.ask("messages cancel", ["device": .string(device), "message_id": .string(id)])
        }
        func token(_ device: UInt64, _ number: UInt64) -> String {
            let name = RegistrationName(device: DeviceID(device), number: RegistrationNumber(number))
            return String(decoding: server.daemon.secrets.seal.token(for: name), as: UTF8.self)
        }
        func waiting(_ device: String) throws -> [ListMessages.Row] {
            let answer = try server.ask("messages list", ["device": .string(device)])
            return try ListMessages.Answer(json: answer["result"] ?? .null).messages
        }
        let unknown = "no message with this ID waits for the device"
        for (device, id) in [("5", "m-10"), ("5", "m"), (token(5, 2), "m-5"), ("99", "m-5")] {
            #expect(try cancel(device, id)["error"]?.text == unknown, "\(device) \(id)")
        }
        let done: JSONValue = ["cancelled": 1, "too_late": 0]
        #expect(try cancel("5", "m-5")["result"] == done)
        #expect(try waiting("5").isEmpty && cancel("5", "m-5")["error"]?.text == unknown)
        #expect(try cancel(token(10, 1), "m-10")["result"] == done)
        let name = try #require(try waiting("15").first?.persistentID)
        #expect(try cancel("15", name)["result"] == done)
        #expect(try waiting("15").isEmpty)
    }

    @Test("a suspended sender is found so after a restart, and stays so until it is resumed")
    func suspension() throws {
        let folder = try ServerFolder()
        let first = try InProcessServer(in: folder)
        _ = try first.ask("senders add", ["sender_id": "4711"])
        func state(_ server: InProcessServer, _ command: String) throws -> SenderState {
            try SenderState(json: try server.ask(command, ["sender_id": "4711"])["result"] ?? .null)
        }
        #expect(try state(first, "senders suspend").isChanged)
        #expect(try !state(first, "senders suspend").isChanged)
        let refused = try first.ask("send", ["sender_id": "4711", "to": "x", "data": ["a": "b"]])
        #expect(refused["error"]?.text == "sender 4711 is suspended")
        #expect(first.stop() == .success)
        let second = try InProcessServer(in: folder)
        #expect(second.daemon.senders.directory[Self.sender]?.isSuspended == true)
        let statistics = try second.ask("senders stats")["result"]?["senders"]?.elements ?? []
        #expect(statistics.count == 1 && statistics[0]["suspended"]?.boolean == true)
        #expect(try state(second, "senders resume").isChanged)
        #expect(second.daemon.senders.directory[Self.sender]?.isSuspended == false)
        #expect(try second.ask("senders resume", ["sender_id": "5"])["ok"]?.boolean == false)
    }

    @Test("the configuration in use is shown with its places, and what a restart would change is pending")
    func configuration() throws {
        let server = try InProcessServer(in: ServerFolder(), "keepalive_seconds: 77\nlog_level: notice")
        func row(_ key: String, _ arguments: JSONValue = [:]) throws -> ShowConfiguration.Row? {
            let answer = try server.ask("config show", arguments)["result"] ?? .null
            return try ShowConfiguration.Answer(json: answer).keys.first { $0.key == key }
        }
        let kept = try #require(try row("keepalive_seconds"))
        #expect(kept.value == "77" && kept.source == .file && kept.line == 11 && kept.pending == nil)
        #expect(try row("pending_window")?.source == .preset)
        #expect(try row("pending_window", ["changed": true]) == nil, "it has its default")
        #expect(try row("keepalive_seconds", ["changed": true]) != nil)
        #expect(try row("device_port")?.inUse.flatMap { Int($0) } ?? 0 > 0, "the port that the kernel picked")
        try server.configure("\nkeepalive_seconds: 78\nlog_format: json\nlog_level: notice")
        _ = try server.daemon.reload()
        #expect(try row("keepalive_seconds")?.value == "78" && row("keepalive_seconds")?.line == 12)
        let format = try #require(try row("log_format"))
        #expect(format.value == "text" && format.pending == "json" && format.source == .preset)
        _ = try server.ask("log level", ["level": "debug"])
        let level = try #require(try row("log_level"))
        #expect(level.value == "debug" && level.source == .command && level.pending == "notice")
    }

    @Test(
        "the log level is changed at once, and a reload or the end of its time brings the configured one back"
    )
    func logLevel() throws {
        let log = Log(level: .notice, write: { _ in })
        let server = try InProcessServer(in: ServerFolder(), "log_level: notice", log: log)
        func ask(_ arguments: JSONValue) throws -> ChangeLogLevel.Answer {
            try ChangeLogLevel.Answer(json: try server.ask("log level", arguments)["result"] ?? .null)
        }
        #expect(try ask([:]).level == .notice && log.level == .notice)
        #expect(try ask(["level": "debug"]).level == .debug && log.level == .debug)
        _ = try server.daemon.reload()
        #expect(log.level == .notice && server.daemon.logLevel.current == nil)
        let timed = try ask(["level": "error", "duration": "10m"])
        #expect(timed.until != nil && timed.configured == .notice && log.level == .error)
        let now = Now.read().monotonic
        server.daemon.logLevel.endIfDue(configured: .notice, now: now.advanced(seconds: 590))
        #expect(log.level == .error, "canary: the time is not over")
        server.daemon.logLevel.endIfDue(configured: .notice, now: now.advanced(seconds: 601))
        #expect(log.level == .notice)
    }

    @Test("the certificate of the authority is shown with its fingerprint")
    func authority() throws {
        let folder = try ServerFolder()
        let server = try InProcessServer(in: folder)
        let answer = try ShowAuthority.Answer(json: try server.ask("ca")["result"] ?? .null)
        #expect(answer.certificate.hasPrefix("-----BEGIN CERTIFICATE-----\n"))
        #expect(!answer.certificate.contains("PRIVATE") && answer.notAfter > Now.read().wall)
        try folder.run(
            "openssl x509 -in data/ca.pem -noout -fingerprint -sha256 | grep -q '=\(answer.fingerprint)$'")
    }
}
