import Basics
import Delivery
import Testing
import Wire

@testable import Sessions

/// Registrations of web apps that the server encrypts for (mcs-device 5.6).
@Suite("HTTP: registrations of web apps") struct HTTPWebRegistrationTests {
    private typealias Push = HTTPWebPushTests
    private static let auth = Push.base64([UInt8](repeating: 2, count: WebKeys.authBytes))
    private static let installation = Array("cGFzc3dvcmQ_aGVsbG8tdw".utf8)
    private static let other = RegistrationName(device: DeviceID(1 << 61), number: RegistrationNumber(4))

    private static func token(_ name: RegistrationName) -> String {
        String(decoding: HTTPHarness.seal.token(for: name), as: UTF8.self)
    }

    /// An endpoint of `bytes` bytes, or of the fewest.
    private static func endpoint(bytes: Int = 0) -> String {
        let (head, tail) = ("https://push.example/", "/\(token(Push.name))?q=1#f")
        return head + String(repeating: "a", count: max(0, bytes - head.utf8.count - tail.utf8.count)) + tail
    }

    private static func web(
        endpoint: String = endpoint(), key: String = Push.base64(Push.point), auth: String = auth,
        extra: String = ""
    ) -> String {
        "{\"web\":{\"endpoint\":\"\(endpoint)\",\"p256dh\":\"\(key)\",\"auth\":\"\(auth)\"\(extra)}}"
    }

    private static func access(expiresAt: Int64 = .max, sender: SenderID? = HTTPHarness.sender) -> String {
        let token = InstallationToken(
            purpose: .access, installation: installation, sender: sender, expiresAt: expiresAt, mark: 1)
        let text = String(decoding: HTTPHarness.seal.text(of: token), as: UTF8.self)
        return "x-goog-firebase-installations-auth: FIS \(text)\r\n"
    }

    private static let device = "Authorization: AidLogin 600000000000000001:7\r\n"
    private static let proofOfDevice = RegistrationProof.device(
        DeviceID(600_000_000_000_000_001), HTTPHarness.digest(Array("7".utf8)))

    private func send(
        _ method: String, _ path: String, _ body: String, _ headers: String = ""
    ) -> HTTPHarness {
        let harness = Push.harness()
        harness.send(
            "\(method) \(path) HTTP/1.1\r\nHost: x\r\n\(headers)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
        )
        return harness
    }

    private func create(_ body: String, _ headers: String = "", project: String = "p") -> HTTPHarness {
        send("POST", "/v1/projects/\(project)/registrations", body, headers)
    }

    /// The registration that a request asks for.
    private func wanted(_ harness: HTTPHarness) throws -> WebRegistrationRequest {
        if case .installation(_, .requested(let request)) = harness.events.first,
            case .vouch(for: .device(_, .registerWeb(let wanted))) = request.action
        {
            #expect(request.installation == Self.installation && request.mark == 1)
            return wanted
        }
        guard case .device(Push.name.device, .registerWeb(let wanted)) = harness.events.first else {
            Issue.record("no registration: \(harness.sent)")
            throw DeviceUnexpected("\(harness.events)")
        }
        return wanted
    }

