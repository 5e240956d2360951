public import Basics

extension MCS {
    /// The decoded message of any frame.
    public enum Message: Sendable, Equatable {
        case heartbeatPing(Heartbeat)
        case heartbeatAck(Heartbeat)
        case loginRequest(LoginRequest)
        case loginResponse(LoginResponse)
        case close(Close)
        case iq(IqStanza)
        case dataMessage(DataMessage)
        case streamError(StreamError)

        /// Decodes the message of a frame. Returns `nil` for an unknown tag, whose frame is skipped.
        public init?(tag: UInt8, decoding message: RawSpan) throws(MCSError) {
            switch Tag(rawValue: tag) {
            case .heartbeatPing: self = .heartbeatPing(try Heartbeat(decoding: message))
            case .heartbeatAck: self = .heartbeatAck(try Heartbeat(decoding: message))
            case .loginRequest: self = .loginRequest(try LoginRequest(decoding: message))
            case .loginResponse: self = .loginResponse(try LoginResponse(decoding: message))
            case .close: self = .close(try Close(decoding: message))
            case .iq: self = .iq(try IqStanza(decoding: message))
            case .dataMessage: self = .dataMessage(try DataMessage(decoding: message))
            case .streamError: self = .streamError(try StreamError(decoding: message))
            case nil: return nil
            }
        }

        /// Appends the whole frame.
        public func append(to buffer: inout ByteBuffer) {
            switch self {
            case .heartbeatPing(let heartbeat): heartbeat.append(as: .heartbeatPing, to: &buffer)
            case .heartbeatAck(let heartbeat): heartbeat.append(as: .heartbeatAck, to: &buffer)
            case .loginRequest(let login): login.append(to: &buffer)
            case .loginResponse(let login): login.append(to: &buffer)
            case .close(let close): close.append(to: &buffer)
            case .iq(let iq): iq.append(to: &buffer)
            case .dataMessage(let message): message.append(to: &buffer)
            case .streamError(let error): error.append(to: &buffer)
            }
        }
    }
}
