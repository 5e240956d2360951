public import Basics
import Wire

/// What an app server hears from the server.
public enum AppServerEvent: Sendable {
    /// Logged in and bound: messages may be sent. The full JID.
    case ready(jid: String)
    /// The login failed; the condition of SASL. The server then waits for another try, which is not made.
    case loginFailed(condition: String)
    /// The server took a message; the token that replaced the one used, if there is one.
    case acknowledged(messageID: [UInt8], canonical: [UInt8]?)
    /// The server refused a message.
    case refused(messageID: [UInt8], error: String, description: String)
    /// The server could not read a message: the text of the stanza error.
    case stanzaError(id: String, text: String)
    /// A device's message.
    case upstream(ReceivedUpstream)
    /// The receipt of a message that asked for one.
    case receipt(ReceivedUpstream)
    /// `CONNECTION_DRAINING`: open another connection, and keep acknowledging on this one.
    case draining
    /// The stream broke; the condition of the stream error.
    case streamError(condition: String)
    /// The server ended the stream; the connection ends next.
    case streamEnded
    /// Something that is understood by none of the above; a name for it.
    case unexpected(String)
    /// The connection is gone, always the last event; the words of the system or of OpenSSL, where there are any.
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
    /// `time_to_live` in seconds; nil where it is absent.
    public var lifetimeSeconds: Int?
    /// `data`, as JSON.
    public var data: [UInt8] = []

    /// A message without content.
    public init() {}

    /// The members of `data`, those that are strings.
    public var pairs: [(key: String, value: String)] {
        guard let members = (try? JSONValue(parsing: data.raw))?.members else { return [] }
        return members.compactMap { member in member.value.text.map { (member.key, $0) } }
    }

    /// Appends the JSON that acknowledges it.
    public func appendAcknowledgement(to buffer: inout ByteBuffer) {
        buffer.append("{\"to\":")
        JSONText.append(from, to: &buffer)
        buffer.append(",\"message_id\":")
        JSONText.append(messageID, to: &buffer)
        buffer.append(",\"message_type\":\"ack\"}")
    }

    /// A member of `data` that is a string.
    public subscript(key: String) -> String? { pairs.first { $0.key == key }?.value }
}
