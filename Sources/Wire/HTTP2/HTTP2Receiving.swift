import Basics
import CNGHTTP2

/// What nghttp2 tells of the peer's frames.
extension HTTP2Connection {
    /// A frame begins; whether it brings a request on is not known yet.
    ///
    /// Any but CONTINUATION says that an open header block is over, also one whose stream is gone.
    func frameBegan(_ frame: nghttp2_frame_hd) {
        if !Self.isOf(frame, NGHTTP2_CONTINUATION) { head = nil }
        guard Self.isOf(frame, NGHTTP2_DATA) else { return tally.idleFrames += 1 }
        let isLast = frame.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0
        let isWanted = streams[frame.stream_id]?.isIncomplete ?? false
        if !isWanted || !isLast && frame.length < Limits.http2TinyDataBytes { tally.idleFrames += 1 }
    }

    static func isOf(_ frame: nghttp2_frame_hd, _ type: nghttp2_frame_type) -> Bool {
        UInt32(frame.type) == type.rawValue
    }

    /// A header block begins.
    func headersBegan(_ stream: Int32, opensStream: Bool) {
        head = HTTP2Head(stream: stream, isTrailer: !opensStream)
        guard opensStream else { return }
        tally.idleFrames -= 1
        streams[stream] = HTTP2Stream()
    }

    /// A header; false ends the connection.
    func header(_ name: borrowing RawSpan, _ value: borrowing RawSpan) -> Bool {
        head?.add(name, value) ?? true
    }

    /// A header block or a piece of a body has come as a whole.
    func frameCame(_ frame: nghttp2_frame_hd) {
        let stream = frame.stream_id
        if Self.isOf(frame, NGHTTP2_SETTINGS) {
            guard frame.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) != 0, !isSettled else { return }
            isSettled = true
            // Twice what may be held: nghttp2 tells the peer of room only once half of the window is free again.
            let held = Limits.http2Streams * Limits.http2StreamWindowBytes + Limits.http2LongBodiesBytes
            unsafe nghttp2_session_set_local_window_size(
                session, UInt8(NGHTTP2_FLAG_NONE.rawValue), 0, Int32(2 * held))
            return
        }
        if Self.isOf(frame, NGHTTP2_GOAWAY) { peerLeaves = true }
        if Self.isOf(frame, NGHTTP2_HEADERS) { headersCame(stream) }
        guard Self.isOf(frame, NGHTTP2_HEADERS) || Self.isOf(frame, NGHTTP2_DATA),
            frame.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0
        else { return }
        streams[stream]?.isEnded = true
        guard case .body(let request)? = streams[stream]?.stage else { return }
        streams[stream]?.stage = .whole(request)
        ready.append(stream)
    }

    private func headersCame(_ stream: Int32) {
        guard let head, head.stream == stream else { return }
        self.head = nil
        guard !head.isTrailer, streams[stream] != nil else { return }
        do throws(RequestFault) {
            let (request, length, expectsContinue) = try head.request()
            guard headBytes + head.size <= Limits.http2HeadsBytes else {
                return reset(stream, NGHTTP2_REFUSED_STREAM)
            }
            headBytes += head.size
            streams[stream]?.headBytes = head.size
            streams[stream]?.stage = .body(request)
            streams[stream]?.length = length
            streams[stream]?.isHead = request.method == .head
            if let length, length > Limits.http2StreamWindowBytes { queueForTurn(stream) }
            if expectsContinue { invite(stream) }
        } catch {
            refuse(stream, error, at: now)
        }
    }

    /// A piece of a body.
    func bodyCame(_ stream: Int32, _ bytes: borrowing RawSpan) {
        guard case .body? = streams[stream]?.stage else { return consumed(bytes.byteCount) }
        let count = (streams[stream]?.body.count ?? 0) + bytes.byteCount
        guard count <= Limits.requestBodyBytes else {
            consumed(bytes.byteCount)
            return refuse(stream, RequestFault(.contentTooLarge, "The body is too long."), at: now)
        }
        guard isTrusted || bodyBytes + bytes.byteCount <= Limits.http2StrangerBodiesBytes else {
            consumed(bytes.byteCount)
            // Nothing was done for it: its client may send it again (RFC 9113, 8.7).
            return reset(stream, NGHTTP2_REFUSED_STREAM)
        }
        bodyBytes += bytes.byteCount
        streams[stream]?.body.append(contentsOf: [UInt8](copying: bytes))
        // Who tells no length waits in the queue before its window is used up.
        if streams[stream]?.length == nil, count > Limits.http2StreamWindowBytes / 2 { queueForTurn(stream) }
    }

    /// A stream is over, in good order or not.
    func streamClosed(_ stream: Int32) {
        guard let gone = streams[stream] else { return }
        letGo(of: stream)
        unwrittenBytes -= gone.unwritten
        streams[stream] = nil
        if !gone.isAnswered { tally.resets += 1 }
    }

    /// Gives back what the request of a stream holds; returns its body.
    @discardableResult
    func letGo(of stream: Int32) -> [UInt8] {
        guard let old = streams[stream] else { return [] }
        if case .gone = old.stage { return [] }
        consumed(old.body.count)
        bodyBytes -= old.body.count
        headBytes -= old.headBytes
        granted -= old.granted
        streams[stream]?.stage = .gone
        streams[stream]?.body = []
        streams[stream]?.headBytes = 0
        streams[stream]?.granted = 0
        streams[stream]?.waitsForTurn = false
        return old.body
    }

    /// Tells nghttp2 that bytes of bodies are held no longer: the window of the connection opens again.
    private func consumed(_ count: Int) {
        if count > 0 { unsafe nghttp2_session_consume_connection(session, count) }
    }

    private func queueForTurn(_ stream: Int32) {
        guard let old = streams[stream], old.granted == 0, !old.waitsForTurn else { return }
        streams[stream]?.waitsForTurn = true
        turns.append(stream)
    }

    /// Lets streams send their long bodies, the first of them always, the others as the bound of all allows.
    func giveTurns() {
        while isSettled, let number = turns.first {
            guard let stream = streams[number], stream.waitsForTurn else {
                turns.removeFirst()
                continue
            }
            // One more than is taken, so that a body that is too long is seen to be.
            let wanted = stream.length ?? Limits.requestBodyBytes + 1
            guard granted == 0 || granted + wanted <= Limits.http2LongBodiesBytes else { return }
            turns.removeFirst()
            granted += wanted
            streams[number]?.granted = wanted
            streams[number]?.waitsForTurn = false
            unsafe nghttp2_session_set_local_window_size(
                session, UInt8(NGHTTP2_FLAG_NONE.rawValue), number, Int32(wanted))
        }
    }

    /// Breaks a stream off.
    func reset(_ stream: Int32, _ code: nghttp2_error_code) {
        letGo(of: stream)
        unsafe nghttp2_submit_rst_stream(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream, code.rawValue)
    }
}
