import Basics
import CNGHTTP2

/// The nghttp2 session behind a connection: its options, and the way of its calls to us.
extension HTTP2Connection {
    static func of(_ user: UnsafeMutableRawPointer?) -> HTTP2Connection? {
        guard let user = unsafe user else { return nil }
        return unsafe Unmanaged<HTTP2Connection>.fromOpaque(user).takeUnretainedValue()
    }

    static func makeSession() -> OpaquePointer {
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
        unsafe setReceiving(callbacks)
        unsafe setSending(callbacks)
        guard unsafe nghttp2_session_server_new2(&session, callbacks, nil, options) == 0,
            let session = unsafe session
        else { fatalError("out of memory") }
        return unsafe session
    }

    private static func setOptions(_ options: OpaquePointer) {
        unsafe nghttp2_option_set_no_auto_window_update(options, 1)
        unsafe nghttp2_option_set_no_closed_streams(options, 1)
        unsafe nghttp2_option_set_max_outbound_ack(options, Limits.http2WaitingAcks)
        unsafe nghttp2_option_set_max_settings(options, Limits.http2Settings)
        // It counts pieces of frames as frames, so that the split of the stream would matter: we count bytes.
        unsafe nghttp2_option_set_max_continuations(options, Int(UInt32.max))
        // It would look at a clock; resets are counted by us, and bounded by the caller, which has the time.
        unsafe nghttp2_option_set_stream_reset_rate_limit(options, UInt64(UInt32.max), UInt64(UInt32.max))
    }

    private static func setReceiving(_ callbacks: OpaquePointer) {
        unsafe nghttp2_session_callbacks_set_on_begin_frame_callback(callbacks) { _, frame, user in
            guard let frame = unsafe frame else { return 0 }
            unsafe HTTP2Connection.of(user)?.frameBegan(frame.pointee)
            return 0
        }
        unsafe nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { _, frame, user in
            guard let frame = unsafe frame else { return 0 }
            let opens = unsafe frame.pointee.headers.cat == NGHTTP2_HCAT_REQUEST
            unsafe HTTP2Connection.of(user)?.headersBegan(frame.pointee.hd.stream_id, opensStream: opens)
            return 0
        }
        unsafe nghttp2_session_callbacks_set_on_header_callback(callbacks) {
            _, _, name, nameCount, value, valueCount, _, user in
            let name = unsafe UnsafeRawBufferPointer(start: name, count: nameCount)
            let value = unsafe UnsafeRawBufferPointer(start: value, count: valueCount)
            let goesOn = unsafe HTTP2Connection.of(user)?.header(name.bytes, value.bytes) ?? true
            return goesOn ? 0 : NGHTTP2_ERR_CALLBACK_FAILURE.rawValue
        }
        // A header that is not proper is no mistake to pass over: its request is refused (RFC 9113, 8.2.1).
        unsafe nghttp2_session_callbacks_set_on_invalid_header_callback(callbacks) { _, _, _, _, _, _, _, _ in
            NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue
        }
        unsafe nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) {
            _, _, stream, start, count, user in
            let bytes = unsafe UnsafeRawBufferPointer(start: start, count: count)
            unsafe HTTP2Connection.of(user)?.bodyCame(stream, bytes.bytes)
            return 0
        }
        unsafe nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, user in
            guard let frame = unsafe frame else { return 0 }
            unsafe HTTP2Connection.of(user)?.frameCame(frame.pointee.hd)
            return 0
        }
        unsafe nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, stream, _, user in
            unsafe HTTP2Connection.of(user)?.streamClosed(stream)
            return 0
        }
    }

    private static func setSending(_ callbacks: OpaquePointer) {
        unsafe nghttp2_session_callbacks_set_on_frame_send_callback(callbacks) { _, frame, user in
            guard let frame = unsafe frame, let connection = unsafe HTTP2Connection.of(user) else { return 0 }
            let header = unsafe frame.pointee.hd
            if HTTP2Connection.isOf(header, NGHTTP2_GOAWAY) {
                unsafe connection.goodbyeSent(frame.pointee.goaway.error_code)
            } else {
                connection.frameSent(header)
            }
            return 0
        }
    }
}
