import Basics
import CNGHTTP2

/// The nghttp2 session behind `HTTP2Session`: its options and its callbacks.
extension HTTP2Session {
    private static func handler(_ user: UnsafeMutableRawPointer?) -> (any HTTP2SessionHandler)? {
        guard let user = unsafe user else { return nil }
        return unsafe Unmanaged<HTTP2Session>.fromOpaque(user).takeUnretainedValue().handler
    }

    static func makeSession(_ role: Role, firstStreams: Int) -> OpaquePointer {
        var options: OpaquePointer?
        var callbacks: OpaquePointer?
        var session: OpaquePointer?
        defer {
            unsafe nghttp2_option_del(options)
            unsafe nghttp2_session_callbacks_del(callbacks)
        }
        guard unsafe nghttp2_option_new(&options) == 0, unsafe nghttp2_session_callbacks_new(&callbacks) == 0,
            let options = unsafe options, let callbacks = unsafe callbacks
        else { fatalError("out of memory") }
        unsafe setOptions(options)
        unsafe nghttp2_option_set_peer_max_concurrent_streams(options, UInt32(clamping: firstStreams))
        unsafe setReceiving(callbacks)
        unsafe setSending(callbacks)
        let result =
            switch role {
            case .server: unsafe nghttp2_session_server_new2(&session, callbacks, nil, options)
            case .client: unsafe nghttp2_session_client_new2(&session, callbacks, nil, options)
            }
        guard result == 0, let session = unsafe session else { fatalError("out of memory") }
        return unsafe session
    }

    private static func setOptions(_ options: OpaquePointer) {
        unsafe nghttp2_option_set_no_auto_window_update(options, 1)
        unsafe nghttp2_option_set_no_closed_streams(options, 1)
        unsafe nghttp2_option_set_max_outbound_ack(options, Limits.HTTP2.waitingAcks)
        unsafe nghttp2_option_set_max_settings(options, Limits.HTTP2.settings)
        // nghttp2 counts pieces of frames as frames, so the result would depend on the split of the stream. Callers count bytes.
        unsafe nghttp2_option_set_max_continuations(options, Int(UInt32.max))
        // nghttp2 would read a clock; the callers, which have the time, count and limit resets.
        unsafe nghttp2_option_set_stream_reset_rate_limit(options, UInt64(UInt32.max), UInt64(UInt32.max))
    }

    private static func setReceiving(_ callbacks: OpaquePointer) {
        unsafe nghttp2_session_callbacks_set_on_begin_frame_callback(callbacks) { _, frame, user in
            guard let frame = unsafe frame else { return 0 }
            unsafe HTTP2Session.handler(user)?.frameStarted(HTTP2FrameHeader(frame.pointee))
            return 0
        }
        unsafe nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { _, frame, user in
            guard let frame = unsafe frame else { return 0 }
            let isRequest = unsafe frame.pointee.headers.cat == NGHTTP2_HCAT_REQUEST
            unsafe HTTP2Session.handler(user)?
                .headersStarted(frame.pointee.hd.stream_id, isRequest: isRequest)
            return 0
        }
        unsafe nghttp2_session_callbacks_set_on_header_callback(callbacks) {
            _, _, name, nameCount, value, valueCount, _, user in
            let name = unsafe UnsafeRawBufferPointer(start: name, count: nameCount)
            let value = unsafe UnsafeRawBufferPointer(start: value, count: valueCount)
            let goesOn = unsafe HTTP2Session.handler(user)?.fieldReceived(name.bytes, value.bytes) ?? true
            return goesOn ? 0 : NGHTTP2_ERR_CALLBACK_FAILURE.rawValue
        }
        // An invalid header must not be ignored: its stream ends (RFC 9113, 8.2.1).
        unsafe nghttp2_session_callbacks_set_on_invalid_header_callback(callbacks) { _, _, _, _, _, _, _, _ in
            NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue
        }
        unsafe nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) {
            _, _, stream, start, count, user in
            let bytes = unsafe UnsafeRawBufferPointer(start: start, count: count)
            unsafe HTTP2Session.handler(user)?.dataReceived(stream, bytes.bytes)
            return 0
        }
        unsafe nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, user in
            guard let frame = unsafe frame, let handler = unsafe HTTP2Session.handler(user) else { return 0 }
            let header = unsafe HTTP2FrameHeader(frame.pointee.hd)
            switch header.type {
            case .goAway:
                let goAway = unsafe frame.pointee.goaway
                let reason = unsafe UnsafeRawBufferPointer(
                    start: goAway.opaque_data, count: goAway.opaque_data_len)
                unsafe handler.goAwayReceived(HTTP2ErrorCode(rawValue: goAway.error_code), reason.bytes)
            case .resetStream:
                let code = unsafe frame.pointee.rst_stream.error_code
                handler.resetReceived(header.stream, HTTP2ErrorCode(rawValue: code))
            default: handler.frameReceived(header)
            }
            return 0
        }
        unsafe nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, stream, code, user in
            unsafe HTTP2Session.handler(user)?.streamClosed(stream, HTTP2ErrorCode(rawValue: code))
            return 0
        }
    }

    private static func setSending(_ callbacks: OpaquePointer) {
        unsafe nghttp2_session_callbacks_set_on_frame_send_callback(callbacks) { _, frame, user in
            guard let frame = unsafe frame, let handler = unsafe HTTP2Session.handler(user) else { return 0 }
            let header = unsafe HTTP2FrameHeader(frame.pointee.hd)
            if header.type == .goAway {
                handler.goAwaySent(HTTP2ErrorCode(rawValue: unsafe frame.pointee.goaway.error_code))
            } else {
                handler.frameSent(header)
            }
            return 0
        }
    }

    /// Returns the source of outgoing bodies for nghttp2, which asks the handler by stream.
    static func bodySource() -> nghttp2_data_provider {
        var source = unsafe nghttp2_data_provider()
        unsafe source.read_callback = { _, stream, room, count, flags, _, user in
            guard let handler = unsafe HTTP2Session.handler(user), let room = unsafe room else {
                return Int(NGHTTP2_ERR_CALLBACK_FAILURE.rawValue)
            }
            let (bytes, isLast) = handler.nextBody(of: stream, upTo: count)
            guard bytes.count <= count else { return Int(NGHTTP2_ERR_CALLBACK_FAILURE.rawValue) }
            unsafe UnsafeMutableRawBufferPointer(start: room, count: count).copyBytes(from: bytes)
            if isLast { unsafe flags?.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
            return bytes.count
        }
        return unsafe source
    }
}
