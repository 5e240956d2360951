import Basics
import HTTP2Engine

/// Forwards the session's callbacks to the connection.
struct HTTP2ClientHandler: HTTP2SessionHandler {
    let connection: HTTP2ClientConnection

    func frameStarted(_ frame: HTTP2FrameHeader) { connection.frameStarted(frame) }
    func headersStarted(_ stream: Int32, isRequest: Bool) {
        connection.head = HTTP2AnswerHead(stream: stream)
    }
    func fieldReceived(_ name: borrowing RawSpan, _ value: borrowing RawSpan) -> Bool {
        connection.head?.add(name, value) ?? true
    }
    func dataReceived(_ stream: Int32, _ bytes: borrowing RawSpan) { connection.dataReceived(stream, bytes) }
    func frameReceived(_ frame: HTTP2FrameHeader) { connection.frameReceived(frame) }
    func goAwayReceived(_ code: HTTP2ErrorCode, _ reason: borrowing RawSpan) {
        let count = min(reason.byteCount, Limits.HTTP2Client.goAwayBytes)
        connection.leave(code: code.rawValue, reason: [UInt8](copying: reason.extracting(0..<count)))
    }
    func resetReceived(_ stream: Int32, _ code: HTTP2ErrorCode) {
        connection.streams[stream]?.reset = code.rawValue
    }
    func streamClosed(_ stream: Int32, _ code: HTTP2ErrorCode) { connection.streamClosed(stream, code) }
    func frameSent(_ frame: HTTP2FrameHeader) {
        guard frame.type == .headers || frame.endsStream, let entry = connection.streams[frame.stream] else {
            return
        }
        if frame.type == .headers { entry.isSent = true }
        if frame.endsStream { entry.isSentWhole = true }
    }
    func goAwaySent(_ code: HTTP2ErrorCode) {
        guard code != .noError else { return }
        connection.sessionFailure = code == .enhanceYourCalm ? .flood : .protocolError
    }
    func nextBody(of stream: Int32, upTo count: Int) -> (bytes: ArraySlice<UInt8>, isLast: Bool) {
        connection.nextBody(of: stream, upTo: count)
    }
}

/// Handling of the server's frames.
extension HTTP2ClientConnection {
    /// Handles the start of a frame; a frame that does not advance an answer counts as idle.
    func frameStarted(_ frame: HTTP2FrameHeader) {
        seenFrames += 1
        if frame.type != .continuation { head = nil }
        guard frame.type == .data else { return tally.idleFrames += 1 }
        let isWanted = streams[frame.stream].map { !$0.isDone } ?? false
        if !isWanted || !frame.endsStream && frame.length < Limits.HTTP2.tinyDataBytes {
            tally.idleFrames += 1
        }
    }

    /// Handles a complete header block or DATA frame.
    func frameReceived(_ frame: HTTP2FrameHeader) {
        if frame.type == .settings, !frame.isAcknowledgement { hasSettings = true }
        if frame.type == .headers { headersReceived(frame.stream) }
        if frame.endsStream { answerEnded(frame.stream) }
    }

    private func headersReceived(_ stream: Int32) {
        guard let head, head.stream == stream else { return }
        self.head = nil
        guard let entry = streams[stream], !entry.isDone else { return }
        guard !head.isTooLong, answersBytes + head.size <= Limits.HTTP2Client.answersBytes else {
            return fail(stream, .answerTooLong)
        }
        // A second head is that of trailers, which are ignored.
        guard entry.answer == nil, !head.isInterim else { return }
        tally.idleFrames -= 1
        entry.answer = head.answer
        countAnswerBytes(head.size, of: entry)
    }

    private func countAnswerBytes(_ count: Int, of entry: Stream) {
        entry.answerBytes += count
        answersBytes += count
    }

    /// Handles a piece of a body. The connection's window is replenished when the piece is freed; the stream's window has
    /// the size of the longest body.
    func dataReceived(_ stream: Int32, _ bytes: borrowing RawSpan) {
        guard let entry = streams[stream], !entry.isDone, let received = entry.answer?.body.count,
            let status = entry.answer?.status
        else {
            return session.consumeConnection(bytes.byteCount)
        }
        guard received + bytes.byteCount <= Limits.HTTP2Client.answerBodyBytes,
            answersBytes + bytes.byteCount <= Limits.HTTP2Client.answersBytes
        else {
            session.consumeConnection(bytes.byteCount)
            return fail(stream, .bodyTooLong(status: status))
        }
        entry.answer?.body.append(contentsOf: [UInt8](copying: bytes))
        countAnswerBytes(bytes.byteCount, of: entry)
    }

    private func answerEnded(_ stream: Int32) {
        guard let entry = streams[stream], !entry.isDone, let answer = entry.answer else { return }
        // A server that answers early does not need the remainder of the request (RFC 9113, 8.1).
        close(stream, resets: !entry.isSentWhole)
        tally.answers += 1
        events.append(.answered(UInt32(bitPattern: stream), answer))
    }

    /// Handles the close of a stream; without an answer the request has failed.
    func streamClosed(_ stream: Int32, _ code: HTTP2ErrorCode) {
        if let entry = streams[stream], !entry.isDone {
            let failure: HTTP2RequestFailure =
                if code == .refusedStream {
                    .unprocessed
                } else if let reset = entry.reset {
                    .reset(code: reset)
                } else {
                    .malformedAnswer
                }
            fail(stream, failure, resets: false)
        }
        streams[stream] = nil
    }

    /// Returns the next bytes of a request's body, and whether they are the last.
    func nextBody(of stream: Int32, upTo limit: Int) -> (bytes: ArraySlice<UInt8>, isLast: Bool) {
        guard let entry = streams[stream], !entry.isDone else { return ([], true) }
        let start = entry.written
        entry.written += min(limit, entry.unsent)
        unsentBytes -= entry.written - start
        return (entry.body[start..<entry.written], entry.unsent == 0)
    }
}
