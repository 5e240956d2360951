import Basics

/// Parses the byte stream of one connection into requests (RFC 9112), strictly and within `Limits`.
///
/// Call `append` with bytes as they arrive, and `next` for each request. After a fault nothing more can be read: the start of
/// the next request is unknown, so the connection must be closed to prevent request smuggling.
public struct RequestReader: ~Copyable {
    private var buffer = ByteBuffer()
    /// Bytes at the front of `buffer` that belong to requests already returned.
    private var consumed = 0
    private var stage = Stage.head(scanned: 0, lineStart: 0)

    private enum Stage {
        /// Searching for the end of a head; offsets count from `consumed`.
        case head(scanned: Int, lineStart: Int)
        case length(HTTPRequest, Int)
        case chunked(HTTPRequest, ChunkedBody)
        case failed
    }

    /// What was known of the request that could not be read.
    private var knownAtFault: HTTPRequest?

    /// Whether the peer waits for `100 Continue` before it sends a body; cleared by the sender of that response.
    public var expectsContinue = false

    /// Creates a reader for a new connection.
    public init() {}

    /// Bytes received and not yet returned in a request.
    public var heldBytes: Int { buffer.count - consumed }

    /// Whether a request has started and is incomplete.
    public var isInsideRequest: Bool {
        switch stage {
        case .head: heldBytes > 0
        case .length, .chunked: true
        case .failed: false
        }
    }

    /// The current request without its body; `nil` outside a body.
    public var openHead: HTTPRequest? {
        switch stage {
        case .head, .failed: nil
        case .length(let request, _), .chunked(let request, _): request
        }
    }

    /// What is known of the request that is incomplete or could not be read, for the form of its refusal: its head, or the complete
    /// lines of it; `nil` before the first one.
    public var knownRequest: HTTPRequest? {
        switch stage {
        case .length(let request, _), .chunked(let request, _): request
        case .head: RequestHead.known(in: buffer.bytes.extracting(consumed..<buffer.count))
        case .failed: knownAtFault
        }
    }

    /// Bytes received of the body of the current request; `nil` outside a body.
    public var bodyBytes: Int? {
        switch stage {
        case .head, .failed: nil
        case .length: heldBytes
        case .chunked(_, let chunks): chunks.body.count + heldBytes
        }
    }

    /// Appends bytes from the peer.
    public mutating func append(_ bytes: RawSpan) {
        if case .failed = stage { return }
        buffer.append(bytes)
    }

    /// Returns the next complete request, or `nil` if more bytes are needed.
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
            knownAtFault = knownAtFault ?? knownRequest
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
                // A request without a body is complete at once, and `next` clears the flag.
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
                // Clearing the stage first makes `chunks` uniquely referenced, so that its body is not copied for each piece.
                stage = .failed
                do throws(RequestFault) {
                    consumed += try chunks.consume(buffer.bytes.extracting(consumed..<buffer.count))
                } catch {
                    knownAtFault = request
                    throw error
                }
                if chunks.isComplete { return request.with(body: chunks.body) }
                stage = .chunked(request, chunks)
                return nil
            }
        }
    }

    /// Returns where the head ends, counted from `consumed`, or `nil` if it is incomplete. Each byte is scanned once.
    private mutating func headEnd() throws(RequestFault) -> Int? {
        guard case .head(var at, var lineStart) = stage else { return nil }
        let end = try Self.headEnd(buffer.bytes.extracting(consumed..<buffer.count), &at, &lineStart)
        stage = .head(scanned: at, lineStart: lineStart)
        guard let end, buffer.bytes.byte(at: consumed) == 0x0D else { return end }
        // An empty line before the request is dropped; two are refused.
        guard end > 4 else { throw RequestFault(.badRequest, "missing request line") }
        consumed += 2
        return end - 2
    }

    private static func headEnd(
        _ bytes: RawSpan, _ at: inout Int, _ lineStart: inout Int
    ) throws(RequestFault) -> Int? {
        // One empty line before a request is skipped, as RFC 9112 requires (2.2).
        if at == 0, bytes.byteCount >= 2, bytes.byte(at: 0) == 0x0D, bytes.byte(at: 1) == 0x0A {
            at = 2
            lineStart = 2
        }
        while at < bytes.byteCount {
            let byte = bytes.byte(at: at)
            if byte == 0x0D {
                guard at + 1 < bytes.byteCount else { return nil }
                guard bytes.byte(at: at + 1) == 0x0A else {
                    throw RequestFault(.badRequest, "invalid line end: expected CR LF")
                }
                guard at > lineStart else { return at + 2 }
                at += 2
                lineStart = at
            } else {
                guard ASCII.isFieldValue(byte) else {
                    throw RequestFault(.badRequest, "invalid head: control characters are not allowed")
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

    /// Drops the bytes of requests already returned.
    private mutating func compact() {
        buffer.removeFirst(consumed)
        consumed = 0
    }
}
