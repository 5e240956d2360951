import Basics

/// Finds out from the first bytes of a connection whether the peer speaks HTTP/2 (RFC 9113, 3.4).
public struct HTTP2Preface: Sendable {
    /// What a peer that speaks it sends first.
    public static let octets = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    private var matched = 0

    /// What the bytes so far say.
    public enum Verdict: Sendable, Equatable {
        /// More are needed.
        case open
        /// The peer speaks HTTP/2, or something else; so many bytes of the preface came before those given now.
        case isHTTP2(Bool, earlier: Int)
    }

    /// Nothing has come.
    public init() {}

    /// Looks at the next bytes.
    public mutating func look(at bytes: borrowing RawSpan) -> Verdict {
        let earlier = matched
        for at in 0..<bytes.byteCount {
            guard bytes.byte(at: at) == Self.octets[matched] else { return .isHTTP2(false, earlier: earlier) }
            matched += 1
            if matched == Self.octets.count { return .isHTTP2(true, earlier: earlier) }
        }
        return .open
    }
}
