import Basics
import Delivery
import Operator
import Testing
import Wire

@testable import Server

/// Rows of an export are records of the registry, each encoded with its own fields.
@Suite("Rows of the registry") struct RegistryRowTests {
    private func sender(keys: Int = 0, accounts: Int = 0, secrets: Int? = nil) -> SenderRow {
        let key = ServerKey(digest: SecretDigest(bytes: []), createdAt: 0)
        let account = ServiceAccount(email: "a", keyID: "b", publicKey: [], createdAt: 0)
        let secret = SenderRow.Secret(secret: Redacted([]), createdAt: 0, expiresAt: nil)
        return SenderRow(
            sender: SenderID(1), label: "", project: "", isSuspended: false, createdAt: 0,
            keys: Array(repeating: key, count: keys), accounts: Array(repeating: account, count: accounts),
            webhook: secrets.map {
                SenderRow.Webhook(
                    url: "https://a.example/", state: .active, createdAt: 0,
                    secrets: Array(repeating: secret, count: $0))
            })
    }

    @Test("a sender has at most as many keys, accounts and secrets as one that was made here")
    func senders() throws {
        let (keys, accounts) = (Limits.Operator.keysPerSender, Limits.Operator.accountsPerSender)
        try sender(keys: keys, accounts: accounts, secrets: Limits.Webhook.secrets).check()
        try sender().check()
        for (row, field) in [
            (sender(keys: keys + 1), "keys"), (sender(accounts: accounts + 1), "accounts"),
            (sender(secrets: Limits.Webhook.secrets + 1), "webhook"),
        ] {
            let problem = #expect(throws: FieldProblem.self) { try row.check() }
            #expect(problem.map { "\($0)".contains("invalid \(field): expected at most") } == true)
        }
    }

    private func text(_ json: JSONValue) -> String {
        do throws(FieldProblem) {
            let row = try RegistryRow(json: json)
            return row.json == json ? "same" : row.json.compact
        } catch { return error.text }
    }

    @Test("a row is encoded as it was decoded, and one of another kind is refused")
    func rows() {
        let digest = JSONValue.string(Base64.text([UInt8](repeating: 7, count: 32)))
        let time: JSONValue = "2026-11-20T12:03:04.005Z"
        let device: [JSONValue.Member] = [.init("kind", "device"), .init("device", "5")]
        let seen: [JSONValue.Member] = [
            .init("created_at", time), .init("seen_at", time), .init("next_registration", 2),
        ]
        #expect(text(.object(device + [.init("sha256", digest)] + seen)) == "same")
        #expect(text(.object(device + seen)) == "missing sha256: expected Base64 of 32 bytes")
        #expect(text(["kind": "secret", "name": "token_secret", "value": digest]) == "same")
        #expect(text(["kind": "end"]).contains("a row: the header is the first line"))
        #expect(text(["kind": "sender", "secret": 1]).hasPrefix("unknown argument secret"))
    }

    private func registration(_ more: [JSONValue.Member]) -> String {
        let row: [JSONValue.Member] = [
            .init("kind", "registration"), .init("device", "5"), .init("number", 1),
            .init("app", "com.example.app"), .init("sender", "4711"),
        ]
        return text(.object(row + more + [.init("created_at", "2026-11-20T12:03:04.005Z")]))
    }

    @Test("a registration has the text of a scope with the scope only, valid keys and a valid token of APNs")
    func registrations() {
        #expect(registration([]) == "same")
        #expect(registration([.init("scope", "only"), .init("scope_text", "x")]) == "same")
        #expect(registration([.init("scope", "all")]) == "same")
        for wrong: [JSONValue.Member] in [
            [.init("scope", "only")], [.init("scope", "all"), .init("scope_text", "x")],
        ] {
            #expect(registration(wrong).hasPrefix("scope_text must be given with the scope \"only\""))
        }
        let keys: JSONValue = ["public_key": "AAAA", "auth": "AAAA"]
        #expect(
            registration([.init("web", keys)])
                == "invalid web: expected an uncompressed P-256 point of 65 bytes, and 16 bytes")
        #expect(registration([.init("apns_token", "x")]).hasPrefix("invalid apns_token \"x\": "))
    }

    @Test("a subscription names a valid topic")
    func topics() {
        func subscription(_ topic: String) -> String {
            text([
                "kind": "subscription", "device": "5", "number": 1, "sender_id": "4711",
                "topic": .string(topic), "created_at": "2026-11-20T12:03:04.005Z",
            ])
        }
        #expect(subscription("news") == "same")
        #expect(subscription("a/b") == "invalid topic: expected letters, digits and -_.~%")
    }
}
