import Basics

/// One commit in a journal file: a header, then its entries (`JournalEntry`).
///
/// The header is a hash of everything after it (8 bytes), the length of the entries (8) and the number of the commit (8). The hash
/// is keyed with the file and the commit, so that a frame is valid in its own place only.
enum JournalFrame {
    /// Length of the header in bytes.
    static let head = 24

    /// Fills in the header of a frame. The buffer starts with `head` bytes for it.
    static func seal(_ frame: inout ByteBuffer, commit: UInt64, segment: UInt64) {
        frame.set(word: UInt64(frame.count - head), at: 8)
        frame.set(word: commit, at: 16)
        frame.set(word: hash(frame.bytes.extracting(8..<frame.count), commit, segment), at: 0)
    }

    /// Returns the range of the entries in the frame at an offset. Returns `nil` if the frame is missing or incomplete.
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
