import Basics

/// Cuts the stream of one connection into requests (RFC 9112), strictly and within `Limits`.
///
/// Bytes are appended as they come; `next` gives the requests one by one. After a fault nothing more can be read: where the
/// next request would begin is not known, so the connection has to end (no request smuggling).
public struct RequestReader: ~Copyable {
    private var buffer = ByteBuffer()
    /// Bytes at the front of `buffer` that belong to requests already given.
    private var consumed = 0
    private var stage = Stage.head(scanned: 0, lineStart: 0)

    private enum Stage {
        /// Looking for the end of a head; offsets count from `consumed`.
        case head(scanned: Int, lineStart: Int)
        case length(HTTPRequest, Int)
        case chunked(HTTPRequest, ChunkedBody)
        case failed
    }

    /// Whether the peer waits for `100 Continue` before it sends a body; its sender clears it.
    public var expectsContinue = false

    /// A reader at the begin of a connection.
    public init() {}

    /// Bytes held that belong to no request given yet.
    public var heldBytes: Int { buffer.count - consumed }

    /// Whether a request has begun and is not whole.
    public var isInsideRequest: Bool {
        switch stage {
        case .head: heldBytes > 0
        case .length, .chunked: true
        case .failed: false
        }
    }

    /// Bytes that have come of the body of the request that has begun; nil outside a body.
    public var bodyBytes: Int? {
        switch stage {
        case .head, .failed: nil
        case .length: heldBytes
        case .chunked(_, let chunks): chunks.body.count + heldBytes
        }
    }

    /// Takes bytes from the peer.
    public mutating func append(_ bytes: RawSpan) {
        if case .failed = stage { return }
        buffer.append(bytes)
    }

    /// The next whole request; nil if more bytes are needed.
    public mutating func next() throws(RequestFault) -> HTTPRequest? {
        do {
            guard let request = try advance() else {
                compact()
                return nil
            }
            stage = .head(scanned: 0, lineStart: 0)
            expectsContinue = false
            if heldBytes == 0 { compact() }
            return request
        } catch {
            stage = .failed
            buffer.removeAll()
            consumed = 0
            throw error
        }
    }

    private mutating func advance() throws(RequestFault) -> HTTPRequest? {
        while true {
            switch stage {
            case .failed: return nil
            case .head:
                guard let end = try headEnd() else { return nil }
                let head = try RequestHead(buffer.bytes.extracting(consumed..<consumed + end))
                consumed += end
                // Without a body the request is whole at once, which clears it.
                expectsContinue = head.expectsContinue
                switch head.framing {
                case .length(let length): stage = .length(head.request, length)
                case .chunked: stage = .chunked(head.request, ChunkedBody())
                }
            case .length(let request, let length):
                guard heldBytes >= length else { return nil }
                let body = [UInt8](copying: buffer.bytes.extracting(consumed..<consumed + length))
                consumed += length
                return request.with(body: body)
            case .chunked(let request, var chunks):
                // The stage is replaced first, so that the body is not copied at every piece.
                stage = .failed
                consumed += try chunks.take(buffer.bytes.extracting(consumed..<buffer.count))
                if chunks.isComplete { return request.with(body: chunks.body) }
                stage = .chunked(request, chunks)
                return nil
            }
        }
    }

    /// Where the head ends, counted from `consumed`; nil if its end has not come. Looks at each byte once.
    private mutating func headEnd() throws(RequestFault) -> Int? {
        guard case .head(var at, var lineStart) = stage else { return nil }
        let end = try Self.headEnd(buffer.bytes.extracting(consumed..<buffer.count), &at, &lineStart)
        stage = .head(scanned: at, lineStart: lineStart)
        guard let end, buffer.bytes.byte(at: consumed) == 0x0D else { return end }
        // The empty line in front goes; an empty line alone is no head.
        guard end > 4 else { throw RequestFault(.badRequest, "There is no request line.") }
        consumed += 2
        return end - 2
    }

    private static func headEnd(
        _ bytes: RawSpan, _ at: inout Int, _ lineStart: inout Int
    ) throws(RequestFault) -> Int? {
        // One empty line before a request is passed over, as RFC 9112 asks (2.2).
        if at == 0, bytes.byteCount >= 2, bytes.byte(at: 0) == 0x0D, bytes.byte(at: 1) == 0x0A {
            at = 2
            lineStart = 2
        }
        while at < bytes.byteCount {
            let octet = bytes.byte(at: at)
            if octet == 0x0D {
                guard at + 1 < bytes.byteCount else { return nil }
                guard bytes.byte(at: at + 1) == 0x0A else {
                    throw RequestFault(.badRequest, "A line does not end in CR LF.")
                }
                guard at > lineStart else { return at + 2 }
                at += 2
                lineStart = at
            } else {
                guard ASCII.isFieldValue(octet) else {
                    throw RequestFault(.badRequest, "The head holds a control character.")
                }
                at += 1
            }
            if lineStart <= 2, at - lineStart > Limits.HTTP.requestLineBytes {
                throw RequestFault(.targetTooLong, "The request line is too long.")
            }
            if at > Limits.HTTP.requestHeadBytes {
                throw RequestFault(.headersTooLarge, "The headers are too long.")
            }
        }
        return nil
    }

    /// Drops the bytes of requests already given.
    private mutating func compact() {
        buffer.removeFirst(consumed)
        consumed = 0
    }
}
