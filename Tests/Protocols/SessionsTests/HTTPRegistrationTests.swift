import Basics
import Delivery
import Testing
import Wire

@testable import Sessions

@Suite struct HTTPRegistrationTests {
    static let name = RegistrationName(
        device: DeviceID(600_000_000_000_000_001), number: RegistrationNumber(3))

    private func registration(_ harness: HTTPHarness) -> RegistrationRequest? {
        switch harness.events.first {
        case .device(_, .register(let request)), .device(_, .unregister(let request)): request
        default: nil
        }
    }

    @Test("app, X-subtype and sender are passed on as received")
    func verbatim() throws {
        let harness = HTTPHarness()
        harness.send(
            HTTPHarness.register(
                "app=org.chromium.linux&X-subtype=wp%3Areceiver.push.com%23a-b&device=600000000000000001&sender=BDOU99-h67+x%3D&extra=1"
            ))
        let request = try #require(registration(harness))
        #expect(request.device == DeviceID(600_000_000_000_000_001))
        #expect(request.token == HTTPHarness.digest(Array("700000000000000002".utf8)))
        #expect(request.category == Array("org.chromium.linux".utf8))
        #expect(request.subtype == Array("wp:receiver.push.com#a-b".utf8))
        #expect(request.senderText == Array("BDOU99-h67 x=".utf8))
        guard case .device(_, .register) = harness.events[0] else {
            Issue.record("expected a registration")
            return
        }
    }

    @Test("The token is sent alone, with exactly these bytes and no line end")
    func token() throws {
        let harness = HTTPHarness()
        harness.send(HTTPHarness.register("app=a.b&device=600000000000000001&sender=123"))
        harness.perform(.reply(requestID: 1, .registered(TokenName(Self.name))))
        let token = String(decoding: HTTPHarness.seal.token(for: Self.name), as: UTF8.self)
        let text = harness.takeSent()
        #expect(text == HTTPHarness.text("token=\(token)"))
        #expect(!token.contains(where: { "=+%&\n".contains($0) }))
    }

    @Test("The token begins with the ID that the app named")
    func prefixedToken() throws {
        let id = "dGFzc3dvcmQ_aGVsbG8tdw"
        let harness = HTTPHarness()
        harness.send(HTTPHarness.register("app=a.b&device=600000000000000001&sender=123&X-appid=\(id)"))
        let name = TokenName(Self.name, prefix: TokenPrefix(Array(id.utf8)))
        harness.perform(.reply(requestID: 1, .registered(name)))
        #expect(harness.takeSent().contains("\r\n\r\ntoken=\(id):APA91b"))
    }

    @Test(
        "Errors have status 200",
        arguments: [
            ("INVALID_SENDER", RegistrationRefusal.invalidSender),
            ("AUTHENTICATION_FAILED", .authenticationFailed), ("INVALID_PARAMETERS", .invalidParameters),
            ("TOO_MANY_REGISTRATIONS", .tooManyRegistrations),
            ("SERVICE_NOT_AVAILABLE", .serviceNotAvailable),
        ])
    func refusals(word: String, refusal: RegistrationRefusal) {
        let harness = HTTPHarness()
        harness.send(HTTPHarness.register("app=a.b&device=600000000000000001&sender=123"))
        harness.perform(.reply(requestID: 1, .registrationRefused(refusal)))
        let text = harness.takeSent()
        #expect(text == HTTPHarness.text("Error=\(word)"))
    }

    @Test("Chromium gets the word for a temporary error that it recognises")
    func chromium() {
        let harness = HTTPHarness()
        harness.send(
            HTTPHarness.register(
                "app=a.b&device=600000000000000001&sender=123", headers: "User-Agent: Chrome/156.0\r\n"))
        harness.perform(.reply(requestID: 1, .registrationRefused(.serviceNotAvailable)))
        let text = harness.takeSent()
        #expect(text == HTTPHarness.text("Error=InternalServerError"))
    }

    struct Wrong: Sendable, CustomTestStringConvertible {
        var error: String
        var form: String
        var authorization: String? = "AidLogin 600000000000000001:700000000000000002"
        var testDescription: String { form + " " + (authorization ?? "-") }
    }

