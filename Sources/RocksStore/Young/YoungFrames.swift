import Basics
import Store

/// The bytes of commits, each kept until none of its messages is young any more.
///
/// Records lie in them as they went to the journal: nothing of a message is kept a second time, and counted references to a
/// message are none of the store's business (they were a fifth of the committing thread's work).
struct YoungFrames: Sendable {
    private struct Frame: Sendable {
        var bytes: [UInt8]
        /// How many need it.
        var uses: Int
    }

    private var frames: [Frame] = []
    private var free: [Int32] = []
    /// How many are kept.
    var count: Int { frames.count - free.count }

    /// Keeps the bytes of a commit for one that needs them; their number.
    mutating func keep(_ bytes: borrowing RawSpan) -> Int32 {
        let frame = Frame(bytes: [UInt8](copying: bytes), uses: 1)
        if let number = free.popLast() {
            frames[Int(number)] = frame
            return number
        }
        frames.append(frame)
        return Int32(frames.count - 1)
    }

    /// One more needs them.
    mutating func retain(_ number: Int32) throws(StoreError) {
        try demand(uses(number) > 0, "the bytes of a commit are used after they were released")
        frames[Int(number)].uses += 1
    }

    private func uses(_ number: Int32) -> Int {
        number >= 0 && number < frames.count ? frames[Int(number)].uses : 0
    }

    /// One less does; the last one gives them back.
    mutating func release(_ number: Int32) throws(StoreError) {
        try demand(uses(number) > 0, "the bytes of a commit are released more often than they were used")
        frames[Int(number)].uses -= 1
        guard frames[Int(number)].uses == 0 else { return }
        frames[Int(number)].bytes = []
        free.append(number)
    }

    /// All bytes of a commit.
    subscript(number: Int32) -> [UInt8] { frames[Int(number)].bytes }
}
