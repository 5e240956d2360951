/// Why a connection ended.
///
/// The raw value is the word in logs, metrics, `ccsctl` and the docs.
public enum CloseReason: String, LabelWord, Sendable {
    // Caused by the peer.
    case peerClosed = "peer_closed"
    case peerReset = "peer_reset"
    case peerEndedStream = "peer_ended_stream"
    case connectFailed = "connect_failed"
    // Deadlines and pace.
    case handshakeDeadline = "handshake_deadline"
    case loginDeadline = "login_deadline"
    case requestDeadline = "request_deadline"
    case slowRequest = "slow_request"
    case frameDeadline = "frame_deadline"
    case idle = "idle"
    case deadPeer = "dead_peer"
    case slowConsumer = "slow_consumer"
    // What the peer sent.
    case proxyHeader = "proxy_header"
    case handshakeFailed = "handshake_failed"
    case invalidXML = "invalid_xml"
    case restrictedXML = "restricted_xml"
    case unsupportedEncoding = "unsupported_encoding"
    case protocolViolation = "protocol_violation"
    case tooLarge = "too_large"
    case flood = "flood"
    case tooManyLogins = "too_many_logins"
    case loginRefused = "login_refused"
    case notAuthorized = "not_authorized"
    // Decided by the server.
    case replacedByNewerLogin = "replaced_by_newer_login"
    case streamResumed = "stream_resumed"
    case tooManyUnacknowledged = "too_many_unacknowledged"
    case tooManyConnections = "too_many_connections"
    case connectionDraining = "connection_draining"
    case systemShutdown = "system_shutdown"
    case credentialsRevoked = "credentials_revoked"
    case senderSuspended = "sender_suspended"
    case deviceForgotten = "device_forgotten"
    case operatorRequest = "operator_request"
    case responseComplete = "response_complete"
    case storeFailed = "store_failed"
    case storeDamaged = "store_damaged"
    case ownerChanged = "owner_changed"
    case internalError = "internal_error"
}
