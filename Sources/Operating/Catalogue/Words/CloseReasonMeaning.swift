public import Basics

extension CloseReason {
    /// The meaning, with advice to the operator where there is any.
    public var meaning: String {
        switch self {
        case .peerClosed: "The peer closed the connection properly."
        case .peerReset: "The connection broke: the peer's network, power or process failed."
        case .peerEndedStream: "The peer ended its stream first, as it should."
        case .connectFailed: "ccsd could not open an outgoing connection."
        case .handshakeDeadline:
            "The TLS handshake took longer than \(Limits.Login.handshakeDeadlineSeconds) seconds."
        case .loginDeadline: "The peer did not log in within login_deadline_seconds."
        case .requestDeadline:
            "An HTTP request took longer than \(Limits.HTTP.requestDeadlineSeconds) seconds to arrive."
        case .slowRequest:
            "The body of an HTTP request arrived at less than \(Limits.HTTP.bodyBytesPerSecond) bytes per second."
        case .frameDeadline:
            "A device started a frame and did not finish it within \(Limits.MCS.frameDeadlineSeconds) seconds."
        case .idle:
            "A keep-alive HTTP connection had no request for \(Limits.HTTP.requestIdleSeconds) seconds."
        case .deadPeer: "The peer sent nothing and did not answer a ping: its link is dead."
        case .slowConsumer:
            "The peer did not read its output: \(Limits.Connection.outboundBytes) bytes were waiting, or \(Limits.Connection.writeDeadlineSeconds) seconds passed."
        case .proxyHeader:
            "A connection from an address in proxy_protocol_from did not start with a PROXY header (version 1 or 2): configure the proxy to send one, or remove its address from the list."
        case .handshakeFailed:
            "The TLS handshake failed, often because the client does not trust the certificate: see the log."
        case .invalidXML: "The input is not well-formed XML."
        case .restrictedXML:
            "The XML has comments, processing instructions, DTDs or entities, which XMPP forbids."
        case .unsupportedEncoding: "The stream is not UTF-8."
        case .protocolViolation: "The peer violated the protocol."
        case .tooLarge: "A stanza, frame or request was over its limit."
        case .flood:
            "The HTTP/2 peer sent an attack pattern: a flood of resets, pings or empty frames, or a header bomb."
        case .tooManyLogins:
            "Too many failed logins: \(Limits.Login.attemptsPerConnection) on one connection, or a wrong secret beyond failed_logins_per_minute of one identity from one address, or beyond failed_logins_per_address."
        case .loginRefused: "The device's login was refused: unknown device, or wrong security token."
        case .notAuthorized: "The app server's credentials are wrong: sender ID or key."
        case .streamResumed: "The app server resumed the stream on another connection."
        case .replacedByNewerLogin:
            "The same device logged in again on a newer connection, which replaces this one."
        case .tooManyUnacknowledged:
            "The device left too many messages unacknowledged; it must reconnect and acknowledge them at its login."
        case .tooManyConnections:
            "The sender already has \(Limits.AppServer.connectionsPerSender) connections, or this connection was the oldest without a login when anonymous_per_address or before_login_bytes was reached."
        case .connectionDraining: "A drain: the peer was notified and should connect again."
        case .systemShutdown: "The daemon is shutting down."
        case .credentialsRevoked: "The sender or its key was removed, or the key has expired."
        case .senderSuspended: "An operator suspended the sender (ccsctl senders suspend)."
        case .deviceForgotten: "An operator removed the device (ccsctl devices forget)."
        case .operatorRequest: "An operator closed it."
        case .responseComplete: "The HTTP response was the last on this connection."
        case .ownerChanged:
            "Another node of the cluster serves the device or sender from now on: the peer connects again."
        case .storeFailed: "The store failed, for example because the disk is full: see the log."
        case .storeDamaged:
            "What the store holds for the peer cannot be read: a table is damaged (ccsctl health names it)."
        case .internalError: "A bug in ccsd: please report it with the log."
        }
    }
}
