import Basics

/// Decodes the chunked transfer coding incrementally (RFC 9112, 7.1).
struct ChunkedBody {
    /// The decoded body so far.
    private(set) var body: [UInt8] = []
    /// Whether the last chunk and the trailers have arrived.
    private(set) var isComplete = false
    private var stage = Stage.size
    private var trailers = 0

    private enum Stage {
        case size
        case data(left: Int)
        case dataEnd
        case trailer
    }

    /// Consumes bytes from the front of `bytes`. Returns how many; the caller passes the others again with the next ones.
    mutating func consume(_ bytes: borrowing RawSpan) throws(RequestFault) -> Int {
        var at = 0
        while !isComplete {
            switch stage {
            case .data(let left):
                let taken = min(left, bytes.byteCount - at)
                guard taken > 0 else { return at }
                body.append(contentsOf: [UInt8](copying: bytes.extracting(at..<at + taken)))
                at += taken
                stage = taken == left ? .dataEnd : .data(left: left - taken)
            case .size, .dataEnd, .trailer:
                guard let end = try Self.lineEnd(bytes, from: at) else { return at }
                try process(line: bytes.extracting(at..<end))
                at = end + 2
            }
        }
        return at
    }

    private mutating func process(line: RawSpan) throws(RequestFault) {
        switch stage {
        case .size:
            let size = try Self.size(line)
            guard body.count + size <= Limits.HTTP.requestBodyBytes else {
                throw RequestFault(.contentTooLarge, "The body is too long.")
            }
            stage = size == 0 ? .trailer : .data(left: size)
        case .dataEnd:
            guard line.byteCount == 0 else {
                throw RequestFault(.badRequest, "invalid chunk: expected CR LF after the announced length")
            }
            stage = .size
        case .trailer:
            guard line.byteCount > 0 else { return isComplete = true }
            try checkTrailer(line)
        case .data: break
        }
    }

    /// Returns where the line from `start` ends, or `nil` if its end has not arrived.
    private static func lineEnd(_ bytes: RawSpan, from start: Int) throws(RequestFault) -> Int? {
        var at = start
        while at < bytes.byteCount {
            let byte = bytes.byte(at: at)
            if byte == 0x0D {
                guard at + 1 < bytes.byteCount else { return nil }
                guard bytes.byte(at: at + 1) == 0x0A else { break }
                return at
            }
            guard ASCII.isFieldValue(byte) else { break }
            at += 1
            guard at - start <= Limits.HTTP.chunkLineBytes else {
                throw RequestFault(.badRequest, "A line between chunks is too long.")
            }
        }
        guard at == bytes.byteCount else {
            throw RequestFault(.badRequest, "invalid chunked body: expected a line that ends in CR LF")
        }
        return nil
    }

    /// Parses the size in a chunk line; an extension after `;` is ignored.
    private static func size(_ line: RawSpan) throws(RequestFault) -> Int {
        var size = 0
        var at = 0
        while at < line.byteCount, at < 8, let digit = Hex.value(of: line.byte(at: at)) {
            size = size << 4 | Int(digit)
            at += 1
        }
        guard at > 0, at == line.byteCount || line.byte(at: at) == UInt8(ascii: ";") else {
            throw RequestFault(.badRequest, "invalid chunk size: expected 1 to 8 hexadecimal digits")
        }
        return size
    }

    /// Checks a trailer like a header; trailers are then dropped, since none is used.
    private mutating func checkTrailer(_ line: RawSpan) throws(RequestFault) {
        trailers += 1
        var at = 0
        while at < line.byteCount, ASCII.isToken(line.byte(at: at)) { at += 1 }
        guard trailers <= Limits.HTTP.requestHeaders, at > 0, at < line.byteCount,
            line.byte(at: at) == UInt8(ascii: ":")
        else { throw RequestFault(.badRequest, "invalid trailers: expected header lines") }
    }
}
