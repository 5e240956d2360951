public import Basics
import Wire

/// An event on the stream of an app server.
public enum AppServerEvent: Sendable {
    /// A lost stream was resumed (`AppServerLogin.resumes`); `.ready` follows. Of its stanzas the server has handled this number, and
    /// the rest must be sent again.
    case resumed(handled: UInt32)
    /// The server does not have the stream to resume; a new one is bound, and `.ready` follows.
    case notResumed
    /// Logged in and bound to the full JID: messages may be sent.
    case ready(jid: String)
    /// The login failed with a SASL condition. The server would allow another attempt, but none is made.
    case loginFailed(condition: String)
    /// The server accepted a message; `canonical` is the token that replaces the one used, if any.
    case acknowledged(messageID: [UInt8], canonical: [UInt8]?)
    /// The server refused a message.
    case refused(messageID: [UInt8], error: String, description: String)
    /// The server could not parse a message; `text` is that of the stanza error.
    case stanzaError(id: String, text: String)
    /// A message from a device.
    case upstream(ReceivedUpstream)
    /// The delivery receipt of a message that requested one.
    case receipt(ReceivedUpstream)
    /// `CONNECTION_DRAINING`: open another connection, and keep acknowledging on this one.
    case draining
    /// The stream failed with the condition of a stream error.
    case streamError(condition: String)
    /// The server ended the stream; the end of the connection follows.
    case streamEnded
    /// Any other input, with a description.
    case unexpected(String)
    /// The connection has ended, always the last event; `detail` is the error text of the system or of OpenSSL, if any.
    case closed(CloseReason, detail: String)
}

/// A device's message or a receipt, as an app server receives it (ccs-xmpp 3.6, 4.1).
public struct ReceivedUpstream: Sendable {
    /// `from`: the token of the device, or the domain for a receipt.
    public var from: [UInt8] = []
    /// `message_id`.
    public var messageID: [UInt8] = []
    /// `category`: the app.
    public var category: [UInt8] = []
    /// `time_to_live` in seconds; `nil` if absent.
    public var lifetimeSeconds: Int?
    /// `data`, as JSON.
    public var data: [UInt8] = []

    /// Creates an empty message.
    public init() {}

    /// The members of `data` that are strings.
    public var pairs: [(key: String, value: String)] {
        guard let members = (try? JSONValue(parsing: data.raw))?.members else { return [] }
        return members.compactMap { member in member.value.text.map { (member.key, $0) } }
    }

    /// Appends the JSON that acknowledges the message.
    func appendAcknowledgement(to buffer: inout ByteBuffer) { append(type: "ack", to: &buffer) }

    /// Appends the JSON that refuses the message.
    func appendRefusal(to buffer: inout ByteBuffer) { append(type: "nack", to: &buffer) }

    private func append(type: StaticString, to buffer: inout ByteBuffer) {
        buffer.append("{\"to\":")
        JSONText.append(from, to: &buffer)
        buffer.append(",\"message_id\":")
        JSONText.append(messageID, to: &buffer)
        buffer.append(",\"message_type\":\"")
        buffer.append(type)
        buffer.append("\"}")
    }

    /// A member of `data` that is a string.
    public subscript(key: String) -> String? { pairs.first { $0.key == key }?.value }
}
