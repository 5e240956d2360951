import Basics

/// The pending messages of one lane: the next message to send, and when unacknowledged ones were due.
struct PendingMessages {
    /// Number of messages whose times are kept, a power of two: far more than a window.
    static let kept = 4_096

    private let messages: [Template]
    private let endsRecords: Bool
    private var target: Int
    private var times = [Int64](repeating: 0, count: kept)
    private var next = 0
    /// Unacknowledged messages.
    private(set) var outstanding = 0

    /// Creates the state of a lane that sends `messages` in turn, starting with `first`; each is its own record, unless a batch
    /// forms one.
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

    /// Applies an acknowledgement, and calls `due` with the time at which each acknowledged message was due.
    @inline(__always)
    mutating func consume(_ answer: Answer, _ due: (Int64) -> Void) {
        switch answer {
        case .number(let number):
            due(times[number & (Self.kept - 1)])
            outstanding -= 1
        case .next(let count): consumeOldest(count, due)
        // The server's count has 32 bits; repeated counts are before the oldest pending message.
        case .before(let number):
            consumeOldest(Int(Int32(bitPattern: number &- UInt32(truncatingIfNeeded: oldest))), due)
        }
    }

    /// The number of the oldest unacknowledged message, if acknowledgements come in order.
    private var oldest: Int { next - outstanding }

    private mutating func consumeOldest(_ count: Int, _ due: (Int64) -> Void) {
        for _ in 0..<max(0, min(count, outstanding)) {
            due(times[oldest & (Self.kept - 1)])
            outstanding -= 1
        }
    }
}

/// An acknowledgement of a server.
enum Answer: Equatable {
    /// The message of that number; only the lower bits count if the number is cut.
    case number(Int)
    /// The oldest messages, by count.
    case next(Int)
    /// All messages before that number.
    case before(UInt32)
}
