import Basics
import Catalogue
import Glibc
import Operator
import Testing
import Wire

@testable import Client
@testable import ccsctl

/// The key file of a service account is created completely, readable by its owner only, or not at all.
@Suite struct ServiceAccountFileTests {
    private let path: String

    init() { path = "/tmp/ccsctl-account-\(getpid())-\(UInt32.random(in: 0 ... .max)).json" }

    private static let answer = AddAccount.Answer(
        sender: SenderID(5), project: "ccs-5", email: "a@ccs-5.iam.gserviceaccount.com", keyID: "0a1b")

    private func make(
        _ more: [String] = [], sender: String = "5",
        ask: (AddAccount) throws(Failure) -> AddAccount.Answer
    ) throws -> ServiceAccountFile.CreatedAccount {
        let words = ["service-accounts", "add", sender, "--out", path] + more
        guard case .run(let invocation) = try ArgumentParser.parse(words, for: .ccsctl) else {
            throw Failure(.usage, "it prints")
        }
        return try ServiceAccountFile.make(invocation, ask: ask)
    }

    @Test(
        "the key file has the fields that libraries read and mode 0600, and the daemon gets only the public key"
    )
    func file() throws {
        defer { unlink(path) }
        var asked = JSONValue.null
        let result = try make { command throws(Failure) in
            asked = command.json
            return Self.answer
        }
        #expect(result.json["file"]?.text == path && result.json["email"]?.text == Self.answer.email)
        #expect(!result.json.compact.contains("PRIVATE"))
        #expect(asked["sender_id"] == "5")
        #expect(asked["public_key"]?.text?.isEmpty == false)
        #expect(!asked.compact.contains("PRIVATE"))
        var status = stat()
        #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
        let descriptor = open(path, O_RDONLY)
        var bytes = [UInt8](repeating: 0, count: 16_384)
        let count = read(descriptor, &bytes, bytes.count)
        close(descriptor)
        let file = try JSONValue(parsing: Array(bytes.prefix(max(0, count))).raw)
        #expect(file["type"] == "service_account" && file["project_id"] == "ccs-5")
        #expect(file["private_key_id"] == "0a1b" && file["universe_domain"] == "googleapis.com")
        #expect(file["client_email"] == "a@ccs-5.iam.gserviceaccount.com")
        #expect(file["token_uri"] == "https://oauth2.googleapis.com/token")
        #expect(file["private_key"]?.text?.hasPrefix("-----BEGIN PRIVATE KEY-----\n") == true)
        #expect(result.text.contains(path) && !result.text.contains("PRIVATE"))
        // An existing file is never overwritten.
        #expect(throws: Failure.self) { try make { _ in Self.answer } }
    }

    @Test(
        "no file remains if the daemon refuses, and an invalid address is refused before the daemon is asked")
    func refused() throws {
        #expect(throws: Failure.self) {
            try make { _ throws(Failure) in throw Failure(.failure, "unknown sender 5") }
        }
        #expect(access(path, F_OK) != 0)
        let failure = #expect(throws: Failure.self) {
            try make(["--token-uri", "http://plain.example/token"]) { _ in Self.answer }
        }
        #expect(failure?.code == .usage)
        #expect(access(path, F_OK) != 0)
        let number = #expect(throws: Failure.self) { try make(sender: "x") { _ in Self.answer } }
        #expect(number?.code == .usage && number?.problem.contains("sender_id \"x\"") == true)
        #expect(access(path, F_OK) != 0)
        _ = try make(["--token-uri", "https://push.example/token"]) { _ in Self.answer }
        #expect(access(path, F_OK) == 0, "the canary: nothing else is wrong")
        unlink(path)
    }
}
