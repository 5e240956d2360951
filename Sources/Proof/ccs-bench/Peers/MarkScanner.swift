import Basics

/// Finds marks and the digits after them in a stream that may be split anywhere.
struct MarkScanner {
    private let mark: (UInt8, UInt8)
    private let digits: Int
    private var carry: [UInt8] = []

    /// Creates a scanner for a mark of two bytes with `digits` digits after it.
    init(mark: [UInt8], digits: Int) {
        self.mark = (mark[0], mark[1])
        self.digits = digits
    }

    /// Calls `found` with a span and the offset of the digits, for each mark in the stream so far.
    @inline(__always)
    mutating func scan(_ bytes: RawSpan, _ found: (RawSpan, Int) -> Void) {
        guard carry.isEmpty else {
            var joined = carry
            joined += [UInt8](copying: bytes)
            carry.removeAll()
            return scanWhole(joined.raw, found)
        }
        scanWhole(bytes, found)
    }

    @inline(__always)
    private mutating func scanWhole(_ bytes: RawSpan, _ found: (RawSpan, Int) -> Void) {
        var at = 0
        let count = bytes.byteCount
        while at + 1 < count {
            guard bytes.byte(at: at) == mark.0, bytes.byte(at: at + 1) == mark.1 else {
                at += 1
                continue
            }
            guard at + 2 + digits <= count else { break }
            found(bytes, at + 2)
            at += 2 + digits
        }
        // A possible start of a mark is kept for the next piece.
        if at < count, bytes.byte(at: at) == mark.0 { carry = [UInt8](copying: bytes.extracting(at..<count)) }
    }
}
