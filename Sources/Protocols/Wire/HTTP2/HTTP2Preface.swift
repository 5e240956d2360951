import Basics

/// Detects from the first bytes of a connection whether the peer speaks HTTP/2 (RFC 9113, 3.4).
public struct HTTP2Preface: Sendable {
    /// The connection preface that an HTTP/2 client sends first.
    public static let bytes = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    private var matched = 0

    /// The result for the bytes so far.
    public enum Verdict: Sendable, Equatable {
        /// More bytes are needed.
        case open
        /// Whether the peer speaks HTTP/2; `earlier` bytes of the preface came in earlier calls.
        case isHTTP2(Bool, earlier: Int)
    }

    /// Creates a detector at the start of a connection.
    public init() {}

    /// Compares the next bytes with the preface.
    public mutating func look(at bytes: borrowing RawSpan) -> Verdict {
        let earlier = matched
        for at in 0..<bytes.byteCount {
            guard bytes.byte(at: at) == Self.bytes[matched] else { return .isHTTP2(false, earlier: earlier) }
            matched += 1
            if matched == Self.bytes.count { return .isHTTP2(true, earlier: earlier) }
        }
        return .open
    }
}
