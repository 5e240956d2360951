public import Basics

/// The header of a stream, as the client sent it (ccs-xmpp 1.3).
public struct StreamHeader: Sendable, Equatable {
    /// The requested domain, verbatim; clients also send strings that are not domains.
    public var to: String?
    /// The client's own JID; few clients send it.
    public var from: String?
    /// The version as sent; a major part above 1 has already been refused.
    public var version: String?
    /// `xml:lang`.
    public var language: String?
    /// The default namespace of the stream: `jabber:client` with all known clients, or empty if none is declared.
    public var defaultNamespace: String

    /// Reads the root element.
    init(_ root: Element, defaultNamespace: String) {
        to = root["to"]
        from = root["from"]
        version = root["version"]
        language = root.attributes.first { $0.name == "lang" && $0.namespace == Namespace.xml }?.value
        self.defaultNamespace = defaultNamespace
    }

    /// The major part of the version, or `nil` if there is no version or it is not a number.
    var majorVersion: Int? {
        guard let major = version?.split(separator: ".", omittingEmptySubsequences: false).first,
            !major.isEmpty, major.utf8.allSatisfy({ $0 &- 0x30 < 10 })
        else { return nil }
        return Int(major) ?? .max
    }

    /// Returns the `from` of the answer: the requested name if it can be a domain, otherwise the default (ccs-xmpp 1.3).
    public func answerDomain(orElse defaultDomain: String) -> String {
        guard let to, (1...Limits.AppServer.resourceBytes).contains(to.utf8.count),
            to.utf8.allSatisfy({ byte in
                (byte | 0x20) &- 0x61 < 26 || byte &- 0x30 < 10 || ".-:[]_".utf8.contains(byte)
            })
        else { return defaultDomain }
        return to
    }

    /// Appends the server's header with the attribute order and quotes of the real service; `id` must be unique for each header.
    public static func appendAnswer(from domain: String, id: UInt64, to buffer: inout ByteBuffer) {
        buffer.append("<stream:stream from=\"")
        buffer.appendAttribute(domain)
        buffer.append("\" id=\"")
        Hex.appendUpper(id, to: &buffer)
        buffer.append(
            "\" version=\"1.0\" xmlns:stream=\"http://etherx.jabber.org/streams\" xmlns=\"jabber:client\">")
    }

    /// Appends the end tag of the server's stream.
    public static func appendEnd(to buffer: inout ByteBuffer) { buffer.append("</stream:stream>") }
}
