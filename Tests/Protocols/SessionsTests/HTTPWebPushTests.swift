import Basics
import Delivery
import Testing
import Wire

@testable import Sessions

/// The push endpoint: its headers, tokens and answers (RFC 8030, RFC 8292, http 10).
@Suite struct HTTPWebPushTests {
    static let name = RegistrationName(device: DeviceID(1 << 60), number: RegistrationNumber(3))
    static let key = [4] + [UInt8](repeating: 7, count: 64)
    /// The public key of a message; `isPublicKey` takes this one alone for a point on the curve.
    static let point = [4] + [UInt8](repeating: UInt8(ascii: "p"), count: 64)
    /// A content in `aes128gcm`: salt, record size, length of the key, key, and one record of the least length.
    static let sealed = content()
    /// The headers that `aesgcm` needs.
    static let oldHeaders = "Encryption: salt=\(salt)\r\nCrypto-Key: dh=\(base64(point))\r\n"
    static let salt = base64([UInt8](repeating: 1, count: 16))

    /// Returns a content in `aes128gcm`, of ASCII characters alone.
    static func content(rs: [UInt8] = [0, 0, 16, 0], key: [UInt8] = point, record: Int = 17) -> String {
        let bytes =
            [UInt8](repeating: UInt8(ascii: "s"), count: 16) + rs + [UInt8(key.count)] + key
            + [UInt8](repeating: UInt8(ascii: "r"), count: record)
        return String(decoding: bytes, as: UTF8.self)
    }
    static let now = 1_795_156_966

    /// Signs with a keyed digest twice: the tests only check that signatures are verified.
    static func sign(_ text: [UInt8], _ key: [UInt8]) -> [UInt8] {
        let digest = HTTPHarness.digest(text + key).bytes
        return digest + digest
    }

    static func harness() -> HTTPHarness {
        HTTPHarness { settings in
            settings.webPush.verifies = { signature, text, key in signature == sign(text, key) }
            settings.webPush.isPublicKey = { $0 == point }
        }
    }

    static func base64(_ text: [UInt8]) -> String { Base64.text(text, urlSafe: true, padded: false) }

    /// Returns a signed token.
    static func jwt(
        _ claims: String? = nil, header: String = #"{"typ":"JWT","alg":"ES256"}"#, key: [UInt8] = key
    ) -> String {
        let claims = claims ?? Self.claims()
        let text = base64(Array(header.utf8)) + "." + base64(Array(claims.utf8))
        return text + "." + base64(sign(Array(text.utf8), key))
    }

    static func claims(
        aud: String = "https://fcm.googleapis.com", exp: String = "\(now + 3_600)",
        sub: String = #""mailto:a@example.org""#
    ) -> String {
        #"{"aud":"\#(aud)","exp":\#(exp),"sub":\#(sub)}"#
    }

    /// Returns a request; `nil` omits a header.
    static func request(
        path: String? = nil, authorization: String? = "vapid t=\(jwt()), k=\(base64(key))",
        ttl: String? = "60", coding: String? = "aes128gcm", extra: String = "", body: String = sealed
    ) -> String {
        let token = String(decoding: HTTPHarness.seal.token(for: name), as: UTF8.self)
        var text = "POST \(path ?? "/fcm/send/\(token)") HTTP/1.1\r\nHost: fcm.googleapis.com\r\n"
        for (name, value) in [
            ("Authorization", authorization), ("TTL", ttl), ("Content-Encoding", coding),
        ] {
            if let value { text += "\(name): \(value)\r\n" }
        }
        return text + extra + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    static func submission(_ harness: HTTPHarness) throws -> Submission {
        guard harness.events.count == 1, case .device(_, .submitted(let submission)) = harness.events[0]
        else {
            Issue.record("expected a submission: \(harness.takeSent())")
            throw DeviceUnexpected("\(harness.events)")
        }
        return submission
    }

    @Test(
        "a message is passed to the core with what the device needs to decrypt it, and answered when it is stored"
    )
    func accepted() throws {
        let harness = Self.harness()
        harness.send(Self.request(extra: "Urgency: high\r\nTopic: news_1\r\n"))
        let submission = try Self.submission(harness)
        #expect(submission.target == Self.name)
        #expect(submission.sender == nil)
        #expect(submission.entitlement == .webPush(key: Self.key))
        #expect(submission.content.lifetimeSeconds == 60)
        #expect(submission.content.priority == .high)
        #expect(submission.content.collapseKey == Array("news_1".utf8))
        // The body is pairs and raw_data, as a device finds them.
        var message = ByteBuffer()
        message.appendField(MCS.DataMessage.Field.category, bytes: [1])
        message.append(submission.content.body)
        let read = try MCS.DataMessage(decoding: message.bytes)
        #expect(read.body == DeviceSamples.pairs(("content-encoding", "aes128gcm")))
        #expect(read.rawData == Array(Self.sealed.utf8))
        #expect(harness.takeSent().isEmpty, "not before it is stored")
        harness.perform(
            .submission(
                requestID: submission.requester.requestID,
                .accepted(id: PersistentID(sequence: SequenceNumber(9), salt: 1), canonical: nil)))
        #expect(
            harness.takeSent()
                == HTTPHarness.text(
                    "", "201 Created",
                    extra: "TTL: 60\r\nLocation: https://fcm.googleapis.com/m/0:9%2500000001f9fd7ecd\r\n"))
    }

