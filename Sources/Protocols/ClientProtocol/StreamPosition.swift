/// How far an app server's managed stream has come (XEP-0198; ccs-xmpp 1.15): what is needed to resume it on another connection.
public struct StreamPosition: Sendable, Equatable {
    /// The ID of the stream; `nil` until the server has enabled it.
    public internal(set) var id: String?
    /// The JID that the stream is bound to.
    public internal(set) var jid = ""
    /// Stanzas sent since the request to enable the stream.
    public internal(set) var sent: UInt32 = 0
    /// Stanzas received since the server enabled it.
    public internal(set) var received: UInt32 = 0

    /// Creates the position of a stream that is not enabled yet.
    init(jid: String) { self.jid = jid }
}
