public import Basics

/// The header of a stream, as the client sent it (ccs-xmpp 1.3).
public struct StreamHeader: Sendable, Equatable {
    /// The domain asked for, verbatim; clients send strings that are no domain.
    public var to: String?
    /// The sender's own JID; a few clients send it.
    public var from: String?
    /// Version, as sent; a major part above 1 never gets here.
    public var version: String?
    /// `xml:lang`.
    public var language: String?
    /// Default namespace of the stream; `jabber:client` with all known clients, empty if none is declared.
    public var defaultNamespace: String

    /// Reads the root element.
    init(_ root: Element, defaultNamespace: String) {
        to = root["to"]
        from = root["from"]
        version = root["version"]
        language = root.attributes.first { $0.name == "lang" && $0.namespace == Namespace.xml }?.value
        self.defaultNamespace = defaultNamespace
    }

    /// The part of the version before the point; nil if there is no version or it is no number.
    var majorVersion: Int? {
        guard let major = version?.split(separator: ".", omittingEmptySubsequences: false).first,
            !major.isEmpty, major.utf8.allSatisfy({ $0 &- 0x30 < 10 })
        else { return nil }
        return Int(major) ?? .max
    }

    /// The name to answer with: what was asked for if it can be a domain, else the default (ccs-xmpp 1.3).
    public func answerDomain(orElse defaultDomain: String) -> String {
        guard let to, (1...Limits.AppServer.resourceBytes).contains(to.utf8.count),
            to.utf8.allSatisfy({ byte in
                (byte | 0x20) &- 0x61 < 26 || byte &- 0x30 < 10 || ".-:[]_".utf8.contains(byte)
            })
        else { return defaultDomain }
        return to
    }

    /// Appends our header: attribute order and quotes as the real service has them; `id` must be fresh for every header.
    public static func appendAnswer(from domain: String, id: UInt64, to buffer: inout ByteBuffer) {
        buffer.append("<stream:stream from=\"")
        buffer.appendAttribute(domain)
        buffer.append("\" id=\"")
        Hex.appendUpper(id, to: &buffer)
        buffer.append(
            "\" version=\"1.0\" xmlns:stream=\"http://etherx.jabber.org/streams\" xmlns=\"jabber:client\">")
    }

    /// Appends the end tag of our stream.
    public static func appendEnd(to buffer: inout ByteBuffer) { buffer.append("</stream:stream>") }
}
