public import Basics
import CNGHTTP2

/// One side of an HTTP/2 connection (RFC 9113): an nghttp2 session, which frames, compresses headers and keeps the windows.
///
/// It decides nothing that is not in the RFC: what a peer may ask for, how much is kept and when a connection ends is
/// decided by its caller.
@safe public final class HTTP2Session {
    /// The side of the connection.
    public enum Role: Sendable { case server, client }

    /// What came of bytes from the peer.
    public enum Outcome: Sendable {
        /// They were taken; a breach of the protocol may have queued a GOAWAY.
        case taken
        /// They are what only an attack sends: more than nghttp2 queues answers for, or the handler stopped.
        case flood
        /// They cannot be read.
        case protocolError
    }

    let session: OpaquePointer
    /// Whom the callbacks report to; set during `receive` and `write`.
    private(set) var handler: (any HTTP2SessionHandler)?

    /// Creates a session. The settings, and as a client the preface, are the first bytes to be written.
    ///
    /// As a client it opens `firstStreams` streams at once before the server's settings have come.
    public init(_ role: Role, _ settings: [HTTP2Setting], firstStreams: Int = 1) {
        unsafe session = Self.makeSession(role, firstStreams: firstStreams)
        unsafe nghttp2_session_set_user_data(session, Unmanaged.passUnretained(self).toOpaque())
        let entries = settings.map(\.entry)
        unsafe nghttp2_submit_settings(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), entries, entries.count)
    }

    deinit { unsafe nghttp2_session_del(session) }

    // MARK: Bytes

    /// Takes bytes from the peer.
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

    /// Whether something can be written now. What waits for the peer's windows cannot.
    public var canWrite: Bool { unsafe nghttp2_session_want_write(session) != 0 }

    // MARK: Windows

    /// Bytes of bodies are kept no longer: the window of the connection opens again.
    public func consumeConnection(_ count: Int) {
        if count > 0 { unsafe nghttp2_session_consume_connection(session, count) }
    }

    /// Sets how many bytes of unconsumed bodies the peer may send on a stream, or on the connection for stream 0.
    public func setWindow(of stream: Int32, to bytes: Int) {
        unsafe nghttp2_session_set_local_window_size(
            session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream, Int32(clamping: bytes))
    }

    /// Streams that the peer lets this side have open.
    public var peerStreamLimit: Int {
        Int(unsafe nghttp2_session_get_remote_settings(session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS))
    }

    // MARK: Streams

    /// Opens a stream with a request. Returns `nil` if this connection opens no more streams.
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

    /// Sends a header list before the answer of a stream, such as that of `100 Continue`.
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

    // MARK: The connection

    /// Sends PING; the acknowledgement comes as a frame.
    public func ping() { unsafe nghttp2_submit_ping(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil) }

    /// Sends GOAWAY with the last stream of the peer; what is under way is finished, and no new stream is taken.
    public func goAway() {
        let last = unsafe nghttp2_session_get_last_proc_stream_id(session)
        unsafe nghttp2_submit_goaway(
            session, UInt8(NGHTTP2_FLAG_NONE.rawValue), last, NGHTTP2_NO_ERROR.rawValue, nil, 0)
    }

    /// Ends the connection with an error; what is written next is the last.
    public func terminate(_ code: HTTP2ErrorCode) {
        unsafe nghttp2_session_terminate_session(session, code.rawValue)
    }
}
