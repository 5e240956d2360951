import Basics
import Delivery
import Testing
import Wire
import WireSupport

@testable import Sessions

/// The token endpoint: which assertions are granted an access token, and where it is accepted (http 1.3, 9.1).
@Suite struct HTTPTokenTests {
    static let now = 1_795_156_966
    static let account = ServiceAccount(
        email: "app@lab-project.iam.gserviceaccount.com", keyID: "0a1b2c", publicKey: [1, 2, 3], createdAt: 0)
    static let record = SenderRecord(
        sender: HTTPHarness.sender, label: "", keys: [], createdAt: 0, project: "lab-project",
        accounts: [account])

    /// Signs with a keyed digest: the tests only check that signatures are verified.
    static func sign(_ text: [UInt8], _ key: [UInt8]) -> [UInt8] { HTTPHarness.digest(text + key).bytes }

    /// Returns a harness with the account, and another sender without one.
    static func harness(
        _ change: (inout SenderRecord) -> Void = { _ in },
        settings changeSettings: (inout SessionSettings) -> Void = { _ in }
    ) -> HTTPHarness {
        var record = record
        change(&record)
        let directory = SenderDirectory([
            record, SenderRecord(sender: SenderID(77), label: "", keys: [], createdAt: 0),
        ])
        return HTTPHarness { settings in
            settings.accounts = AccountFunctions(
                account: { directory.account(withKeyID: $0) }, record: { directory[$0] },
                verifies: { $0 == sign($1, $2) })
            changeSettings(&settings)
        }
    }

    static func base64(_ text: [UInt8]) -> String { Base64.text(text, urlSafe: true, padded: false) }

    static func claims(
        iss: String = account.email, aud: String = #""https://oauth2.googleapis.com/token""#,
        iat: Int = now, exp: Int = now + 3_600,
        scope: String =
            "https://www.googleapis.com/auth/cloud-platform https://www.googleapis.com/auth/firebase"
    ) -> String {
        #"{"iss":"\#(iss)","aud":\#(aud),"iat":\#(iat),"exp":\#(exp),"scope":"\#(scope)"}"#
    }

    static func jwt(
        _ claims: String = claims(), header: String = #"{"typ":"JWT","alg":"RS256","kid":"0a1b2c"}"#,
        key: [UInt8] = account.publicKey
    ) -> String {
        let text = base64(Array(header.utf8)) + "." + base64(Array(claims.utf8))
        return text + "." + base64(sign(Array(text.utf8), key))
    }

    static func request(_ body: String, path: String = "/token") -> String {
        "POST \(path) HTTP/1.1\r\nHost: oauth2.googleapis.com\r\n"
            + "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    static func grant(_ assertion: String) -> String {
        "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=\(assertion)"
    }

    /// Returns the status and body of the only answer.
    static func answer(_ harness: HTTPHarness) -> (status: String, body: String) {
        let text = harness.takeSent()
        let parts = text.split(separator: "\r\n\r\n", maxSplits: 1, omittingEmptySubsequences: false)
        let status = text.split(separator: " ").dropFirst().first.map(String.init) ?? ""
        return (status, parts.count == 2 ? String(parts[1]) : "")
    }

    /// Returns an access token granted by the endpoint.
    static func token(_ harness: HTTPHarness) throws -> String {
        harness.send(request(grant(jwt())))
        let answer = try JSONValue(parsing: answer(harness).body)
        return try #require(answer["access_token"]?.text)
    }

    @Test(
        "An assertion signed by an account is granted a token, at every path",
        arguments: ["/token", "/oauth2/v4/token", "/o/oauth2/token"])
    func granted(path: String) throws {
        let harness = Self.harness()
        // The fields may have either order.
        let form = Self.grant(Self.jwt()).split(separator: "&").reversed().joined(separator: "&")
        harness.send(Self.request(form, path: path))
        let answer = Self.answer(harness)
        #expect(answer.status == "200")
        let sealed = HTTPHarness.seal.text(
            of: AccessToken(
                sender: HTTPHarness.sender, account: HTTPHarness.seal.mark(ofKeyID: "0a1b2c"),
                expiresAt: 1_795_156_966_123 + 3_600_000))
        let token = String(decoding: sealed, as: UTF8.self)
        #expect(
            answer.body == #"{"access_token":"\#(token)","expires_in":3599,"token_type":"Bearer"}"#)
    }

