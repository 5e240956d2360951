import Basics
import Wire

/// The description that a NATS server sends first, and again when something changes (`INFO`).
public struct NATSServerInfo: Hashable, Sendable {
    /// The name of the server.
    public var name: String
    /// The version of the server.
    public var version: String
    /// The name of the server's cluster; empty without one.
    public var cluster: String
    /// Bytes of the longest message that may be published.
    public var maximumPayload: Int
    /// Whether JetStream is on in this server.
    public var hasJetStream: Bool
    /// Whether the server shuts down soon (lame duck mode).
    public var isLeaving: Bool
    /// What a login with a key signs.
    var nonce: [UInt8]?
    /// Whether the server requires TLS, and whether it offers TLS.
    var requiresTLS: Bool
    var offersTLS: Bool
    /// Whether messages may have headers, which JetStream needs.
    var hasHeaders: Bool

    /// Reads a description.
    init(parsing text: [UInt8]) throws(NATSFailure) {
        guard let object = try? JSONValue(parsing: text.raw), object.members != nil else {
            throw .badDescription("expected a JSON object")
        }
        func word(_ key: String) -> String {
            Printable.text(object[key]?.text ?? "", limit: Limits.NATS.errorCharacters)
        }
        name = word("server_name").isEmpty ? word("server_id") : word("server_name")
        version = word("version")
        cluster = word("cluster")
        guard let maximum = object["max_payload"]?.integer, maximum > 0 else {
            throw .badDescription("expected max_payload, a number of bytes above 0")
        }
        maximumPayload = maximum
        hasJetStream = object["jetstream"]?.boolean ?? false
        isLeaving = object["ldm"]?.boolean ?? false
        requiresTLS = object["tls_required"]?.boolean ?? false
        offersTLS = requiresTLS || object["tls_available"]?.boolean ?? false
        hasHeaders = object["headers"]?.boolean ?? false
        nonce = object["nonce"]?.text.map { Array($0.utf8) }
        guard nonce?.count ?? 0 <= Limits.NATS.nonceBytes else {
            throw .badDescription("expected a nonce of up to \(Limits.NATS.nonceBytes) bytes")
        }
    }
}
