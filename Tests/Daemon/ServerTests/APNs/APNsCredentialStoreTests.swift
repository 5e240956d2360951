import Basics
import BasicsSupport
import Crypto
import Delivery
import Glibc
import Operator
import Synchronization
import Testing
import Transport

@testable import Server

/// The files of credentials for APNs.
@Suite("APNs credentials")
struct APNsCredentialStoreTests {
    private typealias Files = APNsFixtures
    private let folder: ServerFolder
    private var path: String { "\(folder.path)/apns" }

    init() throws { folder = try ServerFolder() }

    private func store(secret: [UInt8] = Files.secret, log: Log = .silent) -> APNsCredentialStore {
        APNsCredentialStore(folder: path, secret: secret, log: log)
    }

    /// Returns the credentials in use, each with its environments: `ABC123DEFG production sandbox`.
    private func used(_ store: APNsCredentialStore) -> [String] {
        store.all.map { "\($0.id) \($0.environments.map(\.rawValue).joined(separator: " "))" }
    }

    private func mode(_ path: String) -> UInt32 {
        var status = stat()
        return stat(path, &status) == 0 ? UInt32(status.st_mode) & 0o777 : 0
    }

    @Test("credentials are read again at the next start, from files that only their owner can read")
    func restart() throws {
        let first = store()
        let (universal, _) = try first.add(try Files.universal())
        let (key, _) = try first.add(try Files.key())
        let second = store()
        #expect(second.unreadable == [] && second.all.map(\.id) == [universal.id, key.id])
        #expect(second.all.map(\.serial) == [1, 2] && second.all.map(\.addedAt) == [Files.now, Files.now])
        guard case .certificate(let kept) = second.all[0].material,
            case .certificate(let original) = universal.material,
            case .key(let keptKey, let keyID, let team) = second.all[1].material,
            case .key(let originalKey, _, _) = key.material
        else {
            Issue.record("other kinds")
            return
        }
        #expect(kept.key.revealed == original.key.revealed && kept.chain == original.chain)
        #expect(keptKey.key.revealed == originalKey.key.revealed)
        #expect(keyID == "ABC123DEFG" && team == "TEAM123456" && second.all[1].bundle == nil)
        #expect(mode(path) == 0o700)
        for name in try SmallFile.names(in: path) { #expect(mode("\(path)/\(name)") == 0o600, "\(name)") }
        try #require(chmod(path, 0o755) == 0)
        _ = try second.add(try Files.development())
        #expect(mode(path) == 0o700)
    }

    @Test("the private halves are encrypted on the disk, and neither they nor the password are in any file")
    func sealed() throws {
        let store = store()
        _ = try store.add(try Files.universal())
        _ = try store.add(try Files.key())
        let names = try SmallFile.names(in: path)
        #expect(names.count == 2)
        for name in names {
            let text = String(decoding: try SmallFile.read("\(path)/\(name)"), as: UTF8.self)
            #expect(text.contains("sealed_key") && !text.contains("PRIVATE KEY"))
            #expect(!text.contains("\"secret\""))
            for source in ["universal.key", "AuthKey_ABC123DEFG.p8"] {
                let key = String(decoding: try Files.file(source).revealed, as: UTF8.self)
                for line in key.split(separator: "\n") where line.count > 30 { #expect(!text.contains(line)) }
            }
        }
    }

    @Test(
        "a file that was changed, truncated, renamed or made by another server is reported by name and left out"
    )
    func damaged() throws {
        let first = store()
        let (universal, _) = try first.add(try Files.universal())
        let (key, _) = try first.add(try Files.key())
        #expect(store(secret: [UInt8](repeating: 6, count: 32)).unreadable.count == 2)
        let file = "\(path)/\(key.id).json"
        let whole = try SmallFile.read(file)
        let text = String(decoding: whole, as: UTF8.self)
        let changes = [
            text.split(separator: "TEAM123456").joined(separator: "TEAM999999"),
            text.split(separator: "\"sandbox\"").joined(separator: "\"production\""),
            text.split(separator: "\"format\": 1").joined(separator: "\"format\": 2"),
            String(text.prefix(text.utf8.count / 2)), "", "[]", "{\"format\":1}",
        ]
        for changed in changes {
            try SmallFile.replace(file, with: Array(changed.utf8), mode: 0o600)
            let logged = Mutex<[String]>([])
            let log = Log(
                level: .error,
                write: { bytes in logged.withLock { $0.append(String(decoding: bytes, as: UTF8.self)) } })
            let second = store(log: log)
            #expect(second.all.map(\.id) == [universal.id])
            #expect(second.unreadable.map(\.file) == [file])
            #expect(logged.withLock { $0 }.count == 1)
            #expect(logged.withLock { $0 }[0].contains(file))
        }
        try SmallFile.replace("\(path)/other.json", with: whole, mode: 0o600)
        try SmallFile.remove(file)
        #expect(store().unreadable.map(\.file) == ["\(path)/other.json"])
        // What a write that was interrupted leaves is no credential.
        try SmallFile.replace("\(path)/x.json.new", with: [1], mode: 0o600)
        #expect(store().unreadable.count == 1)
    }

    @Test(
        "a later certificate takes over its environments, and one without any left is removed with its file")
    func slots() throws {
        let store = store()
        let (universal, none) = try store.add(try Files.universal())
        #expect(none == [] && used(store) == ["\(universal.id) production sandbox"])
        let (development, kept) = try store.add(try Files.development())
        #expect(kept == [])
        #expect(used(store) == ["\(universal.id) production", "\(development.id) sandbox"])
        #expect(used(self.store()) == used(store), "a start has the same result")
        let (production, replaced) = try store.add(try Files.production())
        #expect(replaced == [universal.id])
        #expect(used(store) == ["\(development.id) sandbox", "\(production.id) production"])
        #expect(try SmallFile.names(in: path).count == 2)
        let (again, both) = try store.add(try Files.universal())
        #expect(Set(both) == [development.id, production.id] && again.id == universal.id)
        #expect(used(self.store()) == ["\(universal.id) production sandbox"])
        _ = try store.add(try Files.development())
        try store.remove(development.id)
        #expect(used(store) == ["\(universal.id) production sandbox"], "it gets back what was replaced")
        #expect(used(self.store()) == used(store))
    }

    @Test("a team has one key for all apps and one for each app, in each environment")
    func keys() throws {
        let store = store()
        _ = try store.add(try Files.universal())
        _ = try store.add(try Files.key())
        _ = try store.add(try Files.key("KEY0000001", bundle: Files.bundle))
        _ = try store.add(try Files.key("KEY0000002", team: "TEAM999999"))
        #expect(store.all.count == 4, "a certificate and keys do not replace each other")
        let (_, replaced) = try store.add(try Files.key("KEY0000003"))
        #expect(replaced == ["ABC123DEFG"])
        let (_, none) = try store.add(try Files.key("KEY0000004", environment: .sandbox))
        #expect(none == [])
        #expect(used(store).contains("KEY0000003 production") && used(store).contains("KEY0000004 sandbox"))
        #expect(used(store).contains("KEY0000001-\(Files.bundle) production sandbox"))
        let (_, same) = try store.add(try Files.key("KEY0000003"))
        #expect(same == ["KEY0000004"], "the same key again takes over both environments")
        #expect(throws: OperatorProblem.self) { try store.remove("KEY0000004") }
    }

    @Test("an app has one credential for all senders and one for each sender")
    func senders() throws {
        let store = store()
        for sender in [nil, SenderID(4_711), SenderID(4_712), SenderID(4_711)] {
            _ = try store.add(try APNsFixtures.universal(for: sender))
        }
        let ids = store.all.map(\.id)
        let plain = try #require(ids.first)
        #expect(ids == [plain, "\(plain)-4712", "\(plain)-4711"])
        let again = self.store()
        #expect(again.all.map(\.sender) == [nil, SenderID(4_712), SenderID(4_711)])
        #expect(again.all.map(\.id) == ids && again.unreadable.isEmpty)
    }

    @Test("an observer gets the credentials at once and after each change")
    func observer() throws {
        let store = store()
        let seen = Mutex<[Int]>([])
        store.observe { credentials in seen.withLock { $0.append(credentials.count) } }
        let (key, _) = try store.add(try Files.key())
        try store.remove(key.id)
        #expect(seen.withLock { $0 } == [0, 1, 0])
    }

    @Test("arguments that contradict the file are refused")
    func arguments() throws {
        let commands = [
            try Files.command("legacy.p12", keyID: "ABC123DEFG"),
            try Files.command("legacy.p12", team: "TEAM123456"),
            try Files.command("legacy.p12", bundle: "com.example.other"),
            try Files.command("development.p12", environment: .production),
            try Files.command("production.pem", key: "production.key", environment: .sandbox),
            try Files.command("AuthKey_ABC123DEFG.p8", keyID: "ABC123DEFG"),
            try Files.command("AuthKey_ABC123DEFG.p8", team: "TEAM123456"),
        ]
        for command in commands {
            let problem = #expect(throws: OperatorProblem.self) { try Files.credential(command) }
            #expect(problem?.hint.isEmpty == false)
        }
        let limited = try Files.credential(try Files.command("legacy.p12", environment: .sandbox))
        #expect(limited.environments == [.sandbox])
    }

    @Test("the first expiry is that of the first certificate, and there is none for a key")
    func gauge() throws {
        let store = store()
        _ = try store.add(try Files.key())
        #expect(store.firstExpiry == nil)
        let (universal, _) = try store.add(try Files.universal())
        let end = try #require(universal.expiresAt)
        #expect(store.firstExpiry == end)
        _ = try store.add(try Files.development())
        let ends = store.all.compactMap(\.expiresAt)
        #expect(ends.count == 2 && store.firstExpiry == ends.min())
    }
}

/// Warnings before certificates expire.
@Suite("APNs expiry")
struct APNsExpiryTests {
    @Test("a warning is due once at 30, 14, 7 and 1 days and after the expiry, and again after a start")
    func limits() throws {
        let credentials = [try APNsFixtures.universal(), try APNsFixtures.key()]
        let end = try #require(credentials[0].expiresAt)
        var watch = APNsExpiryWatch()
        var warned: [Int] = []
        for hour in stride(from: 40 * 24, through: -48, by: -1) {
            let due = watch.due(credentials, now: end - Int64(hour) * 3_600_000)
            warned += due.map(\.days)
        }
        #expect(warned == [29, 13, 6, 0, -1])
        var second = APNsExpiryWatch()
        #expect(second.due(credentials, now: end - 10 * 86_400_000).map(\.days) == [10])
        #expect(second.due(credentials, now: end - 10 * 86_400_000).isEmpty)
        // A renewed certificate starts anew.
        #expect(second.due([], now: end).isEmpty)
        #expect(second.due(credentials, now: end - 10 * 86_400_000).count == 1)
    }
}

/// What Apple's answers to a self-test mean.
@Suite("APNs self-test")
struct APNsSelfTestTests {
    @Test(
        "a refused device token means that the credential is good, and other refusals that it is not",
        arguments: [
            (400, "BadDeviceToken", .accepted), (200, "", .accepted), (410, "Unregistered", .accepted),
            (400, "DeviceTokenNotForTopic", .accepted), (403, "InvalidProviderToken", .refused),
            (403, "ExpiredProviderToken", .refused), (403, "BadEnvironmentKeyInToken", .refused),
            (403, "BadCertificate", .refused), (400, "TopicDisallowed", .refused),
            (400, "BadTopic", .refused), (400, "MissingTopic", .refused),
            (429, "TooManyProviderTokenUpdates", .unclear), (500, "InternalServerError", .unclear),
            (503, "", .unclear), (400, "BadPriority", .unclear),
        ] as [(Int, String, APNsTestRow.Result)])
    func verdicts(status: Int, reason: String, expected: APNsTestRow.Result) {
        let answer = APNsSelfTestAnswer.answered(status: status, reason: reason)
        let verdict = answer.verdict(topic: "com.example.app")
        #expect(verdict.result == expected && verdict.detail.hasPrefix("\(status)"))
    }

    @Test("a test without an app accepts that the topic is missing, and failures have no verdict")
    func others() {
        let missing = APNsSelfTestAnswer.answered(status: 400, reason: "MissingTopic").verdict(topic: "")
        #expect(missing.result == .accepted && missing.detail.contains("--test-bundle-id"))
        let foreign = APNsSelfTestAnswer.foreign(status: 200).verdict(topic: "")
        #expect(foreign.result == .unclear && foreign.detail.contains("something else answers"))
        #expect(APNsSelfTestAnswer.failed("no connection").verdict(topic: "").result == .unclear)
        #expect(APNsSelfTestAnswer.notTested("off").verdict(topic: "") == (.notTested, "off"))
    }
}
