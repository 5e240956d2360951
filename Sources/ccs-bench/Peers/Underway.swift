import Basics

/// The books of one lane: which message it sends next, and when those were due that have no answer yet.
struct Underway {
    /// Of so many messages the times are kept, a power of two: far more than a window.
    static let kept = 4_096

    private let messages: [Template]
    private let endsRecords: Bool
    private var target: Int
    private var times = [Int64](repeating: 0, count: kept)
    private var next = 0
    /// Messages that have no answer.
    private(set) var outstanding = 0

    /// Sends one of `messages` after the other, beginning with `first`; each is a record of its own, or else all of a batch are
    /// one.
    init(_ messages: [Template], first: Int = 0, endsRecords: Bool = true) {
        self.messages = messages
        self.endsRecords = endsRecords
        target = first
    }

    /// Writes the next message, which was due at a time.
    @inline(__always)
    mutating func send(dueAt time: Int64, to outbox: inout Outbox) {
        times[next & (Self.kept - 1)] = time
        messages[target].append(number: next, time: time, to: &outbox, endsRecord: endsRecords)
        target = target + 1 == messages.count ? 0 : target + 1
        next += 1
        outstanding += 1
    }

    /// Takes an answer, and says when each message was due that it answers.
    @inline(__always)
    mutating func take(_ answer: Answer, _ due: (Int64) -> Void) {
        switch answer {
        case .number(let number):
            due(times[number & (Self.kept - 1)])
            outstanding -= 1
        case .next(let count): takeOldest(count, due)
        // What the server counts is cut to 32 bits; what it has said before is behind the oldest.
        case .before(let number):
            takeOldest(Int(Int32(bitPattern: number &- UInt32(truncatingIfNeeded: oldest))), due)
        }
    }

    /// The number of the oldest message without an answer, where answers come in order.
    private var oldest: Int { next - outstanding }

    private mutating func takeOldest(_ count: Int, _ due: (Int64) -> Void) {
        for _ in 0..<max(0, min(count, outstanding)) {
            due(times[oldest & (Self.kept - 1)])
            outstanding -= 1
        }
    }
}

/// What a server has answered.
enum Answer: Equatable {
    /// The message of that number; of numbers that are cut only the lower bits count.
    case number(Int)
    /// So many of the oldest messages.
    case next(Int)
    /// All messages before that number.
    case before(UInt32)
}
