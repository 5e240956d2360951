import Basics
import HTTP2Engine

/// Follows the frames of a byte stream (RFC 9113, 4.1), for any split, to see those that the HTTP/2 session drops without a word: of
/// unknown types (5.5), and of streams that have ended.
struct FrameScanner {
    /// Bytes of the preface that are still to come; the server's side of a connection begins with one.
    private var preface: Int
    /// The header of a frame, as far as it has arrived.
    private var header = 0
    private var length = 0
    private var isKnown = true
    /// Bytes of the payload that are still to come.
    private var payload = 0
    /// The number of frames whose headers have arrived.
    private(set) var frames = 0

    private static let headerBytes = 9

    /// Creates a scanner for the stream of a client, which begins with the preface, or of a server.
    init(ofClient: Bool) { preface = ofClient ? HTTP2Preface.bytes.count : 0 }

    /// Scans the next bytes. Returns whether any of them belong to a frame of a known type: only those show that the peer is at work.
    mutating func scan(_ bytes: borrowing RawSpan) -> Bool {
        var at = min(preface, bytes.byteCount)
        var hasKnown = at > 0
        preface -= at
        while at < bytes.byteCount {
            if payload > 0 {
                let count = min(payload, bytes.byteCount - at)
                payload -= count
                at += count
                hasKnown = hasKnown || isKnown
                continue
            }
            read(bytes.byte(at: at))
            at += 1
            if header == 0 { hasKnown = hasKnown || isKnown }
        }
        return hasKnown
    }

    /// Reads a byte of a header: three of the length, one of the type, five that do not matter here.
    private mutating func read(_ byte: UInt8) {
        switch header {
        case 0...2: length = (header == 0 ? 0 : length << 8) | Int(byte)
        case 3: isKnown = HTTP2FrameType(rawValue: byte) != nil
        default: break
        }
        header += 1
        guard header == Self.headerBytes else { return }
        header = 0
        payload = length
        frames += 1
    }
}
