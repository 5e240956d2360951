public import Basics
public import Transport

/// What a `NodeLinkHost` reports, in the order in which it happened.
public enum LinkReport: Sendable {
    /// There is a link to a node: parcels can be sent.
    case up(NodeNumber, Incarnation)
    /// The link to a node is gone, with all that waited for it and was not answered.
    case down(NodeNumber, LinkFailure)
    /// Parcels of a node, in order.
    case received(NodeNumber, [[UInt8]])
    /// Something has happened to a bulk copy. After `down`, all copies from and to the node are over.
    case stream(NodeNumber, LinkStreamEvent)
    /// A node was dialled in vain; it is dialled again.
    case unlinked(NodeNumber, LinkFailure)
    /// A connection was refused before there was a link.
    case refused(SocketAddress, LinkFailure)
}

/// A link, for the status.
public struct LinkStatus: Hashable, Sendable {
    /// The node, and the process at the other end.
    public var node: NodeNumber
    public var incarnation: Incarnation
    /// Where its connection comes from or goes to.
    public var address: SocketAddress
    /// Bytes that wait for it.
    public var queuedBytes: Int
    /// The time until it answered the last ping, in microseconds.
    public var roundTripMicroseconds: Int64?
}

/// How a node proves to others what it is.
public struct LinkCredentials: Sendable {
    /// The file (PEM) of the authority of the cluster.
    public var authorityFile: String
    /// The certificate of the node (PEM), and its key.
    public var chain: [UInt8]
    public var key: Redacted<[UInt8]>

    /// Creates credentials; `NodeLinkHost` checks them.
    public init(authorityFile: String, chain: [UInt8], key: Redacted<[UInt8]>) {
        self.authorityFile = authorityFile
        self.chain = chain
        self.key = key
    }

    func client() throws(TransportError) -> TLSClientSettings {
        try TLSClientSettings(
            trust: .file(authorityFile),
            identity: TLSClientSettings.Identity(chain: chain, key: key.revealed))
    }

    func server() throws(TransportError) -> TLSServerContext {
        var settings = TLSServerSettings()
        settings.minimum = .tls13
        settings.clientAuthorities = try SmallFile.read(authorityFile)
        return try TLSServerContext(chain: chain, key: key.revealed, settings: settings)
    }
}
