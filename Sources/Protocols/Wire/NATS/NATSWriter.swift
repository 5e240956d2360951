public import Basics

/// What a client sends to a NATS server.
public enum NATSWriter {
    /// How a client logs in. Secrets go only into the buffer.
    public enum Login: Hashable, Sendable {
        /// The server asks for nothing.
        case none
        case password(user: String, password: String)
        case token(String)
        /// The public NKey and the signature of the server's nonce, in Base64 URL without padding.
        case key(nkey: String, signature: String)
        /// The user's JWT, and the signature of the server's nonce.
        case credentials(jwt: String, signature: String)
    }

    /// Appends `CONNECT`, with headers and without verbose mode, so that the server answers only errors.
    public static func connect(
        name: String, login: Login, requiresTLS: Bool = false, to buffer: inout ByteBuffer
    ) {
        var members: [JSONValue.Member] = [
            .init("verbose", false), .init("pedantic", false), .init("tls_required", .boolean(requiresTLS)),
            .init("lang", "swift"), .init("version", "1"), .init("protocol", 1), .init("headers", true),
            .init("no_responders", true), .init("name", .string(name)),
        ]
        switch login {
        case .none: break
        case .password(let user, let password):
            members += [.init("user", .string(user)), .init("pass", .string(password))]
        case .token(let token): members.append(.init("auth_token", .string(token)))
        case .key(let nkey, let signature):
            members += [.init("nkey", .string(nkey)), .init("sig", .string(signature))]
        case .credentials(let jwt, let signature):
            members += [.init("jwt", .string(jwt)), .init("sig", .string(signature))]
        }
        buffer.append("CONNECT ")
        JSONValue.object(members).append(to: &buffer)
        buffer.append("\r\n")
    }

    /// Appends `PUB`. The subjects must be valid (`isSubject`).
    public static func publish(
        _ payload: borrowing RawSpan, to subject: [UInt8], reply: [UInt8]? = nil, in buffer: inout ByteBuffer
    ) {
        precondition(isSubject(subject) && reply.map(isSubject) ?? true, "invalid subject")
        buffer.append("PUB ")
        buffer.append(subject)
        if let reply {
            buffer.append(" ")
            buffer.append(reply)
        }
        buffer.append(" ")
        buffer.append(decimal: payload.byteCount)
        buffer.append("\r\n")
        buffer.append(payload)
        buffer.append("\r\n")
    }

    /// Appends `SUB`.
    public static func subscribe(_ subject: [UInt8], as number: UInt64, to buffer: inout ByteBuffer) {
        precondition(isSubject(subject), "invalid subject")
        buffer.append("SUB ")
        buffer.append(subject)
        buffer.append(" ")
        buffer.append(decimal: number)
        buffer.append("\r\n")
    }

    /// Appends `UNSUB`.
    public static func unsubscribe(_ number: UInt64, to buffer: inout ByteBuffer) {
        buffer.append("UNSUB ")
        buffer.append(decimal: number)
        buffer.append("\r\n")
    }

    /// Appends `PING`.
    public static func ping(to buffer: inout ByteBuffer) { buffer.append("PING\r\n") }

    /// Appends `PONG`.
    public static func pong(to buffer: inout ByteBuffer) { buffer.append("PONG\r\n") }

    /// Whether bytes are a subject that can be sent: printable ASCII in tokens between dots, without blanks.
    public static func isSubject(_ subject: [UInt8]) -> Bool {
        guard (1...Limits.NATS.subjectBytes).contains(subject.count) else { return false }
        let tokens = subject.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return tokens.allSatisfy { !$0.isEmpty && $0.allSatisfy { (0x21...0x7E).contains($0) } }
    }
}
