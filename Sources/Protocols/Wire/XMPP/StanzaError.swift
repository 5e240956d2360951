public import Basics

/// The conditions of stanza errors that CCS sends; the raw value is the element's name (ccs-xmpp 3.5).
public enum StanzaCondition: String, Sendable, CaseIterable {
    case badRequest = "bad-request"
    case serviceUnavailable = "service-unavailable"
    case notAllowed = "not-allowed"
    case internalServerError = "internal-server-error"
    case resourceConstraint = "resource-constraint"
    case unexpectedRequest = "unexpected-request"

    /// The `type` of the error: what the client may do about it.
    var type: StaticString {
        switch self {
        case .badRequest: "modify"
        case .serviceUnavailable, .notAllowed, .internalServerError: "cancel"
        case .resourceConstraint, .unexpectedRequest: "wait"
        }
    }

    /// The legacy code from before RFC 3920, which the documented example still contains.
    var code: Int {
        switch self {
        case .badRequest, .unexpectedRequest: 400
        case .notAllowed: 405
        case .internalServerError, .resourceConstraint: 500
        case .serviceUnavailable: 503
        }
    }

    /// Appends an error message in answer to a message that cannot be answered by a NACK (ccs-xmpp 3.5).
    ///
    /// `id` is that of the stanza; `payload` is the client's JSON, if any, which is repeated before the error.
    public func appendMessage(
        to jid: String, id: String?, payload: RawSpan?, text: String, to buffer: inout ByteBuffer
    ) {
        buffer.append("<message ")
        if let id {
            buffer.append("id=\"")
            buffer.appendAttribute(id)
            buffer.append("\" ")
        }
        buffer.append("type=\"error\" to=\"")
        buffer.appendAttribute(jid)
        buffer.append("\">")
        if let payload {
            buffer.append("<gcm xmlns=\"google:mobile:data\">")
            buffer.appendText(payload)
            buffer.append("</gcm>")
        }
        buffer.append("<error code=\"")
        buffer.append(decimal: code)
        buffer.append("\" type=\"")
        buffer.append(type)
        buffer.append("\"><")
        buffer.append(text: rawValue)
        buffer.append(" xmlns=\"urn:ietf:params:xml:ns:xmpp-stanzas\"/>")
        if !text.isEmpty {
            buffer.append("<text xmlns=\"urn:ietf:params:xml:ns:xmpp-stanzas\">")
            buffer.appendText(text)
            buffer.append("</text>")
        }
        buffer.append("</error></message>")
    }
}
