public import Basics
import CNGHTTP2

/// One side of an HTTP/2 connection (RFC 9113): an nghttp2 session for framing, header compression and flow control.
///
/// It implements only the RFC: which requests are allowed, memory limits and the end of a connection are decided by its
/// caller.
@safe public final class HTTP2Session {
    /// The side of the connection.
    public enum Role: Sendable { case server, client }

    /// The result of processing bytes from the peer.
    public enum Outcome: Sendable {
        /// The bytes were processed; a protocol violation may have queued a GOAWAY.
        case taken
        /// The bytes are an attack: they need more answers than nghttp2 queues, or the handler stopped.
        case flood
        /// The bytes are not HTTP/2.
        case protocolError
    }

    let session: OpaquePointer
    /// The receiver of the callbacks; set during `receive` and `write`.
    private(set) var handler: (any HTTP2SessionHandler)?

    /// Creates a session. The settings, and as a client the preface, are the first bytes to be written.
    ///
    /// A client opens up to `firstStreams` streams before the server's SETTINGS have arrived.
    public init(_ role: Role, _ settings: [HTTP2Setting], firstStreams: Int = 1) {
        unsafe session = Self.makeSession(role, firstStreams: firstStreams)
        unsafe nghttp2_session_set_user_data(session, Unmanaged.passUnretained(self).toOpaque())
        let entries = settings.map(\.entry)
        unsafe nghttp2_submit_settings(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), entries, entries.count)
    }

    deinit { unsafe nghttp2_session_del(session) }

    // MARK: Bytes

    /// Processes bytes from the peer.
    public func receive(_ bytes: borrowing RawSpan, _ handler: any HTTP2SessionHandler) -> Outcome {
        self.handler = handler
        defer { self.handler = nil }
        let result = unsafe bytes.withUnsafeBytes { bytes in
            unsafe nghttp2_session_mem_recv(
                session, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count)
        }
        guard result < 0 else { return .taken }
        let isFlood =
            result == Int(NGHTTP2_ERR_FLOODED.rawValue)
            || result == Int(NGHTTP2_ERR_CALLBACK_FAILURE.rawValue)
        return isFlood ? .flood : .protocolError
    }

    /// Appends frames until none can be written or `limit` bytes are in `out`. Returns false if the session is broken.
    public func write(upTo limit: Int, to out: inout ByteBuffer, _ handler: any HTTP2SessionHandler) -> Bool {
        self.handler = handler
        defer { self.handler = nil }
        while out.count < limit {
            var frame: UnsafePointer<UInt8>?
            let count = unsafe nghttp2_session_mem_send(session, &frame)
            guard count > 0, let start = unsafe frame else { return count >= 0 }
            unsafe out.append(UnsafeRawBufferPointer(start: start, count: count))
        }
        return true
    }

    /// Whether something can be written now; data that waits for the peer's flow control does not count.
    public var canWrite: Bool { unsafe nghttp2_session_want_write(session) != 0 }

    // MARK: Windows

    /// Returns bytes of freed bodies to the connection's flow-control window.
    public func consumeConnection(_ count: Int) {
        if count > 0 { unsafe nghttp2_session_consume_connection(session, count) }
    }

    /// Sets how many bytes of unconsumed bodies the peer may send on a stream, or on the connection for stream 0.
    public func setWindow(of stream: Int32, to bytes: Int) {
        unsafe nghttp2_session_set_local_window_size(
            session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream, Int32(clamping: bytes))
    }

    /// The number of streams that the peer allows this side to open.
    public var peerStreamLimit: Int {
        Int(unsafe nghttp2_session_get_remote_settings(session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS))
    }

    // MARK: Streams

    /// Opens a stream with a request. Returns `nil` if the stream IDs are used up.
    public func submitRequest(_ fields: borrowing HTTP2Fields, hasBody: Bool) -> Int32? {
        var source = unsafe Self.bodySource()
        let stream = unsafe fields.withValues { values, count in
            if hasBody {
                unsafe nghttp2_submit_request(session, nil, values, count, &source, nil)
            } else {
                unsafe nghttp2_submit_request(session, nil, values, count, nil, nil)
            }
        }
        return stream > 0 ? stream : nil
    }

    /// Answers the request of a stream.
    public func submitAnswer(_ stream: Int32, _ fields: borrowing HTTP2Fields, hasBody: Bool) {
        var source = unsafe Self.bodySource()
        unsafe fields.withValues { values, count in
            if hasBody {
                _ = unsafe nghttp2_submit_response(session, stream, values, count, &source)
            } else {
                _ = unsafe nghttp2_submit_response(session, stream, values, count, nil)
            }
        }
    }

    /// Sends an interim response on a stream, such as `100 Continue`.
    public func submitInterimAnswer(_ stream: Int32, _ fields: borrowing HTTP2Fields) {
        unsafe fields.withValues { values, count in
            _ = unsafe nghttp2_submit_headers(
                session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream, nil, values, count, nil)
        }
    }

    /// Ends a stream by RST_STREAM.
    public func reset(_ stream: Int32, _ code: HTTP2ErrorCode) {
        unsafe nghttp2_submit_rst_stream(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream, code.rawValue)
    }

    // MARK: Connection

    /// Sends PING; the acknowledgement arrives as a frame.
    public func ping() { unsafe nghttp2_submit_ping(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil) }

    /// Sends GOAWAY with the last stream of the peer: open streams are finished, and new ones are refused.
    public func goAway() {
        let last = unsafe nghttp2_session_get_last_proc_stream_id(session)
        unsafe nghttp2_submit_goaway(
            session, UInt8(NGHTTP2_FLAG_NONE.rawValue), last, NGHTTP2_NO_ERROR.rawValue, nil, 0)
    }

    /// Terminates the connection with an error; the next write is the last one.
    public func terminate(_ code: HTTP2ErrorCode) {
        unsafe nghttp2_session_terminate_session(session, code.rawValue)
    }
}
