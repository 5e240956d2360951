public import Basics

/// The SASL login of an app server: its messages and their answers (ccs-xmpp 1.5).
public enum SASL {
    /// A failure condition; the raw value is the element's name.
    public enum Condition: String, Error, Sendable, CaseIterable {
        case aborted = "aborted"
        case accountDisabled = "account-disabled"
        case credentialsExpired = "credentials-expired"
        case incorrectEncoding = "incorrect-encoding"
        case invalidAuthzid = "invalid-authzid"
        case invalidMechanism = "invalid-mechanism"
        case malformedRequest = "malformed-request"
        case notAuthorized = "not-authorized"
        case temporaryAuthFailure = "temporary-auth-failure"

        /// Appends the failure; clients need its namespace as the default one.
        public func append(to buffer: inout ByteBuffer) {
            buffer.append("<failure xmlns=\"urn:ietf:params:xml:ns:xmpp-sasl\"><")
            buffer.append(text: rawValue)
            buffer.append("/></failure>")
        }
    }

    /// An element that a client sends during login.
    public enum Step: Sendable, Equatable {
        /// `<auth>` of a known mechanism with its first message, still in Base64.
        case auth(payload: String)
        /// `<auth>` of a known mechanism without a message: a challenge is due.
        case authWithoutPayload
        /// `<auth>` of SCRAM-SHA-256, or of -PLUS if `bindsChannel`; without a payload a challenge is due first.
        case scram(bindsChannel: Bool, payload: String?)
        /// `<response>`, still in Base64.
        case response(payload: String)
        /// `<abort/>`: failure `aborted`.
        case abort
        /// `<auth>` of a mechanism that is not offered or not supported: failure `invalid-mechanism`.
        case unknownMechanism

        /// Reads an element of the SASL namespace. Returns `nil` for any other element.
        public init?(_ element: Element) {
            guard element.namespace == Namespace.sasl else { return nil }
            let payload = element.text.trimmingXMLSpace()
            switch element.name {
            case "auth":
                switch element["mechanism"] {
                case "PLAIN", "X-OAUTH2":
                    self = payload.isEmpty ? .authWithoutPayload : .auth(payload: payload)
                case "SCRAM-SHA-256", "SCRAM-SHA-256-PLUS":
                    self = .scram(
                        bindsChannel: element["mechanism"] == "SCRAM-SHA-256-PLUS",
                        payload: payload.isEmpty ? nil : payload)
                default: self = .unknownMechanism
                }
            case "response": self = .response(payload: payload)
            case "abort": self = .abort
            default: return nil
            }
        }
    }

    /// The identity that logs in, and its proof.
    public struct Credentials: Sendable, Equatable {
        /// The sender.
        public var sender: SenderID
        /// The domain after the sender ID in lower case; the bound JID uses it.
        public var domain: String
        /// The server key, in clear; never to be logged.
        public var password: [UInt8]
    }

    /// Parses the message of PLAIN or X-OAUTH2, which have the same form: authzid, NUL, authcid, NUL, server key.
    public static func credentials(
        _ payload: String, acceptedDomains: [String], defaultDomain: String
    ) throws(Condition) -> Credentials {
        let bytes = try decoded(payload)
        let parts = bytes.split(separator: 0, omittingEmptySubsequences: false)
        guard parts.count == 3, parts.allSatisfy({ $0.count <= Limits.Login.credentialBytes }),
            !parts[1].isEmpty,
            !parts[2].isEmpty, let authzid = String(validating: parts[0], as: UTF8.self),
            let authcid = String(validating: parts[1], as: UTF8.self)
        else { throw .malformedRequest }
        let account = try account(
            authzid: authzid, authcid: authcid, acceptedDomains: acceptedDomains, defaultDomain: defaultDomain
        )
        return Credentials(sender: account.sender, domain: account.domain, password: Array(parts[2]))
    }

    /// Decodes the Base64 of a message; a single `=` is the empty message.
    static func decoded(_ payload: String) throws(Condition) -> [UInt8] {
        guard let bytes = Base64.bytes(Array(payload == "=" ? "".utf8 : payload.utf8).raw),
            !payload.utf8.contains(where: { $0 == 0x2D || $0 == 0x5F })
        else { throw .incorrectEncoding }
        return bytes
    }

    /// Returns the sender that authzid and authcid of any mechanism identify, and its domain in lower case.
    public static func account(
        authzid: String, authcid: String, acceptedDomains: [String], defaultDomain: String
    ) throws(Condition) -> (sender: SenderID, domain: String) {
        let user = split(authcid)
        guard authzid.isEmpty || split(authzid).name == user.name else { throw .invalidAuthzid }
        let domain = user.domain?.lowercased() ?? defaultDomain
        guard let number = UInt64(user.name), user.name.utf8.allSatisfy({ $0 &- 0x30 < 10 }),
            1...UInt64(Int64.max) ~= number, user.domain == nil || acceptedDomains.contains(domain)
        else { throw .notAuthorized }
        return (SenderID(number), domain)
    }

    /// Appends the empty challenge that requests the message of PLAIN.
    public static func appendChallenge(to buffer: inout ByteBuffer) {
        buffer.append("<challenge xmlns=\"urn:ietf:params:xml:ns:xmpp-sasl\"/>")
    }

    /// Appends a challenge with a message.
    public static func appendChallenge(_ message: [UInt8], to buffer: inout ByteBuffer) {
        buffer.append("<challenge xmlns=\"urn:ietf:params:xml:ns:xmpp-sasl\">")
        Base64.append(message.raw, urlSafe: false, padded: true, to: &buffer)
        buffer.append("</challenge>")
    }

    /// Appends the success; the client then opens a new stream.
    public static func appendSuccess(to buffer: inout ByteBuffer) {
        buffer.append("<success xmlns=\"urn:ietf:params:xml:ns:xmpp-sasl\"/>")
    }

    /// Appends the success with a final message.
    public static func appendSuccess(_ message: [UInt8], to buffer: inout ByteBuffer) {
        buffer.append("<success xmlns=\"urn:ietf:params:xml:ns:xmpp-sasl\">")
        Base64.append(message.raw, urlSafe: false, padded: true, to: &buffer)
        buffer.append("</success>")
    }

    /// Splits a user name at the first `@`.
    private static func split(_ user: String) -> (name: String, domain: String?) {
        guard let at = user.firstIndex(of: "@") else { return (user, nil) }
        return (String(user[..<at]), String(user[user.index(after: at)...]))
    }
}

extension String {
    /// Returns the string without leading and trailing whitespace.
    func trimmingXMLSpace() -> String {
        guard let first = utf8.firstIndex(where: { !$0.isXMLSpace }),
            let last = utf8.lastIndex(where: { !$0.isXMLSpace })
        else { return "" }
        return String(self[first...last])
    }
}
