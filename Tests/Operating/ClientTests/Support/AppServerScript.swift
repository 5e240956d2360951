/// A scripted server for app servers, each on a connection of its own.
public final class AppServerScript {
    private var connection = 0
    private var turn = 0
    /// Called when bytes have arrived, with the number of times on this connection.
    public var onTurn: (Int) -> Void = { _ in }
    /// Returns the answer after the login; `nil` closes the connection.
    public var answer: (String) -> String?

    /// Creates a script with the answer to what comes after the login.
    public init(_ answer: @escaping (String) -> String?) { self.answer = answer }

    /// Returns the answer to bytes of an app server; `nil` closes the connection.
    public func respond(_ bytes: [UInt8], _ server: ScriptedServer) -> [UInt8]? {
        if server.accepted != connection { (connection, turn) = (server.accepted, 0) }
        turn += 1
        onTurn(turn)
        let login = [
            Self.header + Self.mechanisms, Self.success,
            Self.header + Self.features, Self.bound,
        ]
        guard turn > login.count else { return Array(login[turn - 1].utf8) }
        return answer(String(decoding: bytes, as: UTF8.self)).map { Array($0.utf8) }
    }

    /// The header of the server's stream.
    public static let header =
        "<stream:stream from=\"gcm.googleapis.com\" id=\"AF8BB607948BF55F\" version=\"1.0\" xmlns:stream=\"http://etherx.jabber.org/streams\" xmlns=\"jabber:client\">"
    /// The features before the login.
    public static let mechanisms =
        "<stream:features><mechanisms xmlns=\"urn:ietf:params:xml:ns:xmpp-sasl\"><mechanism>X-OAUTH2</mechanism><mechanism>PLAIN</mechanism></mechanisms></stream:features>"
    /// The answer to a right login.
    public static let success = "<success xmlns=\"urn:ietf:params:xml:ns:xmpp-sasl\"/>"
    /// The features after the login.
    public static let features =
        "<stream:features><bind xmlns=\"urn:ietf:params:xml:ns:xmpp-bind\"/><session xmlns=\"urn:ietf:params:xml:ns:xmpp-session\"/></stream:features>"
    /// The answer to the bind request.
    public static let bound =
        "<iq type=\"result\" id=\"bind\"><bind xmlns=\"urn:ietf:params:xml:ns:xmpp-bind\"><jid>1234567890@gcm.googleapis.com/test0FAD177A</jid></bind></iq>"

    /// A stanza for an app server.
    public static func answer(_ json: String) -> String {
        "<message><data:gcm xmlns:data=\"google:mobile:data\">\(json)</data:gcm></message>"
    }

    /// A stanza from a device.
    public static func upstream(_ json: String) -> String {
        "<message to=\"1234567890@gcm.googleapis.com\" from=\"devices@gcm.googleapis.com\" type=\"normal\"><gcm xmlns=\"google:mobile:data\">\(json)</gcm></message>"
    }
}
