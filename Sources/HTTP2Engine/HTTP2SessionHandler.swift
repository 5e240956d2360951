/// Receives what a session reads and has written. Called during `receive` and `write` only.
public protocol HTTP2SessionHandler {
    /// The header of a frame has come; its payload follows.
    func frameStarted(_ frame: HTTP2FrameHeader)
    /// A header block starts. `isRequest` is true for the one that opens a stream of the peer.
    func headersStarted(_ stream: Int32, isRequest: Bool)
    /// A field of that header block. Returns whether to go on; false ends the connection.
    func fieldReceived(_ name: borrowing RawSpan, _ value: borrowing RawSpan) -> Bool
    /// A piece of a body. Its bytes stay charged to the window of the connection until `consumeConnection`.
    func dataReceived(_ stream: Int32, _ bytes: borrowing RawSpan)
    /// A frame has come as a whole and is valid.
    func frameReceived(_ frame: HTTP2FrameHeader)
    /// The peer announces its end, and perhaps why. Streams of ours that it has not processed end as refused next (RFC 9113, 6.8).
    func goAwayReceived(_ code: HTTP2ErrorCode, _ reason: borrowing RawSpan)
    /// The peer ends a stream by RST_STREAM.
    func resetReceived(_ stream: Int32, _ code: HTTP2ErrorCode)
    /// A stream is over, in order or not. A request that can no longer be sent ends as refused.
    func streamClosed(_ stream: Int32, _ code: HTTP2ErrorCode)
    /// A frame has been written.
    func frameSent(_ frame: HTTP2FrameHeader)
    /// GOAWAY has been written, also where nghttp2 ends the connection by itself.
    func goAwaySent(_ code: HTTP2ErrorCode)
    /// Returns up to `count` next bytes of the body that a stream sends, and whether they are the last.
    func nextBody(of stream: Int32, upTo count: Int) -> (bytes: ArraySlice<UInt8>, isLast: Bool)
}