    @Test("aesgcm requires its two headers, which are passed on unchanged")
    func aesgcm() throws {
        let harness = Self.harness()
        let key = "dh=\(Self.base64(Self.point));p256ecdsa=\(Self.base64(Self.key))"
        harness.send(
            Self.request(
                authorization: "WebPush \(Self.jwt())", coding: "aesgcm",
                extra: "Encryption: salt=\(Self.salt)\r\nCrypto-Key: \(key)\r\n"))
        let body = try Self.submission(harness).content.body
        var pairs: [String] = []
        try AppData.forEach(in: body.raw) { key, value in
            pairs.append(
                String(decoding: [UInt8](copying: key), as: UTF8.self) + "="
                    + String(decoding: [UInt8](copying: value), as: UTF8.self))
        }
        #expect(pairs == ["crypto-key=\(key)", "encryption=salt=\(Self.salt)", "content-encoding=aesgcm"])
    }

    @Test("Crypto-Key and Encryption on two lines each are one list, which the device gets as a whole")
    func repeatedLists() throws {
        let harness = Self.harness()
        let key = "p256ecdsa=\(Self.base64(Self.key))"
        let point = Self.base64(Self.point)
        harness.send(
            Self.request(
                authorization: "WebPush \(Self.jwt())", coding: "aesgcm",
                extra:
                    "Crypto-Key: \(key)\r\nEncryption: keyid=a\r\nCrypto-Key: dh=\(point)\r\nEncryption: salt=\(Self.salt)\r\n"
            ))
        let body = try Self.submission(harness).content.body
        var pairs: [String] = []
        try AppData.forEach(in: body.raw) { key, value in
            pairs.append(
                String(decoding: [UInt8](copying: key), as: UTF8.self) + ": "
                    + String(decoding: [UInt8](copying: value), as: UTF8.self))
        }
        #expect(
            pairs == [
                "crypto-key: \(key), dh=\(point)", "encryption: keyid=a, salt=\(Self.salt)",
                "content-encoding: aesgcm",
            ])
    }

    @Test(
        "a header with one value is refused if it comes twice",
        arguments: [
            "TTL: 60", "Authorization: key=x", "Content-Type: text/plain\r\nContent-Type: text/plain",
            "Topic: a\r\ntopic: a", "Urgency: high\r\nUrgency: low",
        ])
    func repeatedFields(lines: String) {
        let harness = Self.harness()
        harness.send(Self.request(extra: lines + "\r\n"))
        #expect(harness.events.isEmpty)
        #expect(harness.takeSent().hasPrefix("HTTP/1.1 400 "))
    }

    @Test("the server key of a numeric sender entitles to a push, also at the path that GCM gave out")
    func serverKey() throws {
        let token = String(decoding: HTTPHarness.seal.token(for: Self.name), as: UTF8.self)
        for path in ["/fcm/send/\(token)", "/gcm/send/\(token)", "/wp/\(token)"] {
            let harness = Self.harness()
            harness.send(Self.request(path: path, authorization: "key=good-key"))
            let submission = try Self.submission(harness)
            #expect(submission.entitlement == .webPushAccount(HTTPHarness.sender), "\(path)")
            #expect(submission.target == Self.name)
            harness.perform(
                .submission(
                    requestID: submission.requester.requestID,
                    .accepted(id: PersistentID(sequence: SequenceNumber(9), salt: 1), canonical: nil)))
            #expect(harness.takeSent().contains("Location: https://fcm.googleapis.com/m/0:9%25"))
        }
        let signed = Self.harness()
        signed.send(Self.request(path: "/gcm/send/\(token)"))
        #expect(try Self.submission(signed).entitlement == .webPush(key: Self.key))
        let suspended = HTTPHarness {
            $0.webPush.isPublicKey = { $0 == Self.point }
            $0.isKeySuspended = { _, _ in true }
        }
        suspended.send(Self.request(authorization: "key=other-key"))
        #expect(suspended.takeSent().hasPrefix("HTTP/1.1 403 ") && suspended.events.isEmpty)
    }

    @Test("a push without content needs no encoding, long lifetimes are limited, and both paths work")
    func bare() throws {
        let harness = Self.harness()
        let token = String(decoding: HTTPHarness.seal.token(for: Self.name), as: UTF8.self)
        harness.send(
            Self.request(path: "/wp/\(token)", ttl: "99999999999999999999999", coding: nil, body: ""))
        let submission = try Self.submission(harness)
        #expect(submission.content.body.isEmpty)
        #expect(submission.content.lifetimeSeconds == Limits.Message.lifetimeSeconds)
        #expect(submission.content.priority == .normal && submission.content.collapseKey == nil)
    }

    @Test(
        "an invalid request is refused with the invalid field",
        arguments: [
            (request(ttl: nil), 400, "TTL"), (request(ttl: "-1"), 400, "TTL"),
            (request(ttl: "1.5"), 400, "TTL"), (request(ttl: ""), 400, "TTL"),
            (request(extra: "Urgency: urgent\r\n"), 400, "Urgency"),
            (request(extra: "Topic: a b\r\n"), 400, "Topic"),
            (request(extra: "Topic: \r\n"), 400, "Topic"),
            (request(extra: "Topic: \(String(repeating: "a", count: 33))\r\n"), 400, "Topic"),
            (request(coding: nil), 400, "Content-Encoding"),
            (request(coding: "gzip"), 415, "Content-Encoding"),
            (request(coding: "aesgcm"), 400, "Crypto-Key"),
            (request(coding: "aesgcm", extra: "Crypto-Key: dh=a\r\n"), 400, "Encryption"),
            (request(body: String(repeating: "x", count: 4_097)), 413, "4,096"),
            (request(path: "/fcm/send/abc"), 404, "subscription"),
            (request(authorization: nil), 401, "Authorization"),
            (request(authorization: "key=AIza"), 401, "server key"),
            (request(authorization: "Basic AIza"), 401, "Authorization"),
            (request(authorization: "vapid k=\(base64(key))"), 401, "token"),
            (request(authorization: "vapid t=\(jwt())"), 401, "public key"),
            (request(authorization: "vapid t=\(jwt()), k=AAAA"), 401, "public key"),
            (request(authorization: "WebPush \(jwt())"), 401, "public key"),
        ])
    func refused(text: String, status: Int, word: String) {
        let harness = Self.harness()
        harness.send(text)
        let answer = harness.takeSent()
        #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(answer)")
        #expect(answer.contains(word), "\(answer)")
        #expect(answer.contains("WWW-Authenticate: vapid") == (status == 401))
        #expect(harness.events.isEmpty)
    }

    @Test(
        "a token for another audience or time is refused",
        arguments: [
            ("aud", jwt(claims(aud: "https://updates.push.services.mozilla.com"))),
            ("aud", jwt(claims(aud: "http://fcm.googleapis.com"))),
            ("aud", jwt(claims(aud: "https://fcm.googleapis.com/"))),
            ("aud", jwt(claims(aud: "https://fcm.googleapis.com.example.org"))),
            ("aud", jwt(claims(aud: "https://fcm.googleapis.com:x"))),
            ("aud", jwt(#"{"exp":\#(now + 60)}"#)), ("aud", jwt(#"{"aud":[],"exp":\#(now + 60)}"#)),
            ("aud", jwt(#"{"aud":["https://example.org"],"exp":\#(now + 60)}"#)),
            ("exp", jwt(claims(exp: "\(now)"))), ("exp", jwt(claims(exp: "\(now + 86_400 + 62)"))),
            ("exp", jwt(claims(exp: "\"1\""))), ("exp", jwt(claims(exp: "null"))),
            ("sub", jwt(claims(sub: "\"a@example.org\""))), ("sub", jwt(claims(sub: "1"))),
            ("crit", jwt(header: #"{"alg":"ES256","crit":["b64"],"b64":false}"#)),
            ("crit", jwt(header: #"{"alg":"ES256","crit":null}"#)),
            ("ES256", jwt(header: #"{"alg":"none"}"#)), ("ES256", jwt(header: #"{"alg":"HS256"}"#)),
            ("JWT", jwt(header: "[]")), ("JWT", jwt("no json")), ("JWT", "a.b"), ("JWT", "a.b.c.d"),
            ("signature", jwt(key: [4] + [UInt8](repeating: 8, count: 64))),
            ("signature", jwt().split(separator: ".").dropLast().joined(separator: ".") + "."),
        ])
    func untrusted(word: String, token: String) {
        let harness = Self.harness()
        harness.send(Self.request(authorization: "vapid t=\(token), k=\(Self.base64(Self.key))"))
        let answer = harness.takeSent()
        #expect(answer.hasPrefix("HTTP/1.1 403 "), "\(answer)")
        #expect(answer.contains(word), "\(answer)")
        #expect(harness.events.isEmpty)
    }

    @Test(
        "forms that libraries use are accepted",
        arguments: [
            "vapid t=\(jwt()),k=\(base64(key))", "VAPID k=\(base64(key)) , t=\(jwt())",
            "vapid t=\"\(jwt())\"; k=\"\(base64(key))\"", "vapid t=\(jwt()), k=\(base64(key))=",
            "vapid t=\(jwt(claims(aud: "https://FCM.googleapis.com:443"))), k=\(base64(key))",
            "vapid t=\(jwt(claims(aud: "https://[::1]:8443"))), k=\(base64(key))",
            "vapid t=\(jwt(#"{"aud":[1,"https://example.org","https://localhost"],"exp":\#(now + 60)}"#)), k=\(base64(key))",
            "vapid t=\(jwt(claims(exp: "\(now + 86_400)"))), k=\(base64(key))",
            "vapid t=\(jwt(#"{"aud":"https://localhost","exp":\#(now + 60).5}"#)), k=\(base64(key))",
        ])
    func taken(authorization: String) throws {
        let harness = Self.harness()
        harness.send(Self.request(authorization: authorization))
        #expect(try Self.submission(harness).entitlement == .webPush(key: Self.key))
    }

    /// The canary: without a signature check, one changed byte would pass.
    @Test("each changed byte of a token is detected")
    func changed() {
        let token = Array(Self.jwt().utf8)
        for at in stride(from: 0, to: token.count, by: 7) {
            var other = token
            other[at] = other[at] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            let harness = Self.harness()
            let text = String(decoding: other, as: UTF8.self)
            harness.send(Self.request(authorization: "vapid t=\(text), k=\(Self.base64(Self.key))"))
            #expect(harness.events.isEmpty, "byte \(at)")
        }
    }

    @Test(
        "a refusal of the core has its status",
        arguments: [
            (Refusal.notRegistered, "410 Gone", nil), (.invalidToken, "404 Not Found", nil),
            (.senderMismatch, "403 Forbidden", nil), (.deviceRateExceeded, "429 Too Many Requests", "30"),
            (.unavailable, "503 Service Unavailable", "30"), (.draining, "503 Service Unavailable", "30"),
        ] as [(Refusal, String, String?)])
    func core(refusal: Refusal, status: String, retry: String?) throws {
        let harness = Self.harness()
        harness.send(Self.request())
        let requestID = try Self.submission(harness).requester.requestID
        harness.perform(.submission(requestID: requestID, .refused(refusal)))
        let answer = harness.takeSent()
        #expect(answer.hasPrefix("HTTP/1.1 \(status)\r\n"), "\(answer)")
        #expect(answer.contains("Retry-After: ") == (retry != nil))
    }

    @Test(
        "a content that no device can decrypt is refused with what is wrong in it",
        arguments: [
            (request(body: "secret"), "header of aes128gcm"),
            (request(body: String(sealed.prefix(85))), "header of aes128gcm"),
            (request(body: content(rs: [0, 0, 0, 17])), "rs in the body"),
            (request(body: content(key: Array(point.dropLast()), record: 18)), "65 bytes"),
            (request(body: content(record: 0)), "at least 17 bytes"),
            (request(body: content(record: 16)), "at least 17 bytes"),
            (request(body: content(rs: [0, 0, 0, 20], record: 36)), "at least 17 bytes"),
            (request(body: content(key: [4] + [UInt8](repeating: 113, count: 64))), "not on the curve"),
            (old("Crypto-Key: dh=\(base64(point))\r\nEncryption: keyid=a\r\n"), "salt in Encryption"),
            (old("Crypto-Key: dh=\(base64(point))\r\nEncryption: salt=AAAA\r\n"), "salt in Encryption"),
            (old(oldHeaders + "Encryption: rs=2\r\n"), "rs in Encryption"),
            (old(oldHeaders + "Encryption: rs=x\r\n"), "rs in Encryption"),
            (old(oldHeaders + "Encryption: rs=00000004096\r\n"), "rs in Encryption"),
            (old("Crypto-Key: p256ecdsa=a\r\nEncryption: salt=\(salt)\r\n"), "dh in Crypto-Key"),
            (old("Crypto-Key: dh=AAAA\r\nEncryption: salt=\(salt)\r\n"), "dh in Crypto-Key"),
            (old("Crypto-Key: dh=\(base64(key))\r\nEncryption: salt=\(salt)\r\n"), "not on the curve"),
            (old(oldHeaders, "short"), "at least 18 bytes"),
        ])
    func undecryptable(text: String, word: String) {
        let harness = Self.harness()
        harness.send(text)
        let answer = harness.takeSent()
        #expect(answer.hasPrefix("HTTP/1.1 400 ") && answer.contains(word), "\(answer)")
        #expect(harness.events.isEmpty)
    }

    private static func old(_ headers: String, _ body: String = sealed) -> String {
        request(coding: "aesgcm", extra: headers, body: body)
    }

    @Test("whole records and a shorter last one are accepted in both encodings, also with other parameters")
    func decryptable() throws {
        for text in [
            Self.request(body: Self.content(rs: [0, 0, 0, 18], record: 18)),
            Self.request(body: Self.content(rs: [0, 0, 0, 18], record: 35)),
            Self.request(body: Self.content(rs: [127, 127, 127, 127])),
            Self.old(Self.oldHeaders + "Encryption: rs=4096\r\n"),
            Self.old(Self.oldHeaders + "Encryption: rs=0000004096\r\n"),
            Self.old(Self.oldHeaders, String(repeating: "r", count: 18)),
        ] {
            let harness = Self.harness()
            harness.send(text)
            _ = try Self.submission(harness)
        }
    }

    @Test("a header that does not fit into a frame as text is refused")
    func headerBytes() {
        let harness = Self.harness()
        harness.send(
            Self.request(coding: "aesgcm", extra: "Encryption: salt=\u{e9}\r\nCrypto-Key: dh=a\r\n"))
        #expect(harness.takeSent().contains("printable ASCII"))
        let long = String(repeating: "a", count: Limits.WebPush.headerBytes + 1)
        harness.send(Self.request(coding: "aesgcm", extra: "Encryption: salt=a\r\nCrypto-Key: \(long)\r\n"))
        #expect(harness.takeSent().contains("printable ASCII"))
    }
}
