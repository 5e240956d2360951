import Basics
import Operator
import Testing
import Wire

@Suite("limits of exported rows, and the description of the API")
struct ExportLimitTests {
    private func sender(keys: Int = 0, accounts: Int = 0, secrets: Int? = nil) -> ExportedSender {
        let key = ExportedSender.Key(sha256: [], createdAt: 0, expiresAt: nil, scram: nil)
        let account = ExportedSender.Account(email: "a", keyID: "b", publicKey: [], createdAt: 0)
        let secret = ExportedSender.Secret(secret: Redacted([]), createdAt: 0, expiresAt: nil)
        return ExportedSender(
            sender: SenderID(1), label: "", project: "", isSuspended: false, createdAt: 0,
            keys: Array(repeating: key, count: keys), accounts: Array(repeating: account, count: accounts),
            webhook: secrets.map {
                ExportedSender.Webhook(
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

    @Test("the arguments of a POST are described as its body, and those of others as its query")
    func openAPI() throws {
        let paths = try #require(OperatorOpenAPI.document(version: "1")["paths"])
        let add = try #require(paths["/operator/v1/senders"]?["post"])
        #expect(add["requestBody"] != nil && add["parameters"] == nil)
        let list = try #require(paths["/operator/v1/devices"]?["get"])
        #expect(list["requestBody"] == nil)
        #expect(
            list["parameters"]?.elements?.contains { $0["in"] == "query" && $0["name"] == "limit" } == true)
        let show = try #require(paths["/operator/v1/devices/{device}"]?["get"])
        #expect(show["parameters"]?.elements?.map { $0["in"] } == ["path"])
    }

    @Test("each row of an export has its kind")
    func kinds() throws {
        func kind(_ json: JSONValue) -> String {
            do throws(FieldProblem) { return "\(try ExportedRow.kind(of: json))" } catch { return "\(error)" }
        }
        #expect(try ExportedRow.kind(of: ["kind": "device"]) == .device)
        #expect(kind([:]).contains("kind") && kind(["kind": 5]).contains("one of header, secret"))
        #expect(kind(["kind": "devices"]).contains("devices"))
        #expect(throws: FieldProblem.self) { try ExportedRow(json: ["kind": "end"]) }
        let row = try ExportedRow(
            json: [
                "kind": "secret", "name": "token_secret",
                "value": .string(Base64.text([UInt8](repeating: 7, count: 32))),
            ])
        guard case .secret(let secret) = row else { return #expect(Bool(false), "\(row)") }
        #expect(secret.value.revealed.count == 32)
    }
}
