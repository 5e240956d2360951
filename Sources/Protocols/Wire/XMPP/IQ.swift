public import Basics

/// An IQ stanza from a client; the answer repeats its `id` if it has one (ccs-xmpp 1.6 to 1.9).
public struct IQ: Sendable, Equatable {
    /// The type of a request.
    public enum Request: Sendable, Equatable {
        /// Resource binding, with the requested resource.
        case bind(resource: String?)
        /// Session establishment.
        case session
        /// XEP-0199.
        case ping
        /// `result` or `error`: an unexpected answer, which is ignored.
        case answer
        /// Anything else: `service-unavailable`.
        case other
    }

    /// The `id`, repeated in the answer.
    public var id: String?
    /// The addressee, which becomes `from` in the answer.
    public var to: String?
    /// The sender's JID, if given.
    public var from: String?
    /// The request.
    public var request: Request

    /// Reads an `iq` of `jabber:client`. Returns `nil` for any other element.
    public init?(_ element: Element) {
        guard element.matches("iq", Namespace.client) else { return nil }
        id = element["id"]
        to = element["to"]
        from = element["from"]
        let type = element["type"]
        if type == "result" || type == "error" {
            request = .answer
        } else if let bind = element.child("bind", Namespace.bind), type == "set" {
            let resource = bind.child("resource", Namespace.bind)?.text ?? ""
            request = .bind(resource: resource.isEmpty ? nil : resource)
        } else if element.child("session", Namespace.session) != nil, type == "set" {
            request = .session
        } else if element.child("ping", Namespace.ping) != nil, type == "get" {
            request = .ping
        } else {
            request = .other
        }
    }

    /// Appends the empty result of a session request.
    public func appendResult(to buffer: inout ByteBuffer) {
        appendStart("result", to: &buffer)
        buffer.append("/>")
    }

    /// Appends the answer to a ping: `from` is the request's `to`, exactly, or absent (ccs-xmpp 1.9).
    public func appendPong(to jid: String, in buffer: inout ByteBuffer) {
        appendStart("result", to: &buffer)
        Self.append(" from=\"", to, to: &buffer)
        Self.append(" to=\"", jid, to: &buffer)
        buffer.append("/>")
    }

    /// Appends the result of a binding.
    public func appendBound(_ jid: String, to buffer: inout ByteBuffer) {
        appendStart("result", to: &buffer)
        buffer.append("><bind xmlns=\"urn:ietf:params:xml:ns:xmpp-bind\"><jid>")
        buffer.appendText(jid)
        buffer.append("</jid></bind></iq>")
    }

    /// Appends an error: `service-unavailable` for an unknown request, `not-allowed` for a second binding.
    public func appendError(_ condition: StanzaCondition, to buffer: inout ByteBuffer) {
        appendStart("error", to: &buffer)
        Self.append(" from=\"", to, to: &buffer)
        buffer.append("><error type=\"")
        buffer.append(condition.type)
        buffer.append("\"><")
        buffer.append(text: condition.rawValue)
        buffer.append(" xmlns=\"urn:ietf:params:xml:ns:xmpp-stanzas\"/></error></iq>")
    }

    private func appendStart(_ type: StaticString, to buffer: inout ByteBuffer) {
        buffer.append("<iq type=\"")
        buffer.append(type)
        buffer.append("\"")
        Self.append(" id=\"", id, to: &buffer)
    }

    private static func append(_ name: StaticString, _ value: String?, to buffer: inout ByteBuffer) {
        guard let value else { return }
        buffer.append(name)
        buffer.appendAttribute(value)
        buffer.append("\"")
    }
}
