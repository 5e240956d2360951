public import Basics

/// A kind of message that is counted for each sender.
public enum SenderCount: Int, CaseIterable, Sendable {
    case accepted
    case refused
    case delivered
    case forwarded
    case replaced
    case expired
    case discarded
    case removed
    case upstreamAccepted
    case upstreamRefused
    case upstreamDelivered
    case upstreamExpired
    case upstreamRemoved

    /// The milestone and whether the message is one from a device.
    public var meaning: (milestone: Milestone, isUpstream: Bool) {
        switch self {
        case .accepted: (.accepted, false)
        case .refused: (.refused, false)
        case .delivered: (.delivered, false)
        case .forwarded: (.forwarded, false)
        case .replaced: (.replaced, false)
        case .expired: (.expired, false)
        case .discarded: (.discarded, false)
        case .removed: (.removed, false)
        case .upstreamAccepted: (.accepted, true)
        case .upstreamRefused: (.refused, true)
        case .upstreamDelivered: (.delivered, true)
        case .upstreamExpired: (.expired, true)
        case .upstreamRemoved: (.removed, true)
        }
    }

    /// Returns the count for a milestone. Returns `nil` if it is not counted for each sender.
    init?(_ milestone: Milestone, isUpstream: Bool) {
        switch (milestone, isUpstream) {
        case (.accepted, false): self = .accepted
        case (.refused, false): self = .refused
        case (.delivered, false): self = .delivered
        case (.forwarded, false): self = .forwarded
        case (.replaced, false): self = .replaced
        case (.expired, false): self = .expired
        case (.discarded, false): self = .discarded
        case (.removed, false): self = .removed
        case (.accepted, true): self = .upstreamAccepted
        case (.refused, true): self = .upstreamRefused
        case (.delivered, true): self = .upstreamDelivered
        case (.expired, true): self = .upstreamExpired
        case (.removed, true): self = .upstreamRemoved
        default: return nil
        }
    }
}

/// The messages of one sender by kind.
public struct SenderCounts: Sendable {
    private var counts = InlineArray<13, Int>(repeating: 0)

    /// Creates counts of 0.
    public init() {}

    /// The messages of a kind.
    public subscript(kind: SenderCount) -> Int {
        @inline(__always) get { counts[kind.rawValue] }
        @inline(__always) set { counts[kind.rawValue] = newValue }
    }

    /// Adds other counts.
    public mutating func add(_ other: SenderCounts) {
        for at in counts.indices { counts[at] &+= other.counts[at] }
    }

    /// The number of all messages.
    public var total: Int {
        var total = 0
        for at in counts.indices { total &+= counts[at] }
        return total
    }
}

/// The messages of a turn by sender. A sender may have several rows: only the last few are searched, since a turn seldom has more.
public struct SenderTally: Sendable {
    /// A row of a sender.
    public struct Row: Sendable {
        public var sender: SenderID
        public var counts = SenderCounts()
    }

    /// Refused messages of a sender.
    public struct Refused: Sendable {
        public var sender: SenderID
        public var reason: RefusalReason
        public var count: Int
    }

    /// The rows, at most one for each message of the turn.
    public private(set) var rows: [Row] = []
    /// The reasons of the refused messages, which are in `rows` as well.
    public private(set) var refused: [Refused] = []
    private static let searched = 8

    /// Creates an empty tally.
    public init() {}

    /// Counts a message; one without a sender is not counted.
    @inline(__always)
    mutating func count(_ kind: SenderCount, of sender: SenderID?, _ amount: Int = 1) {
        guard let sender else { return }
        let last = rows.count &- 1
        if last >= 0, rows[last].sender == sender {
            rows[last].counts[kind] &+= amount
        } else {
            addRow(kind, sender, amount)
        }
    }

    private mutating func addRow(_ kind: SenderCount, _ sender: SenderID, _ amount: Int) {
        var at = rows.count
        let end = max(0, at - Self.searched)
        while at > end {
            at -= 1
            guard rows[at].sender == sender else { continue }
            rows[at].counts[kind] &+= amount
            return
        }
        var row = Row(sender: sender)
        row.counts[kind] = amount
        rows.append(row)
    }

    /// Counts messages that were refused for a reason; those without a sender are not counted.
    public mutating func countRefused(_ reason: RefusalReason, of sender: SenderID?, _ amount: Int = 1) {
        guard let sender else { return }
        count(.refused, of: sender, amount)
        if let last = refused.last, last.sender == sender, last.reason == reason {
            refused[refused.count - 1].count += amount
        } else {
            refused.append(Refused(sender: sender, reason: reason, count: amount))
        }
    }

    /// Adds the rows of another tally.
    public mutating func add(_ other: SenderTally) {
        refused += other.refused
        for row in other.rows {
            guard rows.last?.sender == row.sender else {
                rows.append(row)
                continue
            }
            rows[rows.count - 1].counts.add(row.counts)
        }
    }

    /// Removes the rows and keeps their storage.
    public mutating func removeAll() {
        rows.removeAll(keepingCapacity: true)
        if !refused.isEmpty { refused.removeAll() }
    }
}