    static let wrong: [Wrong] = [
        Wrong(error: "INVALID_PARAMETERS", form: ""),
        Wrong(error: "INVALID_PARAMETERS", form: "device=600000000000000001&sender=1"),
        Wrong(error: "INVALID_PARAMETERS", form: "app=&device=600000000000000001&sender=1"),
        Wrong(error: "INVALID_PARAMETERS", form: "app=a&sender=1"),
        Wrong(error: "INVALID_PARAMETERS", form: "app=%zz&device=600000000000000001&sender=1"),
        Wrong(error: "INVALID_PARAMETERS", form: "app=a%0Ab&device=600000000000000001&sender=1"),
        Wrong(error: "INVALID_PARAMETERS", form: "app=a%00&device=600000000000000001&sender=1"),
        Wrong(error: "INVALID_PARAMETERS", form: "app=%FF&device=600000000000000001&sender=1"),
        Wrong(
            error: "INVALID_PARAMETERS",
            form: "app=\(String(repeating: "a", count: 513))&device=600000000000000001&sender=1"),
        Wrong(
            error: "INVALID_PARAMETERS",
            form: "app=a&device=600000000000000001&sender=1&X-gcm.topic=%2Ftopics%2Fx"),
        Wrong(error: "INVALID_PARAMETERS", form: "app=a&device=600000000000000001&sender=1&scope=%0A"),
        Wrong(error: "INVALID_SENDER", form: "app=a&device=600000000000000001"),
        Wrong(error: "INVALID_SENDER", form: "app=a&device=600000000000000001&sender="),
        Wrong(error: "AUTHENTICATION_FAILED", form: "app=a&device=600000000000000002&sender=1"),
        Wrong(error: "AUTHENTICATION_FAILED", form: "app=a&device=x&sender=1"),
        Wrong(error: "AUTHENTICATION_FAILED", form: "app=a&device=1&sender=1", authorization: nil),
        Wrong(error: "AUTHENTICATION_FAILED", form: "app=a&device=1&sender=1", authorization: "AidLogin 1"),
        Wrong(error: "AUTHENTICATION_FAILED", form: "app=a&device=1&sender=1", authorization: "AidLogin 1:"),
        Wrong(
            error: "AUTHENTICATION_FAILED", form: "app=a&device=1&sender=1", authorization: "AidLogin 1:2:3"),
        Wrong(error: "AUTHENTICATION_FAILED", form: "app=a&device=0&sender=1", authorization: "AidLogin 0:2"),
        Wrong(error: "AUTHENTICATION_FAILED", form: "app=a&device=1&sender=1", authorization: "Basic MTox"),
        Wrong(
            error: "AUTHENTICATION_FAILED", form: "app=a&device=1&sender=1",
            authorization: "AidLogin 1:18446744073709551616"),
    ]

    @Test("A malformed registration is refused at once", arguments: wrong)
    func wrongForm(wrong: Wrong) {
        let harness = HTTPHarness()
        harness.send(HTTPHarness.register(wrong.form, authorization: wrong.authorization))
        let text = harness.takeSent()
        #expect(text == HTTPHarness.text("Error=\(wrong.error)"))
        let count = harness.events.count
        #expect(count == 0)
    }

    @Test("A security token printed as a signed number is the same number")
    func signed() throws {
        let harness = HTTPHarness()
        harness.send(
            HTTPHarness.register(
                "app=a&device=-9223372036854775807&sender=1",
                authorization: "aidlogin 9223372036854775809:-1"))
        let request = try #require(registration(harness))
        #expect(request.device == DeviceID(9_223_372_036_854_775_809))
        #expect(request.token == HTTPHarness.digest(Array("18446744073709551615".utf8)))
    }

    @Test(
        "Unregistering is answered in each client's own form",
        arguments: [
            ("app=ext&device=600000000000000001&delete=true&gcm_unreg_caller=false", "deleted=ext"),
            (
                "app=org.chromium.linux&X-subtype=wp%3Ax&device=600000000000000001&delete=true&appid=abc&sender=*&scope=*&X-scope=*",
                "token=org.chromium.linux"
            ),
            ("app=a.b&device=600000000000000001&sender=123&delete=1", "deleted=a.b"),
            ("app=a.b&device=600000000000000001&sender=123&X-delete=1", "deleted=a.b"),
            ("app=a.b&device=600000000000000001&sender=123&iid-operation=delete", "deleted=a.b"),
        ])
    func unregister(form: String, body: String) throws {
        let harness = HTTPHarness()
        harness.send(HTTPHarness.register(form))
        guard case .device(_, .unregister)? = harness.events.first else {
            Issue.record("expected an unregistration")
            return
        }
        harness.perform(.reply(requestID: 1, .unregistered))
        let text = harness.takeSent()
        #expect(text == HTTPHarness.text(body))
    }

    @Test(
        "The scope of a request, or its absence, is recorded and determines what a deletion ends",
        arguments: [
            ("sender=1", .unnamed, .any), ("sender=1&scope=GCM&X-scope=GCM", .all, .one(.all)),
            ("sender=1&X-scope=FCM", .all, .one(.all)), ("sender=*&scope=*&X-scope=*", .all, .named),
            ("sender=1&X-scope=x", .only([0x78]), .one(.only([0x78]))),
            ("gcm_unreg_caller=false", .unnamed, .unnamed), ("gcm_unreg_caller=true", .unnamed, .any),
        ] as [(String, RegistrationScope, EndedScopes)])
    func scopes(fields: String, scope: RegistrationScope, ends: EndedScopes) throws {
        let harness = HTTPHarness()
        harness.send(HTTPHarness.register("app=ext&device=600000000000000001&delete=1&\(fields)"))
        let request = try #require(registration(harness))
        #expect(request.scope == scope && request.endedScopes == ends)
    }

    @Test("delete=false registers (canary for the case above)")
    func notDeleted() {
        let harness = HTTPHarness()
        harness.send(HTTPHarness.register("app=a&device=600000000000000001&sender=1&delete=false"))
        guard case .device(_, .register)? = harness.events.first else {
            Issue.record("treated as an unregistration")
            return
        }
    }

    @Test("No secret is repeated to the peer")
    func secrets() {
        for form in ["app=a&device=1&sender=1", "app=a&device=600000000000000001&sender=1", ""] {
            let harness = HTTPHarness()
            harness.send(HTTPHarness.register(form))
            harness.perform(.reply(requestID: 1, .registrationRefused(.authenticationFailed)))
            let text = harness.takeSent()
            #expect(!text.contains("700000000000000002"))
        }
    }
}