    @Test(
        "Google's audiences and this server's are accepted, and clocks may be off by minutes",
        arguments: [
            claims(aud: #""https://localhost:8443/token""#), claims(aud: #"["x","https://localhost/token"]"#),
            claims(aud: #""https://accounts.google.com/o/oauth2/token""#),
            claims(iat: now + 299, exp: now + 3_899), claims(iat: now - 3_800, exp: now - 200),
            claims(scope: "https://www.googleapis.com/auth/firebase.messaging"),
        ])
    func accepted(claims: String) {
        let harness = Self.harness()
        harness.send(Self.request(Self.grant(Self.jwt(claims))))
        #expect(Self.answer(harness).status == "200")
    }

    @Test("An invalid assertion is refused with its error", arguments: Self.wrong)
    func refused(body: String, error: String, text: String) throws {
        let harness = Self.harness()
        harness.send(Self.request(body))
        let answer = Self.answer(harness)
        #expect(answer.status == "400")
        let object = try JSONValue(parsing: answer.body)
        #expect(object["error"]?.text == error)
        #expect(object["error_description"]?.text?.contains(text) == true, "\(answer.body)")
    }

    private static let wrong: [(String, String, String)] = [
        (grant(jwt(key: [9])), "invalid_grant", "Invalid JWT Signature."),
        (grant(jwt(header: #"{"alg":"RS256","kid":"other"}"#)), "invalid_grant", "account not found"),
        (grant(jwt(header: #"{"alg":"RS256"}"#)), "invalid_grant", "account not found"),
        (grant(jwt(header: #"{"alg":"none","kid":"0a1b2c"}"#)), "invalid_grant", "RS256"),
        (
            grant(jwt(header: #"{"alg":"RS256","kid":"0a1b2c","crit":["exp"],"exp":1}"#)), "invalid_grant",
            "crit"
        ),
        (grant(jwt(header: #"{"alg":"RS256","kid":"0a1b2c","crit":[]}"#)), "invalid_grant", "crit"),
        (grant(jwt(claims(iss: "other@example.org"))), "invalid_grant", "iss"),
        (grant(jwt(claims(aud: #""https://other.example/token""#))), "invalid_grant", "audience"),
        (grant(jwt(claims(aud: #""https://localhost/other""#))), "invalid_grant", "audience"),
        (grant(jwt(claims(aud: "7"))), "invalid_grant", "audience"),
        (grant(jwt(claims(iat: now + 301, exp: now + 3_900))), "invalid_grant", "iat and exp"),
        (grant(jwt(claims(iat: now - 3_901, exp: now - 301))), "invalid_grant", "iat and exp"),
        (grant(jwt(claims(exp: now + 3_901))), "invalid_grant", "iat and exp"),
        (grant(jwt(claims(scope: "https://www.googleapis.com/auth/firebase"))), "invalid_scope", "scope"),
        (grant("a.b"), "invalid_grant", "three parts"), (grant("e30.e30.!"), "invalid_grant", "three parts"),
        (grant(""), "invalid_request", "assertion"), ("assertion=x", "invalid_request", "grant_type"),
        ("grant_type=refresh_token&assertion=x", "unsupported_grant_type", "jwt-bearer"),
        ("grant_type=%zz", "invalid_request", "form"),
    ]

    @Test("A suspended sender is granted no token")
    func suspended() {
        let harness = Self.harness { $0.isSuspended = true }
        harness.send(Self.request(Self.grant(Self.jwt())))
        #expect(Self.answer(harness).body.contains("account not found"))
    }

    private static func legacy(_ token: String, header: String = "access_token_auth: true\r\n") -> String {
        let body = #"{"registration_ids":["ABC"]}"#
        return
            "POST /fcm/send HTTP/1.1\r\nHost: fcm.googleapis.com\r\nAuthorization: Bearer \(token)\r\n\(header)"
            + "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    @Test("A token is accepted by the older interfaces with its header, until it expires")
    func legacySend() throws {
        let harness = Self.harness()
        let token = try Self.token(harness)
        harness.send(Self.legacy(token))
        #expect(Self.answer(harness).body.hasSuffix(#"[{"error":"InvalidRegistration"}]}"#))
        harness.send(Self.legacy(token, header: ""))
        #expect(Self.answer(harness).status == "401")
        harness.send(Self.legacy(token + "A"))
        #expect(Self.answer(harness).status == "401")
        harness.now.wall += 3_600_000
        harness.send(Self.legacy(token))
        #expect(Self.answer(harness).status == "401")
    }

    @Test("With a test clock assertions are judged by the machine's time, tokens by the server's")
    func testClock() throws {
        let harness = Self.harness()
        let token = try Self.token(harness)
        harness.now.wall += 3_600_000
        harness.now.advance = 3_600_000
        harness.send(Self.legacy(token))
        #expect(Self.answer(harness).status == "401", "the token has expired")
        // The machine of the account has another time.
        harness.send(Self.legacy(try Self.token(harness)))
        #expect(Self.answer(harness).status == "200")
        harness.now.advance = 0
        harness.now.wall += 3_600_000
        harness.send(Self.request(Self.grant(Self.jwt())))
        #expect(Self.answer(harness).status == "400", "canary: an hour later the assertion has expired")
    }

    @Test("Tokens stop working when their account is removed or its sender suspended")
    func removed() throws {
        let token = try Self.token(Self.harness())
        for change in [{ $0.accounts = [] }, { $0.isSuspended = true }] as [(inout SenderRecord) -> Void] {
            let harness = Self.harness(change)
            harness.send(Self.legacy(token))
            #expect(Self.answer(harness).status == "401")
        }
        let harness = Self.harness()
        harness.send(Self.legacy(token))
        #expect(Self.answer(harness).status == "200", "the canary")
    }

    @Test("A suspended sender gets 401 with the reason, for a server key and for HTTP v1")
    func suspendedAnswers() throws {
        let token = try Self.token(Self.harness())
        let harness = Self.harness({ $0.isSuspended = true }) { settings in
            settings.senderOfKey = { _, _ in nil }
            settings.isKeySuspended = { key, _ in key == HTTPHarness.digest(Array("good-key".utf8)) }
        }
        func legacy(_ key: String) -> (status: String, body: String) {
            let body = #"{"to":"ABC"}"#
            harness.send(
                "POST /fcm/send HTTP/1.1\r\nHost: fcm.googleapis.com\r\nAuthorization: key=\(key)\r\n"
                    + "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
            let answer = Self.answer(harness)
            return (answer.status, answer.body)
        }
        let refused = legacy("good-key")
        #expect(
            refused.status == "401" && refused.body.contains("The sender of this server key is suspended."))
        #expect(!legacy("other-key").body.contains("suspended"), "canary: a wrong key reveals nothing")
        let message = #"{"message":{"token":"ABC"}}"#
        harness.send(
            "POST /v1/projects/lab-project/messages:send HTTP/1.1\r\nHost: fcm.googleapis.com\r\n"
                + "Authorization: Bearer \(token)\r\nContent-Type: application/json\r\n"
                + "Content-Length: \(message.utf8.count)\r\n\r\n\(message)")
        let answer = Self.answer(harness)
        #expect(answer.status == "401" && answer.body.contains("is suspended"), "\(answer)")
    }

    @Test("The allowed locations of an account are answered 404")
    func allowedLocations() {
        let harness = Self.harness()
        harness.send(
            "GET /v1/projects/-/serviceAccounts/app%40lab-project.iam.gserviceaccount.com/allowedLocations HTTP/1.1\r\nHost: iamcredentials.googleapis.com\r\n\r\n"
        )
        let answer = Self.answer(harness)
        #expect(answer.status == "404" && answer.body.contains(#""status":"NOT_FOUND""#))
    }
}
