public import Basics

extension CloseReason {
    /// What it means, and what an operator can do where there is something to do.
    public var meaning: String {
        switch self {
        case .peerClosed: "The peer closed the connection in good order."
        case .peerReset: "The connection broke: network, power or process of the peer."
        case .peerEndedStream: "The peer ended its stream first, as it should."
        case .connectFailed: "A connection that ccsd opened itself could not be made."
        case .handshakeDeadline:
            "The TLS handshake was not over in \(Limits.Login.handshakeDeadlineSeconds) seconds."
        case .loginDeadline: "No login in time (login_deadline_seconds)."
        case .requestDeadline:
            "An HTTP request took longer than \(Limits.HTTP.requestDeadlineSeconds) seconds to arrive."
        case .slowRequest:
            "The body of an HTTP request came slower than \(Limits.HTTP.bodyBytesPerSecond) bytes a second."
        case .frameDeadline:
            "A device began a frame and did not end it in \(Limits.MCS.frameDeadlineSeconds) seconds."
        case .idle: "A kept HTTP connection asked nothing for \(Limits.HTTP.requestIdleSeconds) seconds."
        case .deadPeer: "The peer answered no ping and sent nothing: its link is gone."
        case .slowConsumer:
            "The peer did not read: \(Limits.Connection.outboundBytes) bytes waited, or \(Limits.Connection.writeDeadlineSeconds) seconds passed."
        case .proxyHeader:
            "A connection from an address in proxy_protocol_from did not start with a PROXY header (version 1 or 2): let the proxy send one, or take its address out."
        case .handshakeFailed:
            "The TLS handshake failed: see the log; often the client does not trust the certificate."
        case .invalidXML: "What came is not well-formed XML."
        case .restrictedXML: "The XML has what XMPP forbids: comments, instructions, DTDs or entities."
        case .unsupportedEncoding: "The stream is not UTF-8."
        case .protocolViolation: "The peer broke the protocol."
        case .tooLarge: "A stanza, frame or request was over its limit."
        case .flood:
            "The HTTP/2 peer sent what only an attack sends: resets, pings or empty frames without measure, or a header bomb."
        case .tooManyLogins:
            "Too many failed logins: \(Limits.Login.attemptsPerConnection) on one connection, failed_logins_per_minute of one identity from one address, or failed_logins_per_address."
        case .loginRefused: "The device's login was refused: unknown device or wrong security token."
        case .notAuthorized: "The app server's credentials are wrong: sender ID or key."
        case .streamResumed: "The app server goes on with the stream on another connection."
        case .replacedByNewerLogin: "The same device logged in again; the newest connection wins."
        case .tooManyUnacknowledged:
            "The device acknowledged nothing for too long; it is to come again with its list."
        case .tooManyConnections:
            "The sender has \(Limits.AppServer.connectionsPerSender) connections already, or the address anonymous_per_address that did not log in."
        case .connectionDraining: "A drain: the peer was told and is to connect again."
        case .systemShutdown: "The daemon stops."
        case .credentialsRevoked: "The sender or its key was removed."
        case .deviceForgotten: "An operator made the server forget the device."
        case .operatorRequest: "An operator closed it."
        case .responseComplete: "The HTTP answer was the last on this connection."
        case .storeFailed: "The store failed: see the log; disk full?"
        case .internalError: "A fault of ours: please report it with the log."
        }
    }
}
