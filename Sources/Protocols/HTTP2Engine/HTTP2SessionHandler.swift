/// Receives the events of a session, during `receive` and `write` only.
public protocol HTTP2SessionHandler {
    /// The header of a frame has arrived; its payload follows.
    func frameStarted(_ frame: HTTP2FrameHeader)
    /// A header block starts. `isRequest` is true for the one that opens a stream of the peer.
    func headersStarted(_ stream: Int32, isRequest: Bool)
    /// A field of that header block. Returns whether to continue; false ends the connection.
    func fieldReceived(_ name: borrowing RawSpan, _ value: borrowing RawSpan) -> Bool
    /// A piece of a body. Its bytes stay charged to the window of the connection until `consumeConnection`.
    func dataReceived(_ stream: Int32, _ bytes: borrowing RawSpan)
    /// A complete, valid frame has arrived.
    func frameReceived(_ frame: HTTP2FrameHeader)
    /// The peer sent GOAWAY. Streams of this side that it has not processed are then closed as refused (RFC 9113, 6.8).
    func goAwayReceived(_ code: HTTP2ErrorCode, _ reason: borrowing RawSpan)
    /// The peer sent RST_STREAM.
    func resetReceived(_ stream: Int32, _ code: HTTP2ErrorCode)
    /// A stream was closed, normally or by an error. A request that can no longer be sent is closed as refused.
    func streamClosed(_ stream: Int32, _ code: HTTP2ErrorCode)
    /// A frame has been written.
    func frameSent(_ frame: HTTP2FrameHeader)
    /// GOAWAY has been written, perhaps by nghttp2 on its own.
    func goAwaySent(_ code: HTTP2ErrorCode)
    /// Returns up to `count` next bytes of a stream's outgoing body, and whether they are the last.
    func nextBody(of stream: Int32, upTo count: Int) -> (bytes: ArraySlice<UInt8>, isLast: Bool)
}
