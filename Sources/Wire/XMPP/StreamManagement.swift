public import Basics

/// XEP-0198: what both sides have handled, and streams that outlive their connection (ccs-xmpp 1.15).
public enum StreamManagement {
    /// What a client sends.
    public enum Request: Sendable, Equatable {
        /// `<enable/>`; whether it may want to resume the stream.
        case enable(resumes: Bool)
        /// `<resume/>`: the stream's id and how many of our stanzas it has; nil where that is no number.
        case resume(id: String, handled: UInt32?)
        /// `<r/>`: how many of its stanzas have we handled?
        case request
        /// `<a/>`: it has handled so many of ours; nil where that is no number.
        case answer(handled: UInt32?)

        /// Reads an element of the namespace; nil for any other element.
        public init?(_ element: Element) {
            guard element.namespace == Namespace.streamManagement else { return nil }
            let handled = element["h"].flatMap { UInt32($0) }
            switch element.name {
            case "enable": self = .enable(resumes: ["true", "1"].contains(element["resume"]))
            case "resume": self = .resume(id: element["previd"] ?? "", handled: handled)
            case "r": self = .request
            case "a": self = .answer(handled: handled)
            default: return nil
            }
        }
    }

    /// Why a request failed; the raw value is the element's name.
    public enum Failure: String, Sendable, CaseIterable {
        /// It is not the time for it.
        case unexpectedRequest = "unexpected-request"
        /// There is no such stream, or no longer.
        case itemNotFound = "item-not-found"
        /// It makes no sense.
        case badRequest = "bad-request"

        /// Appends the failure.
        public func append(to buffer: inout ByteBuffer) {
            buffer.append("<failed xmlns=\"urn:xmpp:sm:3\"><")
            buffer.append(text: rawValue)
            buffer.append(" xmlns=\"urn:ietf:params:xml:ns:xmpp-stanzas\"/></failed>")
        }
    }

    /// Appends the consent; without an id the stream cannot be resumed.
    public static func appendEnabled(id: String?, seconds: Int, to buffer: inout ByteBuffer) {
        buffer.append("<enabled xmlns=\"urn:xmpp:sm:3\"")
        if let id {
            buffer.append(" id=\"")
            buffer.appendAttribute(id)
            buffer.append("\" resume=\"true\" max=\"")
            buffer.append(decimal: seconds)
            buffer.append("\"")
        }
        buffer.append("/>")
    }

    /// Appends the news that a stream goes on.
    public static func appendResumed(id: String, handled: UInt32, to buffer: inout ByteBuffer) {
        buffer.append("<resumed xmlns=\"urn:xmpp:sm:3\" previd=\"")
        buffer.appendAttribute(id)
        buffer.append("\" h=\"")
        buffer.append(decimal: UInt64(handled))
        buffer.append("\"/>")
    }

    /// Appends the question how many stanzas the client has handled.
    public static func appendRequest(to buffer: inout ByteBuffer) {
        buffer.append("<r xmlns=\"urn:xmpp:sm:3\"/>")
    }

    /// Appends how many stanzas of the client we have handled.
    public static func appendAnswer(handled: UInt32, to buffer: inout ByteBuffer) {
        buffer.append("<a xmlns=\"urn:xmpp:sm:3\" h=\"")
        buffer.append(decimal: UInt64(handled))
        buffer.append("\"/>")
    }

    /// Appends the stream error for a client that has more of our stanzas than we sent.
    public static func appendHandledTooHigh(_ handled: UInt32, sent: UInt32, to buffer: inout ByteBuffer) {
        buffer.append(
            """
            <stream:error><undefined-condition xmlns="urn:ietf:params:xml:ns:xmpp-streams"/>\
            <handled-count-too-high xmlns="urn:xmpp:sm:3" h="
            """)
        buffer.append(decimal: UInt64(handled))
        buffer.append("\" send-count=\"")
        buffer.append(decimal: UInt64(sent))
        buffer.append("\"/></stream:error>")
    }
}
