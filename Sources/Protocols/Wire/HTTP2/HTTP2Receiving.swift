import Basics
import HTTP2Engine

/// Forwards the session's callbacks to the connection.
struct HTTP2ServerHandler: HTTP2SessionHandler {
    let connection: HTTP2Connection

    func frameStarted(_ frame: HTTP2FrameHeader) { connection.frameStarted(frame) }
    func headersStarted(_ stream: Int32, isRequest: Bool) {
        connection.headersStarted(stream, opensStream: isRequest)
    }
    func fieldReceived(_ name: borrowing RawSpan, _ value: borrowing RawSpan) -> Bool {
        connection.header(name, value)
    }
    func dataReceived(_ stream: Int32, _ bytes: borrowing RawSpan) { connection.dataReceived(stream, bytes) }
    func frameReceived(_ frame: HTTP2FrameHeader) { connection.frameReceived(frame) }
    func goAwayReceived(_ code: HTTP2ErrorCode, _ reason: borrowing RawSpan) {
        connection.hasPeerLeft = true
    }
    /// Ignored, since `streamClosed` follows.
    func resetReceived(_ stream: Int32, _ code: HTTP2ErrorCode) {}
    func streamClosed(_ stream: Int32, _ code: HTTP2ErrorCode) { connection.streamClosed(stream) }
    func frameSent(_ frame: HTTP2FrameHeader) { connection.frameSent(frame) }
    func goAwaySent(_ code: HTTP2ErrorCode) { connection.goAwaySent(code) }
    func nextBody(of stream: Int32, upTo count: Int) -> (bytes: ArraySlice<UInt8>, isLast: Bool) {
        connection.nextAnswerBytes(of: stream, upTo: count)
    }
}

/// Handling of the peer's frames.
extension HTTP2Connection {
    /// Handles the start of a frame, and counts it as idle unless it advances a request.
    ///
    /// Any frame but CONTINUATION ends an open header block, even one whose stream is closed.
    func frameStarted(_ frame: HTTP2FrameHeader) {
        seenFrames += 1
        if frame.type != .continuation { head = nil }
        guard frame.type == .data else { return tally.idleFrames += 1 }
        let isWanted = streams[frame.stream]?.isIncomplete ?? false
        if !isWanted || !frame.endsStream && frame.length < Limits.HTTP2.tinyDataBytes {
            tally.idleFrames += 1
        }
    }

    /// Handles the start of a header block.
    func headersStarted(_ stream: Int32, opensStream: Bool) {
        head = HTTP2Head(stream: stream, isTrailer: !opensStream)
        guard opensStream else { return }
        tally.idleFrames -= 1
        streams[stream] = HTTP2Stream()
    }

    /// Handles a header. Returns false to end the connection.
    func header(_ name: borrowing RawSpan, _ value: borrowing RawSpan) -> Bool {
        head?.add(name, value) ?? true
    }

    /// Handles a complete header block or DATA frame.
    func frameReceived(_ frame: HTTP2FrameHeader) {
        let stream = frame.stream
        if frame.type == .settings {
            guard frame.isAcknowledgement, !hasSettingsAck else { return }
            hasSettingsAck = true
            // Twice the limit: nghttp2 sends WINDOW_UPDATE only when half of the window is free again.
            let held = Limits.HTTP2.streams * Limits.HTTP2.streamWindowBytes + Limits.HTTP2.longBodiesBytes
            session.setWindow(of: 0, to: 2 * held)
            return
        }
        if frame.type == .headers { headersReceived(stream) }
        guard frame.endsStream else { return }
        streams[stream]?.isEnded = true
        guard case .body(let request)? = streams[stream]?.stage else { return }
        streams[stream]?.stage = .whole(request)
        ready.append(stream)
    }

    private func headersReceived(_ stream: Int32) {
        guard let head, head.stream == stream else { return }
        self.head = nil
        guard !head.isTrailer, streams[stream] != nil else { return }
        do throws(RequestFault) {
            let (request, length, expectsContinue) = try head.request()
            guard headBytes + head.size <= Limits.HTTP2.headsBytes else {
                return reset(stream, .refusedStream)
            }
            headBytes += head.size
            streams[stream]?.headBytes = head.size
            streams[stream]?.stage = .body(request)
            streams[stream]?.length = length
            streams[stream]?.isHead = request.method == .head
            if let length, length > Limits.HTTP2.streamWindowBytes { queueForTurn(stream) }
            if expectsContinue { sendContinue(stream) }
        } catch {
            refuse(stream, error, head: head.knownRequest, at: now)
        }
    }

    /// Handles a piece of a body.
    func dataReceived(_ stream: Int32, _ bytes: borrowing RawSpan) {
        guard case .body? = streams[stream]?.stage else { return session.consumeConnection(bytes.byteCount) }
        let count = (streams[stream]?.body.count ?? 0) + bytes.byteCount
        guard count <= Limits.HTTP.requestBodyBytes else {
            session.consumeConnection(bytes.byteCount)
            return refuse(stream, RequestFault(.contentTooLarge, "The body is too long."), at: now)
        }
        guard isTrusted || bodyBytes + bytes.byteCount <= Limits.HTTP2.unauthenticatedBodiesBytes else {
            session.consumeConnection(bytes.byteCount)
            // The request was not processed, so the client may retry it (RFC 9113, 8.7).
            return reset(stream, .refusedStream)
        }
        bodyBytes += bytes.byteCount
        streams[stream]?.body.append(contentsOf: [UInt8](copying: bytes))
        // A request without a length joins the queue before its window is used up.
        if streams[stream]?.length == nil, count > Limits.HTTP2.streamWindowBytes / 2 { queueForTurn(stream) }
    }

    /// Handles the close of a stream, whether normal or by a reset.
    func streamClosed(_ stream: Int32) {
        guard let gone = streams[stream] else { return }
        releaseRequest(of: stream)
        unwrittenBytes -= gone.unwritten
        streams[stream] = nil
        if !gone.isAnswered { tally.resets += 1 }
    }

    /// Frees what the request of a stream holds. Returns its body.
    @discardableResult
    func releaseRequest(of stream: Int32) -> [UInt8] {
        guard let old = streams[stream] else { return [] }
        if case .gone = old.stage { return [] }
        session.consumeConnection(old.body.count)
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

    private func queueForTurn(_ stream: Int32) {
        guard let old = streams[stream], old.granted == 0, !old.waitsForTurn else { return }
        streams[stream]?.waitsForTurn = true
        turns.append(stream)
    }

    /// Lets waiting streams send their long bodies: the first one always, the others within the common limit.
    func grantTurns() {
        while hasSettingsAck, let number = turns.first {
            guard let stream = streams[number], stream.waitsForTurn else {
                turns.removeFirst()
                continue
            }
            // One byte over the limit, so that a body that is too long is detected.
            let wanted = stream.length ?? Limits.HTTP.requestBodyBytes + 1
            guard granted == 0 || granted + wanted <= Limits.HTTP2.longBodiesBytes else { return }
            turns.removeFirst()
            granted += wanted
            streams[number]?.granted = wanted
            streams[number]?.waitsForTurn = false
            session.setWindow(of: number, to: wanted)
        }
    }

    /// Resets a stream and frees its request.
    func reset(_ stream: Int32, _ code: HTTP2ErrorCode) {
        releaseRequest(of: stream)
        session.reset(stream, code)
    }
}
