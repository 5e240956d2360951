public import Basics

/// XEP-0198: acknowledgement of stanzas, and resumption of streams on another connection (ccs-xmpp 1.15).
public enum StreamManagement {
    /// An element that a client sends.
    public enum Request: Sendable, Equatable {
        /// `<enable/>`; `resumes` requests a resumable stream.
        case enable(resumes: Bool)
        /// `<resume/>`: the stream's ID and the client's count of handled stanzas, `nil` if that is not a number.
        case resume(id: String, handled: UInt32?)
        /// `<r/>`: requests the server's count of handled stanzas.
        case request
        /// `<a/>`: the client's count of handled stanzas, `nil` if that is not a number.
        case answer(handled: UInt32?)

        /// Reads an element of the namespace. Returns `nil` for any other element.
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
        /// The request is not allowed in this state.
        case unexpectedRequest = "unexpected-request"
        /// The stream does not exist or has expired.
        case itemNotFound = "item-not-found"
        /// The request is malformed.
        case badRequest = "bad-request"

        /// Appends the failure.
        public func append(to buffer: inout ByteBuffer) {
            buffer.append("<failed xmlns=\"urn:xmpp:sm:3\"><")
            buffer.append(text: rawValue)
            buffer.append(" xmlns=\"urn:ietf:params:xml:ns:xmpp-stanzas\"/></failed>")
        }
    }

    /// Appends `<enabled/>`; without an ID the stream cannot be resumed.
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

    /// Appends `<resumed/>` with the server's count of handled stanzas.
    public static func appendResumed(id: String, handled: UInt32, to buffer: inout ByteBuffer) {
        buffer.append("<resumed xmlns=\"urn:xmpp:sm:3\" previd=\"")
        buffer.appendAttribute(id)
        buffer.append("\" h=\"")
        buffer.append(decimal: UInt64(handled))
        buffer.append("\"/>")
    }

    /// Appends the request for the client's count of handled stanzas.
    public static func appendRequest(to buffer: inout ByteBuffer) {
        buffer.append("<r xmlns=\"urn:xmpp:sm:3\"/>")
    }

    /// Appends the server's count of handled stanzas.
    public static func appendAnswer(handled: UInt32, to buffer: inout ByteBuffer) {
        buffer.append("<a xmlns=\"urn:xmpp:sm:3\" h=\"")
        buffer.append(decimal: UInt64(handled))
        buffer.append("\"/>")
    }

    /// Appends the stream error for a client that acknowledges more stanzas than were sent.
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
