import Basics

/// One commit in a file of the journal: a head, then its entries (`JournalEntry`).
///
/// The head: a hash of all that follows it (8 bytes), the length of the entries (8), the number of the commit (8). The hash is
/// keyed by the file and the commit, so that no frame is taken for one of another place.
enum JournalFrame {
    /// Bytes of the head.
    static let head = 24

    /// Fills in the head of a frame, for which `head` bytes were left at the start of the buffer.
    static func seal(_ frame: inout ByteBuffer, commit: UInt64, segment: UInt64) {
        frame.set(word: UInt64(frame.count - head), at: 8)
        frame.set(word: commit, at: 16)
        frame.set(word: hash(frame.bytes.extracting(8..<frame.count), commit, segment), at: 0)
    }

    /// Where the entries of the frame of a commit lie, which begins at an offset; nil: no such frame is there, or not whole.
    static func entries(
        in file: borrowing RawSpan, at start: Int, commit: UInt64, segment: UInt64
    ) -> Range<Int>? {
        guard file.byteCount - start >= head, file.word(at: start + 16) == commit,
            let length = Int(exactly: file.word(at: start + 8)), length <= file.byteCount - start - head
        else { return nil }
        let end = start + head + length
        guard file.word(at: start) == hash(file.extracting(start + 8..<end), commit, segment) else {
            return nil
        }
        return start + head..<end
    }

    private static func hash(_ bytes: borrowing RawSpan, _ commit: UInt64, _ segment: UInt64) -> UInt64 {
        SipHash(key: (segment, commit)).hash(bytes)
    }
}
