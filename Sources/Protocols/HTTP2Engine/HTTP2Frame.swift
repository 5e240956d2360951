import CNGHTTP2

/// The type of a frame (RFC 9113, 6).
public enum HTTP2FrameType: UInt8, Sendable {
    case data = 0
    case headers = 1
    case priority = 2
    case resetStream = 3
    case settings = 4
    case pushPromise = 5
    case ping = 6
    case goAway = 7
    case windowUpdate = 8
    case continuation = 9
}

/// The header of a frame (RFC 9113, 4.1).
public struct HTTP2FrameHeader: Sendable {
    /// The type; `nil` for one that RFC 9113 does not define.
    public var type: HTTP2FrameType?
    /// The stream; 0 is the connection.
    public var stream: Int32
    /// The length of the payload in bytes.
    public var length: Int
    private var flags: UInt8

    init(_ header: nghttp2_frame_hd) {
        type = HTTP2FrameType(rawValue: header.type)
        stream = header.stream_id
        length = header.length
        flags = header.flags
    }

    /// Whether the sender of a DATA or HEADERS frame ends its side of the stream.
    public var endsStream: Bool {
        (type == .data || type == .headers) && flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0
    }

    /// Whether the frame acknowledges SETTINGS or PING.
    public var isAcknowledgement: Bool {
        (type == .settings || type == .ping) && flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) != 0
    }
}

/// An error code of RST_STREAM and GOAWAY (RFC 9113, 7).
public struct HTTP2ErrorCode: RawRepresentable, Sendable, Equatable {
    /// The number on the wire.
    public var rawValue: UInt32

    /// Creates a code; a peer may send one that RFC 9113 does not define.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// No error: an orderly end.
    public static let noError = HTTP2ErrorCode(rawValue: 0)
    /// The peer violated the protocol.
    public static let protocolError = HTTP2ErrorCode(rawValue: 1)
    /// The request was not processed.
    public static let refusedStream = HTTP2ErrorCode(rawValue: 7)
    /// The stream is no longer needed.
    public static let cancel = HTTP2ErrorCode(rawValue: 8)
    /// The peer behaves as only an attacker does.
    public static let enhanceYourCalm = HTTP2ErrorCode(rawValue: 11)
}

/// A setting of SETTINGS (RFC 9113, 6.5.2; RFC 9218).
public enum HTTP2Setting: Sendable, Equatable {
    /// Whether the server may push.
    case enablePush(Bool)
    /// Streams that the peer may have open.
    case maxConcurrentStreams(Int)
    /// Bytes that the peer may send on a new stream before a WINDOW_UPDATE.
    case initialWindowSize(Int)
    /// Bytes of a header list, uncompressed.
    case maxHeaderListSize(Int)
    /// Whether the priorities of RFC 7540 are not used.
    case noRFC7540Priorities

    var entry: nghttp2_settings_entry {
        let (name, value) =
            switch self {
            case .enablePush(let isEnabled): (NGHTTP2_SETTINGS_ENABLE_PUSH, isEnabled ? 1 : 0)
            case .maxConcurrentStreams(let count): (NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, count)
            case .initialWindowSize(let bytes): (NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, bytes)
            case .maxHeaderListSize(let bytes): (NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, bytes)
            case .noRFC7540Priorities: (NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1)
            }
        return nghttp2_settings_entry(settings_id: Int32(name.rawValue), value: UInt32(clamping: value))
    }
}
