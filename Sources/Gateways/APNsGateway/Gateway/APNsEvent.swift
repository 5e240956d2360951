public import Basics
public import Delivery
public import Wire

/// Turns a delivery into a request, or refuses it without asking Apple.
public typealias APNsMapping =
    @Sendable (GatewayDelivery, UnixMilliseconds) throws(APNsRefusal) -> APNsRequest

/// What an operator configures about the gateway.
public struct APNsSettings: Sendable {
    /// Connections of one credential in one environment at most.
    public var connections: Int
    public var mapping: APNsMapping

    /// Creates settings.
    public init(connections: Int = Limits.APNsGateway.connections, mapping: @escaping APNsMapping) {
        self.connections = max(1, connections)
        self.mapping = mapping
    }
}

/// Why a connection could not be opened.
public enum APNsOpenFailure: String, Sendable, CaseIterable {
    /// The name has no address, no address answers, or it takes too long.
    case unreachable
    /// The server's certificate is not trusted.
    case untrusted
    /// The server refused the client certificate, perhaps only after the connection had opened.
    case credentialRefused = "credential_refused"
    /// The other end does not speak HTTP/2.
    case notHTTP2 = "not_http2"
}

/// What the shell reports to the gateway.
public enum APNsEvent: Sendable {
    case deliver(GatewayDelivery)
    /// All credentials, in place of those known before.
    case credentials([APNsCredential])
    case settings(APNsSettings)
    /// The connection is ready for requests.
    case opened(APNsConnectionID)
    case openFailed(APNsConnectionID, APNsOpenFailure)
    /// The server allows this many requests beyond those that the gateway has sent, now that all earlier events of the connection
    /// have been reported. Negative if it allows fewer.
    case streams(APNsConnectionID, available: Int)
    case answered(APNsConnectionID, requestNumber: UInt64, APNsAnswer)
    case failed(APNsConnectionID, requestNumber: UInt64, HTTP2RequestFailure)
    /// A request was not sent, since the lease of its partition was over when it was to be written.
    case unsent(APNsConnectionID, requestNumber: UInt64)
    /// The connection accepts no more requests; `reason` is the debug data of GOAWAY. Those that Apple has not processed are then
    /// reported as failed in the order in which they were sent.
    case leaving(APNsConnectionID, reason: [UInt8])
    /// The connection has ended; nothing more follows about it.
    case closed(APNsConnectionID)
    /// A provider token was signed; `at` is the time in it.
    case minted(APNsCredentialID, token: [UInt8], at: UnixMilliseconds)
    case tick
    /// Everything that waits is answered with `later`, and what is in flight has ten seconds.
    case drain
}