    @Test("a web app is registered with its keys and its project, as a number or a label")
    func creates() throws {
        let harness = create(Self.web(extra: ",\"applicationPubKey\":\"k\""))
        let plain = try wanted(harness)
        #expect(plain.endpoint == Push.name && plain.project == .label(Array("p".utf8)))
        #expect(plain.keys.publicKey == Push.point && plain.keys.auth == [UInt8](repeating: 2, count: 16))
        #expect(plain.proof == .none && !plain.isProved && plain.renewed == nil && plain.instance.isEmpty)
        harness.perform(
            .reply(requestID: plain.requester.requestID, .registered(TokenName(Self.other))))
        let token = Self.token(Self.other)
        #expect(
            harness.sent.hasSuffix(
                "\r\n\r\n{\"token\":\"\(token)\",\"name\":\"projects/p/registrations/\(token)\"}"))
        #expect(try wanted(create(Self.web(), project: "77")).project == .sender(SenderID(77)))
        let proved = try wanted(create(Self.web(), Self.device))
        #expect(proved.proof == Self.proofOfDevice && !proved.isProved)
    }

    @Test("one with an access token belongs to its installation and the sender of the token")
    func installed() throws {
        let harness = create(Self.web(), Self.access())
        let request = try wanted(harness)
        #expect(request.project == .sender(HTTPHarness.sender) && request.instance == Self.installation)
        #expect(request.isProved && request.proof == .installation(Self.installation))
        harness.perform(
            .reply(requestID: request.requester.requestID, .registered(TokenName(Self.other))))
        let id = String(decoding: Self.installation, as: UTF8.self)
        #expect(harness.sent.hasSuffix("\"name\":\"projects/p/registrations/\(id)\"}"))
        #expect(try wanted(create(Self.web(), Self.access(sender: nil))).project == .label(Array("p".utf8)))
        let late = create(Self.web(), Self.access(expiresAt: HTTPHarness().now.wall))
        #expect(late.events.isEmpty && late.sent.hasPrefix("HTTP/1.1 401 ") && late.sent.contains("expired"))
    }

    @Test("an endpoint has a token of this server in its last segment, and a limited length")
    func endpoints() throws {
        let limit = Limits.Registration.endpointBytes
        #expect(try wanted(create(Self.web(endpoint: Self.endpoint(bytes: limit)))).endpoint == Push.name)
        let token = Self.token(Push.name)
        #expect(try wanted(create(Self.web(endpoint: "/\(token)"))).endpoint == Push.name)
        for wrong in [
            Self.endpoint(bytes: limit + 1), token, "https://h/\(token)/", "https://h/?/\(token)",
            "https://h/#/\(token)", "https://h/x\(token)", "",
        ] {
            let harness = create(Self.web(endpoint: wrong))
            #expect(
                harness.events.isEmpty && harness.sent.contains("invalid web.endpoint: expected a token"),
                "\(wrong)")
        }
    }

    @Test(
        "what is wrong with a body is named",
        arguments: [
            ("{}", "invalid web: expected an object"), ("{\"web\":[]}", "invalid web: expected an object"),
            (web(extra: ",\"applicationPubKey\":1"), "invalid web.applicationPubKey: expected a string"),
            (web(key: ""), "invalid web.p256dh"), (web(key: "!"), "invalid web.p256dh"),
            (web(key: Push.base64(Array(Push.point.dropLast()))), "invalid web.p256dh"),
            (web(key: Push.base64([3] + Push.point.dropFirst())), "invalid web.p256dh"),
            // A point that is not on the curve.
            (web(key: Push.base64(Push.key)), "invalid web.p256dh"),
            (web(auth: ""), "invalid web.auth"), (web(auth: "!"), "invalid web.auth"),
            (web(auth: Push.base64([UInt8](repeating: 2, count: 15))), "invalid web.auth"),
            (web(auth: Push.base64([UInt8](repeating: 2, count: 17))), "invalid web.auth"),
        ])
    func wrong(body: String, words: String) {
        let harness = create(body)
        #expect(harness.events.isEmpty && harness.sent.hasPrefix("HTTP/1.1 400 "))
        #expect(harness.sent.contains(words))
    }

    @Test("a token is renewed with the proof of the request, for all projects that it names")
    func renews() throws {
        let path = "/v1/projects/77/registrations/\(Self.token(Self.other))"
        let plain = send("PATCH", path, Self.web(), Self.device)
        let request = try wanted(plain)
        #expect(
            request.renewed
                == TokenClaim(name: Self.other, proof: Self.proofOfDevice, projects: [.sender(SenderID(77))]))
        #expect(request.project == .sender(SenderID(77)))
        plain.perform(
            .reply(requestID: request.requester.requestID, .registered(TokenName(Self.other))))
        #expect(plain.sent.hasSuffix("\r\n\r\n{\"token\":\"\(Self.token(Self.other))\"}"))
        let installed = try wanted(send("PATCH", path, Self.web(), Self.access()))
        #expect(
            installed.renewed?.projects == [.sender(SenderID(77)), .sender(HTTPHarness.sender)]
                && installed.renewed?.proof == .installation(Self.installation))
        let stranger = send("PATCH", "/v1/projects/77/registrations/x", Self.web(), Self.device)
        #expect(stranger.events.isEmpty && stranger.sent.hasPrefix("HTTP/1.1 404 "))
        #expect(stranger.sent.contains("invalid registration in the path"))
        let escaped = send("PATCH", "/v1/projects/a%22b/registrations/x", Self.web(), Self.device)
        #expect(escaped.sent.hasPrefix("HTTP/1.1 400 "))
    }

    @Test("a registration is deleted with a proof alone; that of an installation goes with all of its own")
    func deletes() throws {
        let path = "/v1/projects/77/registrations/"
        let bare = send("DELETE", path + Self.token(Self.other), "")
        #expect(bare.events.isEmpty && bare.sent.hasPrefix("HTTP/1.1 401 "))
        #expect(bare.sent.contains("missing credentials"))
        let device = send("DELETE", path + Self.token(Self.other), "", Self.device)
        guard
            case .device(Self.other.device, .unregisterToken(let claim, let requester)) = device.events.first
        else {
            Issue.record("\(device.sent)")
            return
        }
        #expect(claim.name == Self.other && claim.proof == Self.proofOfDevice)
        #expect(claim.projects == [.sender(SenderID(77))])
        device.perform(.reply(requestID: requester.requestID, .unregistered))
        #expect(device.sent.hasPrefix("HTTP/1.1 200 ") && device.sent.hasSuffix("\r\n\r\n{}"))
        let id = String(decoding: Self.installation, as: UTF8.self)
        let all = send("DELETE", path + id, "", Self.access())
        guard case .installation(_, .requested(let request)) = all.events.first,
            case .remove = request.action
        else {
            Issue.record("\(all.sent)")
            return
        }
        #expect(request.installation == Self.installation && request.sender == HTTPHarness.sender)
        #expect(request.mark == 1)
        // Another one than that of the token.
        let vouched = send("DELETE", path + Self.token(Self.other), "", Self.access())
        guard case .installation(_, .requested(let other)) = vouched.events.first,
            case .vouch(for: .device(_, .unregisterToken(let vouchedClaim, _))) = other.action
        else {
            Issue.record("\(vouched.sent)")
            return
        }
        #expect(vouchedClaim.proof == .installation(Self.installation))
    }

    private func connect(_ fields: [(String, String)]) -> HTTPHarness {
        let form = fields.map { "\($0.0)=\($0.1)" }.joined(separator: "&")
        return send(
            "POST", "/fcm/connect/subscribe", form, "Content-Type: application/x-www-form-urlencoded\r\n")
    }

    private static let form = [
        ("authorized_entity", "77"), ("endpoint", "https://h/\(token(Push.name))"),
        ("encryption_key", Push.base64(Push.point)), ("encryption_auth", auth),
    ]

    @Test("the older interface takes a form, and answers with the start of the token as the push set")
    func connects() throws {
        let harness = connect(Self.form)
        let request = try wanted(harness)
        #expect(request.endpoint == Push.name && request.project == .sender(SenderID(77)))
        #expect(request.keys.publicKey == Push.point && request.proof == .none)
        let name = TokenName(Self.other, prefix: .random { [UInt8](repeating: 1, count: $0) })
        harness.perform(.reply(requestID: request.requester.requestID, .registered(name)))
        let token = HTTPHarness.seal.token(for: name)
        let plain = HTTPHarness.seal.token(for: Self.other).prefix { $0 != UInt8(ascii: ":") }
        #expect(
            harness.sent.hasSuffix(
                "{\"token\":\"\(String(decoding: token, as: UTF8.self))\",\"pushSet\":\"\(String(decoding: plain, as: UTF8.self))\"}"
            ))
    }

    @Test(
        "a form with a missing or wrong field is refused, and the field named",
        arguments: ["authorized_entity", "endpoint", "encryption_key", "encryption_auth"])
    func wrongForm(field: String) {
        let harness = connect(Self.form.filter { $0.0 != field })
        #expect(harness.events.isEmpty && harness.sent.hasPrefix("HTTP/1.1 400 "))
        #expect(harness.sent.contains(" \(field): expected"))
        let empty = connect(Self.form.map { $0.0 == field ? ($0.0, "") : $0 })
        #expect(empty.events.isEmpty && empty.sent.contains(" \(field): expected"))
    }

    @Test("an installation subscribes its registration to a topic with its access token")
    func subscribes() throws {
        let id = String(decoding: Self.installation, as: UTF8.self)
        func path(_ id: String, _ topic: String, _ action: String) -> String {
            "/v1/projects/77/registrations/\(id)/topicSubscriptions/\(topic):\(action)"
        }
        for (action, isEnd) in [("subscribe", false), ("unsubscribe", true)] {
            let harness = send("POST", path(id, "news", action), "{}", Self.access(sender: nil))
            guard case .installation(_, .requested(let request)) = harness.events.first else {
                Issue.record("\(harness.sent)")
                continue
            }
            switch request.action {
            case .subscribe(let topic): #expect(!isEnd && topic == TopicName(Array("news".utf8)))
            case .unsubscribe(let topic): #expect(isEnd && topic == TopicName(Array("news".utf8)))
            default: Issue.record("another action")
            }
            #expect(request.sender == SenderID(77) && request.installation == Self.installation)
        }
        let anonymous = send("POST", path(id, "news", "subscribe"), "{}")
        #expect(anonymous.sent.hasPrefix("HTTP/1.1 401 ") && anonymous.events.isEmpty)
        let another = "aGFzc3dvcmQ_aGVsbG8tdw"
        let stranger = send("POST", path(another, "news", "subscribe"), "{}", Self.access())
        #expect(stranger.sent.hasPrefix("HTTP/1.1 403 ") && stranger.events.isEmpty)
        let wrong = send("POST", path(id, "a%20b", "subscribe"), "{}", Self.access())
        #expect(wrong.sent.hasPrefix("HTTP/1.1 400 ") && wrong.sent.contains("invalid topic"))
    }
}
