import Basics
import Catalogue
import Delivery
import Operator
import Synchronization
import Testing
import Wire

@testable import Server

/// The commands for credentials for APNs, over the control socket.
@Suite("APNs commands", .serialized)
struct APNsCommandTests {
    /// Answers tests, and records their topics.
    private final class Tester: APNsSelfTester {
        let topics = Mutex<[String]>([])

        func test(
            _ credential: StoredAPNsCredential, topic: String, in environment: APNsEnvironment
        ) -> APNsSelfTestAnswer {
            topics.withLock { $0.append("\(topic) \(environment.rawValue)") }
            return environment == .production
                ? .answered(status: 400, reason: "BadDeviceToken") : .failed("no connection")
        }
    }

    @Test("a credential is added with its test, listed, shown, tested and removed, without its secrets")
    func life() throws {
        let folder = try ServerFolder()
        let server = try InProcessServer(in: folder)
        let added = try server.ask("apns add", try APNsFixtures.command("legacy.p12").json)
        let id = try #require(added["result"]?["credential"]?["credential"]?.text, "\(added.compact)")
        #expect(added["result"]?["credential"]?["bundle_id"]?.text == APNsFixtures.bundle)
        #expect(added["result"]?["tests"]?.elements?.map { $0["result"] } == ["unclear", "unclear"])
        let detail = added["result"]?["tests"]?.elements?.first?["detail"]?.text
        #expect(detail?.contains("efused") == true, "\(detail ?? "")")
        let tester = Tester()
        server.daemon.gateways.credentials.selfTester = tester
        let key = try APNsFixtures.command("AuthKey_ABC123DEFG.p8", keyID: "ABC123DEFG", team: "TEAM123456")
        let second = try server.ask("apns add", key.json)
        #expect(second["result"]?["tests"]?.elements?.map { $0["result"] } == ["accepted", "unclear"])
        let tested = try server.ask(
            "apns test", ["credential": "ABC123DEFG", "test_bundle_id": "com.example.other"])
        #expect(tested["result"]?["tests"]?.elements?.count == 2)
        #expect(
            tester.topics.withLock { $0 } == [
                " production", " sandbox", "com.example.other production", "com.example.other sandbox",
            ])
        let list = try server.ask("apns list")
        #expect(
            list["result"]?["credentials"]?.elements?.map { $0["credential"] }
                == [.string(id), "ABC123DEFG"])
        let states = list["result"]?["states"]?.elements ?? []
        #expect(states.map { $0["credential"] } == [.string(id), .string(id), "ABC123DEFG", "ABC123DEFG"])
        #expect(states.map { $0["environment"] } == ["production", "sandbox", "production", "sandbox"])
        #expect(states.allSatisfy { $0["health"] == "unused" } && list["result"]?["problem"] == nil)
        let shown = try server.ask("apns show", ["credential": .string(id)])
        #expect(shown["result"]?["issuer"] == "Apple Test Push CA")
        #expect(shown["result"]?["fingerprint"]?.text?.hasPrefix(id) == true)
        for answer in [added, second, tested, list, shown] {
            #expect(!answer.compact.contains("PRIVATE") && !answer.compact.contains("sealed"))
        }
        #expect(try server.get("/metrics").contains("\nccs_apns_certificate_not_after_seconds "))
        #expect(server.stop() == .success)
        let again = try InProcessServer(in: folder)
        #expect(
            again.daemon.gateways.credentials.all.map(\.id) == [id, "ABC123DEFG"],
            "sealed with the same key")
        let removed = try again.ask("apns remove", ["credential": .string(id)])
        #expect(removed["result"]?["credential"]?.text == id)
        #expect(try again.ask("apns show", ["credential": .string(id)])["error"] != nil)
    }

    /// Refuses every credential.
    private struct Refusing: APNsSelfTester {
        func test(
            _ credential: StoredAPNsCredential, topic: String, in environment: APNsEnvironment
        ) -> APNsSelfTestAnswer { .answered(status: 403, reason: "InvalidProviderToken") }
    }

    @Test("a credential that Apple refuses replaces none that is in use")
    func refusedByApple() throws {
        let server = try InProcessServer(in: ServerFolder())
        let credentials = server.daemon.gateways.credentials
        func add(_ keyID: String, _ team: String) throws -> JSONValue {
            let command = try APNsFixtures.command("AuthKey_ABC123DEFG.p8", keyID: keyID, team: team)
            return try server.ask("apns add", command.json)
        }
        credentials.selfTester = Tester()
        #expect(try add("ABC123DEFG", "TEAM123456")["error"] == nil)
        credentials.selfTester = Refusing()
        // Another key of the team, and the same key with a mistyped team.
        for (key, team) in [("KEY0000001", "TEAM123456"), ("ABC123DEFG", "TEAM999999")] {
            let answer = try add(key, team).compact
            #expect(answer.contains("403 InvalidProviderToken"), "\(answer)")
            #expect(answer.contains("ABC123DEFG is still in use"), "\(answer)")
        }
        #expect(credentials.all.map(\.id) == ["ABC123DEFG"])
        guard case .key(_, _, "TEAM123456") = credentials.all[0].material else {
            Issue.record("the team has changed")
            return
        }
        // Where there is none, it is stored: Apple may accept it later.
        #expect(try add("KEY0000002", "TEAM999999")["error"] == nil)
        #expect(credentials.all.map(\.id) == ["ABC123DEFG", "KEY0000002"])
    }

    @Test(
        "a wrong password, a key that does not match and a development certificate in production are refused")
    func refused() throws {
        let server = try InProcessServer(in: ServerFolder())
        var wrong = try APNsFixtures.command("aes.p12")
        wrong.password = Redacted("SECRET-2")
        let cases: [(command: AddAPNsCredential, problem: String)] = [
            (wrong, "the password is wrong"),
            (
                try APNsFixtures.command("universal.pem", key: "development.key"),
                "the private key does not belong to the certificate"
            ),
            (
                try APNsFixtures.command("development.p12", environment: .production),
                "the certificate is for sandbox only, not for production"
            ),
            (try APNsFixtures.command("aes.p12", sender: SenderID(4_711)), "unknown sender 4711"),
            (try APNsFixtures.command("universal.cer"), "the file is a certificate without its private key"),
        ]
        for (command, problem) in cases {
            let answer = try server.ask("apns add", command.json).compact
            #expect(answer.contains(problem), "\(answer)")
            #expect(!answer.contains("SECRET"))
        }
        #expect(server.daemon.gateways.credentials.all.isEmpty)
    }
}
