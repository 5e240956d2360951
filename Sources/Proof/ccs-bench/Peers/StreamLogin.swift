import Basics

/// The credentials of an XMPP login, as bytes of the stream.
struct StreamCredential {
    /// Opens a stream, before and after authentication.
    let header: String
    /// The authentication (SASL PLAIN).
    let auth: String
    /// Binds the resource.
    let bind: String

    /// Credentials of an app server of CCS.
    init(sender: String, key: String) {
        self.init(user: "\(sender)@gcm.googleapis.com", domain: "gcm.googleapis.com", password: key)
    }

    /// Credentials of a user of any server; without a resource the server chooses one.
    init(user: String, domain: String, password: String, resource: String? = nil) {
        let plain = [0] + Array(user.utf8) + [0] + Array(password.utf8)
        header =
            "<stream:stream to=\"\(domain)\" version=\"1.0\" xmlns=\"jabber:client\" xmlns:stream=\"http://etherx.jabber.org/streams\">"
        auth =
            "<auth mechanism=\"PLAIN\" xmlns=\"urn:ietf:params:xml:ns:xmpp-sasl\">\(Base64.text(plain))</auth>"
        let end = resource.map { "><resource>\($0)</resource></bind>" } ?? "/>"
        bind = "<iq type=\"set\" id=\"b\"><bind xmlns=\"urn:ietf:params:xml:ns:xmpp-bind\"\(end)</iq>"
    }
}

/// The login of an XMPP stream, from its first byte until stanzas may be sent.
struct StreamLogin {
    private enum Stage {
        case features, authenticating, binding, enabling, ready
    }

    private let credential: StreamCredential
    private let acknowledges: Bool
    private var stage = Stage.features
    private var early: [UInt8] = []

    /// Creates a login; with `acknowledges`, it enables stream management (XEP-0198).
    init(_ credential: StreamCredential, acknowledges: Bool = false) {
        self.credential = credential
        self.acknowledges = acknowledges
    }

    /// Whether stanzas may be sent.
    var isReady: Bool { stage == .ready }

    /// Writes the start of a stream.
    func begin(_ outbox: inout Outbox) { send(credential.header, &outbox) }

    /// Consumes bytes, split anywhere, before the stream is ready.
    mutating func consume(_ bytes: RawSpan, _ outbox: inout Outbox) -> TalkVerdict {
        early += [UInt8](copying: bytes)
        let text = early
        switch stage {
        case .features where Bytes.contains(text.raw, "</stream:features>"):
            stage = .authenticating
            send(credential.auth, &outbox)
        case .authenticating where Bytes.contains(text.raw, "<success"):
            stage = .binding
            send(credential.header, &outbox)
        case .authenticating where Bytes.contains(text.raw, "<failure"):
            return .failed("the server refused the login")
        case .binding where Bytes.contains(text.raw, "</stream:features>"):
            send(credential.bind, &outbox)
        case .binding where Bytes.contains(text.raw, "</iq>"):
            stage = acknowledges ? .enabling : .ready
            if acknowledges { send("<enable xmlns=\"urn:xmpp:sm:3\"/>", &outbox) }
        case .enabling where Bytes.contains(text.raw, "<enabled"): stage = .ready
        case .enabling where Bytes.contains(text.raw, "<failed"):
            return .failed("the server does not support XEP-0198")
        default: return .fine
        }
        early.removeAll()
        return .fine
    }

    private func send(_ text: String, _ outbox: inout Outbox) {
        outbox.bytes.append(text: text)
        outbox.endRecord()
    }
}

/// Searches in bytes.
enum Bytes {
    /// Whether a text occurs.
    static func contains(_ bytes: RawSpan, _ text: StaticString) -> Bool {
        offset(of: text, in: bytes) != nil
    }

    /// Returns the offset of the first occurrence of a text, from an offset on.
    static func offset(of text: StaticString, in bytes: RawSpan, from start: Int = 0) -> Int? {
        let length = text.utf8CodeUnitCount
        guard bytes.byteCount - start >= length else { return nil }
        let first = text.byte(at: 0)
        for at in start...(bytes.byteCount - length) where bytes.byte(at: at) == first {
            if bytes.extracting(at..<at + length).equals(text) { return at }
        }
        return nil
    }
}
