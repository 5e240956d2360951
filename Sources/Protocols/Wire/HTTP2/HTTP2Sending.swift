public import Basics
import HTTP2Engine

/// Sending of answers to the peer.
extension HTTP2Connection {
    /// Answers the request of a stream. Does nothing if the stream is already answered or closed.
    public func answer(_ stream: UInt32, _ response: HTTPResponse, at now: UnixMilliseconds) {
        send(Int32(bitPattern: stream), response, at: now)
    }

    /// Answers an incomplete request with an error, and ignores its remainder.
    public func refuse(_ stream: UInt32, _ fault: RequestFault, at now: UnixMilliseconds) {
        refuse(Int32(bitPattern: stream), fault, at: now)
    }

    /// `head` is what is known of a request whose head was refused.
    func refuse(
        _ stream: Int32, _ fault: RequestFault, head: HTTPRequest? = nil, at now: UnixMilliseconds
    ) {
        let request = head ?? streams[stream]?.request
        releaseRequest(of: stream)
        tally.refused.append(fault.status)
        send(stream, refusal(fault, request), at: now)
    }

    private func send(_ stream: Int32, _ response: HTTPResponse, at now: UnixMilliseconds) {
        guard let old = streams[stream], old.answer == nil else { return }
        let body = old.isHead ? [] : response.body
        streams[stream]?.answer = body
        unwrittenBytes += body.count
        var fields = HTTP2Fields()
        fields.add(":status") { $0.append(decimal: response.status.rawValue) }
        response.headers(at: now) { fields.add($0, $1) }
        session.submitAnswer(stream, fields, hasBody: !body.isEmpty)
    }

    /// Sends `100 Continue` to a peer that waits for it (RFC 9110, 10.1.1).
    func sendContinue(_ stream: Int32) {
        var fields = HTTP2Fields()
        fields.add(":status") { $0.append("100") }
        session.submitInterimAnswer(stream, fields)
    }

    /// Returns the next bytes of an answer, and whether they are the last.
    func nextAnswerBytes(of stream: Int32, upTo limit: Int) -> (bytes: ArraySlice<UInt8>, isLast: Bool) {
        guard let old = streams[stream], let answer = old.answer else { return ([], true) }
        let count = min(limit, old.unwritten)
        streams[stream]?.written += count
        unwrittenBytes -= count
        writtenBytes += count
        return (answer[old.written..<old.written + count], count == old.unwritten)
    }

    /// Handles a frame that this side has written.
    func frameSent(_ frame: HTTP2FrameHeader) {
        guard frame.endsStream, let stream = streams[frame.stream] else { return }
        tally.answers += 1
        streams[frame.stream]?.isAnswered = true
        // A client that is answered early need not send the remainder (RFC 9113, 8.1).
        if !stream.isEnded { reset(frame.stream, .noError) }
    }

    /// Handles a GOAWAY that this side has sent, perhaps nghttp2 on its own.
    func goAwaySent(_ code: HTTP2ErrorCode) {
        guard failure == nil, code != .noError else { return }
        failure = code == .enhanceYourCalm ? .flood : .protocolError
    }
}
