public import Basics

/// The conditions of stream errors; the raw value is the element's name (ccs-xmpp 1.11).
public enum StreamCondition: String, Sendable, CaseIterable {
    case badFormat = "bad-format"
    case badNamespacePrefix = "bad-namespace-prefix"
    case conflict = "conflict"
    case connectionTimeout = "connection-timeout"
    case internalServerError = "internal-server-error"
    case invalidFrom = "invalid-from"
    case invalidNamespace = "invalid-namespace"
    case invalidXML = "invalid-xml"
    case notAuthorized = "not-authorized"
    case policyViolation = "policy-violation"
    case reset = "reset"
    case resourceConstraint = "resource-constraint"
    case restrictedXML = "restricted-xml"
    case systemShutdown = "system-shutdown"
    case undefinedCondition = "undefined-condition"
    case unsupportedEncoding = "unsupported-encoding"
    case unsupportedStanzaType = "unsupported-stanza-type"
    case unsupportedVersion = "unsupported-version"

    /// Appends the error without the end tag of the stream, which must follow in a TLS record of its own.
    ///
    /// If the server's header was not sent yet, it must precede the error (RFC 6120, 4.9.1.2).
    public func append(to buffer: inout ByteBuffer) {
        buffer.append("<stream:error><")
        buffer.append(text: rawValue)
        buffer.append(" xmlns=\"urn:ietf:params:xml:ns:xmpp-streams\"/></stream:error>")
    }
}
