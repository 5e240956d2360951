import Basics
import Testing
import Wire

@Suite struct XMPPLoginTests {
    private static let domains = [
        "gcm.googleapis.com", "fcm.googleapis.com", "projects.gcm.android.com", "fcm-xmpp.googleapis.com",
    ]

    private func login(_ plain: String) throws(SASL.Condition) -> SASL.Credentials {
        try decode(Base64.text(Array(text: plain)))
    }

    private func decode(_ base64: String) throws(SASL.Condition) -> SASL.Credentials {
        try SASL.credentials(base64, acceptedDomains: Self.domains, defaultDomain: "gcm.googleapis.com")
    }

    @Test(arguments: [
        ("\01234567890@gcm.googleapis.com\0KEY", "gcm.googleapis.com"),
        ("\01234567890\0KEY", "gcm.googleapis.com"),
        ("1234567890@gcm.googleapis.com\01234567890\0KEY", "gcm.googleapis.com"),
        ("1234567890@gcm.googleapis.com\01234567890@gcm.googleapis.com\0KEY", "gcm.googleapis.com"),
        ("\01234567890@fcm.googleapis.com\0KEY", "fcm.googleapis.com"),
        (
            "1234567890@projects.gcm.android.com\01234567890@projects.gcm.android.com\0KEY",
            "projects.gcm.android.com"
        ),
        ("\01234567890@FCM-XMPP.googleapis.com\0KEY", "fcm-xmpp.googleapis.com"),
        ("1234567890@whatever\01234567890\0KEY", "gcm.googleapis.com"),
    ])
    func `every credential form is understood`(plain: String, domain: String) throws {
        let credentials = try login(plain)
        #expect(credentials.sender == SenderID(1_234_567_890))
        #expect(credentials.domain == domain)
        #expect(credentials.password == Array(text: "KEY"))
    }

    @Test func `the documented sample is understood`() throws {
        let credentials = try decode("ADEyMzQ1Njc4OTBAZ2NtLmdvb2dsZWFwaXMuY29tAEtFWQ==")
        #expect(credentials.sender == SenderID(1_234_567_890))
    }

    @Test(arguments: [
        ("", SASL.Condition.malformedRequest), ("1", .malformedRequest), ("\01", .malformedRequest),
        ("\01\0K\0", .malformedRequest), ("\0\0K", .malformedRequest), ("\01\0", .malformedRequest),
        ("\0" + String(repeating: "1", count: 256) + "\0K", .malformedRequest),
        ("\01\0" + String(repeating: "K", count: 256), .malformedRequest),
        ("2@gcm.googleapis.com\01\0K", .invalidAuthzid), ("2\01@gcm.googleapis.com\0K", .invalidAuthzid),
        ("\01@evil.example\0K", .notAuthorized), ("\0abc\0K", .notAuthorized), ("\00\0K", .notAuthorized),
        ("\0-1\0K", .notAuthorized), ("\0+1\0K", .notAuthorized),
        ("\09223372036854775808\0K", .notAuthorized),
        ("\0١٢٣\0K", .notAuthorized), ("\01@\0K", .notAuthorized),
        ("\0@gcm.googleapis.com\0K", .notAuthorized),
    ])
    func `a malformed login is refused with its condition`(plain: String, condition: SASL.Condition) {
        #expect(throws: condition) { try login(plain) }
    }

    @Test(arguments: ["!!!!", "A", "AAAA=", "AA=A", "AA==AA==", "AGEAYg =", "AGEAY_==", "ä", "=="])
    func `malformed Base64 is refused as incorrect-encoding`(text: String) {
        #expect(throws: SASL.Condition.incorrectEncoding) { try decode(text) }
    }

    @Test func `the single = is an empty message`() {
        #expect(throws: SASL.Condition.malformedRequest) { try decode("=") }
    }

    @Test func `bytes that are not UTF-8 are malformed`() {
        #expect(throws: SASL.Condition.malformedRequest) {
            try decode(Base64.text([0, 0xFF, 0x31, 0, 0x4B]))
        }
    }

    @Test func `the elements of a login are distinguished`() throws {
        let namespace = "xmlns='urn:ietf:params:xml:ns:xmpp-sasl'"
        func step(_ text: String) throws -> SASL.Step? { try SASL.Step(element(text)) }
        #expect(
            try step("<auth mechanism='PLAIN' \(namespace)>AGEAYg==</auth>") == .auth(payload: "AGEAYg=="))
        #expect(
            try step("<auth mechanism='X-OAUTH2' \(namespace)>\n AGEAYg== \n</auth>")
                == .auth(payload: "AGEAYg=="))
        #expect(
            try step(
                "<auth mechanism='X-OAUTH2' xmlns:auth='http://www.google.com/talk/protocol/auth' auth:service='oauth2' \(namespace)>AA</auth>"
            ) == .auth(payload: "AA"))
        #expect(try step("<auth mechanism='PLAIN' \(namespace)/>") == .authWithoutPayload)
        #expect(try step("<auth mechanism='PLAIN' \(namespace)></auth>") == .authWithoutPayload)
        #expect(try step("<auth mechanism='PLAIN' \(namespace)>=</auth>") == .auth(payload: "="))
        #expect(try step("<response \(namespace)>AA==</response>") == .response(payload: "AA=="))
        #expect(try step("<abort \(namespace)/>") == .abort)
        #expect(try step("<auth mechanism='X-GOOGLE-TOKEN' \(namespace)>AA</auth>") == .unknownMechanism)
        #expect(try step("<auth mechanism='plain' \(namespace)>AA</auth>") == .unknownMechanism)
        #expect(try step("<auth \(namespace)>AA</auth>") == .unknownMechanism)
        #expect(try step("<success \(namespace)/>") == nil)
        #expect(try step("<auth mechanism='PLAIN'>AA</auth>") == nil)
        #expect(try step("<sasl:abort xmlns:sasl='urn:ietf:params:xml:ns:xmpp-sasl'/>") == .abort)
    }

    @Test func `a sender taken from the authzid would be detected`() throws {
        #expect(try login("1@gcm.googleapis.com\01\0K").sender != SenderID(2))
        #expect(throws: SASL.Condition.invalidAuthzid) { try login("1@gcm.googleapis.com\02\0K") }
    }
}
