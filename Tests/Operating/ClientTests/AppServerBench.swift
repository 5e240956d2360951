import Basics
import Client
import ClientProtocol
import Testing

/// An app server's machine with its output and events.
final class AppServerBench {
    var machine: AppServerMachine
    var out = Outbox()
    var events: [AppServerEvent] = []

    init(acknowledges: Bool = true) {
        var login = AppServerLogin(sender: SenderID(1_234_567_890), key: Redacted(Array("KEY".utf8)))
        login.acknowledges = acknowledges
        login.resource = "test"
        machine = AppServerMachine(login: login)
    }

    /// Passes bytes from the server in pieces of `step`. Returns the output.
    @discardableResult
    func receive(_ text: String, step: Int = .max) -> String {
        let bytes = Array(text.utf8)
        var at = 0
        while at < bytes.count {
            let end = step >= bytes.count - at ? bytes.count : at + step
            let piece = Array(bytes[at..<end])
            machine.receive(piece.raw, out: &out, events: &events)
            at = end
        }
        return sent()
    }

    func sent() -> String {
        defer { out.removeAll() }
        return String(decoding: out.bytes.copied(), as: UTF8.self)
    }

    static let header =
        "<stream:stream from=\"gcm.googleapis.com\" id=\"AF8BB607948BF55F\" version=\"1.0\" xmlns:stream=\"http://etherx.jabber.org/streams\" xmlns=\"jabber:client\">"
    static let mechanisms =
        "<stream:features><mechanisms xmlns=\"urn:ietf:params:xml:ns:xmpp-sasl\"><mechanism>X-OAUTH2</mechanism><mechanism>PLAIN</mechanism></mechanisms></stream:features>"
    static let success = "<success xmlns=\"urn:ietf:params:xml:ns:xmpp-sasl\"/>"
    static let features =
        "<stream:features><bind xmlns=\"urn:ietf:params:xml:ns:xmpp-bind\"/><session xmlns=\"urn:ietf:params:xml:ns:xmpp-session\"/></stream:features>"
    static let bound =
        "<iq type=\"result\" id=\"bind\"><bind xmlns=\"urn:ietf:params:xml:ns:xmpp-bind\"><jid>1234567890@gcm.googleapis.com/test0FAD177A</jid></bind></iq>"
    static let ownHeader =
        "<stream:stream to=\"gcm.googleapis.com\" version=\"1.0\" xmlns=\"jabber:client\" xmlns:stream=\"http://etherx.jabber.org/streams\">"

    /// Completes the login.
    func logIn(step: Int = .max) {
        machine.open(out: &out)
        receive(Self.header + Self.mechanisms, step: step)
        receive(Self.success, step: step)
        receive(Self.header + Self.features, step: step)
        receive(Self.bound, step: step)
    }

    static func answer(_ json: String) -> String {
        "<message><data:gcm xmlns:data=\"google:mobile:data\">\(json)</data:gcm></message>"
    }

    static func upstream(_ json: String) -> String {
        "<message to=\"1234567890@gcm.googleapis.com\" from=\"devices@gcm.googleapis.com\" type=\"normal\"><gcm xmlns=\"google:mobile:data\">\(json)</gcm></message>"
    }
}
