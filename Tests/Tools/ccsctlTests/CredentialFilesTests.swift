import Basics
import Catalogue
import Glibc
import Operator
import Testing
import Wire

@testable import Client
@testable import ccsctl

/// The files of a credential for APNs on the command line.
@Suite struct CredentialFilesTests {
    private let folder: String

    init() throws {
        var template = Array("/tmp/ccsctl-apns-XXXXXX".utf8CString)
        folder = try #require(mkdtemp(&template).map { String(cString: $0) })
    }

    private func file(_ name: String, _ text: String) throws -> String {
        let path = "\(folder)/\(name)"
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        defer { close(descriptor) }
        try #require(write(descriptor, text, text.utf8.count) == text.utf8.count)
        return path
    }

    @Test("files are sent with their content, and the password without its line end")
    func content() throws {
        defer { system("rm -r \(folder)") }
        let archive = try file("push.p12", "abc")
        let key = try file("push.key", "k")
        let password = try file("password", "two words é \r\nrest")
        #expect(
            try CommandTests.object([
                "apns", "add", archive, "--private-key", key, "--password-file", password, "--environment",
                "sandbox",
            ]) == [
                "file": "YWJj", "private_key": "aw==", "password": "two words é ", "environment": "sandbox",
            ])
        // An empty password is none.
        #expect(
            try CommandTests.object(["apns", "add", archive, "--password-file", file("empty", "\n")])
                == ["file": "YWJj"])
    }

    @Test("the key ID is taken from the name of Apple's file unless it is given")
    func keyID() throws {
        defer { system("rm -r \(folder)") }
        let key = try file("AuthKey_ABC123DEFG.p8", "abc")
        #expect(
            try CommandTests.object(["apns", "add", key, "--team-id", "TEAM123456"]) == [
                "file": "YWJj", "key_id": "ABC123DEFG", "team_id": "TEAM123456",
            ])
        #expect(
            try CommandTests.object(["apns", "add", key, "--team-id", "TEAM123456", "--key-id", "OTHER12345"])
                == ["file": "YWJj", "key_id": "OTHER12345", "team_id": "TEAM123456"])
        for name in ["key.p8", "AuthKey_.p8", "AuthKey_abc123defg.p8", "AuthKey_ABC123DEFG.pem", ""] {
            #expect(CredentialFiles.keyID(inNameOf: name) == nil)
        }
    }

    @Test("invalid arguments and files are refused before the daemon is asked")
    func mistakes() throws {
        defer { system("rm -r \(folder)") }
        let archive = try file("push.p12", "abc")
        for words in [
            ["--password-file", archive, "--password-stdin"], ["--team-id", "short"],
            ["--key-id", "abc123defg"], ["--bundle-id", "com example"], ["--bundle-id", ""],
        ] {
            let failure = #expect(throws: Failure.self, "\(words)") {
                try CommandTests.object(["apns", "add", archive] + words)
            }
            #expect(failure?.code == .usage)
        }
        let large = try file("large", String(repeating: "x", count: Limits.APNsCredentials.fileBytes + 1))
        for words in [[large], ["/nonexistent"], [archive, "--private-key", "/nonexistent"]] {
            let failure = #expect(throws: Failure.self) { try CommandTests.object(["apns", "add"] + words) }
            #expect(failure?.code == .inputOutput)
        }
        let long = try file("long", String(repeating: "x", count: 300))
        let failure = #expect(throws: Failure.self) {
            try CommandTests.object(["apns", "add", archive, "--password-file", long])
        }
        #expect(failure?.code == .badData)
    }

    @Test("credentials and test results are printed as text, and a test fails unless Apple accepts")
    func reports() throws {
        let row = APNsCredentialRow(
            credential: "0a1b", kind: .certificate, bundle: "com.example.app",
            environments: [.production, .sandbox], topics: ["com.example.app"], addedAt: 0,
            expiresAt: 86_400_000, daysLeft: 1)
        let tests = [
            APNsTestRow(environment: .production, result: .accepted, detail: "400 BadDeviceToken"),
            APNsTestRow(environment: .sandbox, result: .notTested, detail: "the gateway is off"),
        ]
        let answer = AddAPNsCredential.Answer(
            credential: row, replaced: ["0f"], warnings: ["odd \u{1B}"], tests: tests)
        #expect(
            AddAPNsCredential.text(of: answer) == """
                credential    0a1b
                kind          certificate
                app           com.example.app
                environments  production, sandbox
                topics        com.example.app
                added         1970-01-01T00:00:00.000Z
                expires       1970-01-02T00:00:00.000Z, in 1 days
                replaced      0f
                warning       odd ?
                test          production  accepted by Apple (400 BadDeviceToken)
                test          sandbox     not tested (the gateway is off)

                """)
        #expect(TestAPNsCredential.verdict(on: .init(tests: tests)) == .failure)
        #expect(TestAPNsCredential.verdict(on: .init(tests: [tests[0]])) == .success)
        let list = ListAPNsCredentials.Answer(
            credentials: [row], unreadable: [.init(file: "/a", problem: "it is incomplete")])
        let text = ListAPNsCredentials.text(of: list)
        #expect(text.contains("0a1b") && text.contains("unreadable: /a: it is incomplete\n"))
        #expect(ListAPNsCredentials.verdict(on: list) == .failure)
        #expect(
            ListAPNsCredentials.text(of: .init(credentials: [], unreadable: [])).contains("ccsctl apns add"))
    }

    @Test("the list of credentials has a line for each environment, with what Apple thinks")
    func states() {
        let row = APNsCredentialRow(
            credential: "KEY", kind: .key, team: "TEAM", environments: [.production, .sandbox], addedAt: 0)
        func last(_ states: [APNsStateRow]) -> [String] {
            let answer = ListAPNsCredentials.Answer(credentials: [row], states: states, unreadable: [])
            return ListAPNsCredentials.text(of: answer).split(separator: "\n").dropFirst().map(String.init)
        }
        let lines = last([
            APNsStateRow(
                credential: "KEY", environment: .production, health: .refused, status: 403,
                reason: "InvalidProviderToken"),
            APNsStateRow(
                credential: "KEY", environment: .sandbox, health: .accepted,
                refusedTopics: ["com.a", "com.b"]),
        ])
        #expect(lines.count == 4, "\(lines)")
        #expect(lines[0].contains("production") && lines[0].hasSuffix("refused: 403 InvalidProviderToken"))
        #expect(lines[1].contains("sandbox") && lines[1].hasSuffix("accepted, not for all topics"))
        #expect(lines[2] == "refused topic: com.a with KEY in sandbox")
        #expect(lines[3] == "refused topic: com.b with KEY in sandbox")
        let others = last([
            APNsStateRow(credential: "KEY", environment: .production, health: .clockDoubted),
            APNsStateRow(credential: "KEY", environment: .sandbox, health: .refused),
        ])
        #expect(others.first?.hasSuffix("doubts the clock of this server") == true, "\(others)")
        #expect(others.last?.hasSuffix("refused the connection") == true, "\(others)")
        let silent = ListAPNsCredentials.Answer(
            credentials: [row], problem: "the gateway did not answer", unreadable: [])
        let text = ListAPNsCredentials.text(of: silent)
        #expect(text.contains("unknown\n") && text.hasSuffix("unknown health: the gateway did not answer\n"))
        #expect(ListAPNsCredentials.verdict(on: silent) == .failure)
        let good = ListAPNsCredentials.Answer(credentials: [row], unreadable: [])
        #expect(ListAPNsCredentials.verdict(on: good) == .success, "canary: it is not always a failure")
    }
}
