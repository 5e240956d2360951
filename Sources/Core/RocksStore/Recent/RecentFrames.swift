import Basics
import Store

/// The frames of commits with recent messages, counted by use and freed with the last message.
///
/// Records are read from the bytes that were written to the journal, so that no message is kept twice. Reference-counted objects
/// per message took a fifth of the committing thread's time.
struct RecentFrames: Sendable {
    struct Frame: Sendable {
        var bytes: [UInt8]
        /// Number of messages that use the frame.
        var uses: Int
    }

    private(set) var frames: [Frame] = []
    /// The numbers of entries without a frame, used again by the next ones.
    private(set) var free: [Int32] = []

    /// Keeps a copy of a frame with one use. Returns its number.
    mutating func keep(_ bytes: borrowing RawSpan) -> Int32 {
        let frame = Frame(bytes: [UInt8](copying: bytes), uses: 1)
        if let number = free.popLast() {
            frames[Int(number)] = frame
            return number
        }
        frames.append(frame)
        return Int32(frames.count - 1)
    }

    /// Adds a use of a frame.
    mutating func retain(_ number: Int32) throws(StoreError) {
        try demand(uses(number) > 0, "a frame is used after it was freed")
        frames[Int(number)].uses += 1
    }

    private func uses(_ number: Int32) -> Int {
        number >= 0 && number < frames.count ? frames[Int(number)].uses : 0
    }

    /// Ends a use of a frame. The last one frees it.
    mutating func release(_ number: Int32) throws(StoreError) {
        try demand(uses(number) > 0, "a frame is released more often than it is used")
        frames[Int(number)].uses -= 1
        guard frames[Int(number)].uses == 0 else { return }
        frames[Int(number)].bytes = []
        free.append(number)
    }

    /// The bytes of a frame.
    subscript(number: Int32) -> [UInt8] { frames[Int(number)].bytes }
}
