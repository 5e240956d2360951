import Basics
import Delivery
import Store

/// A change of the recent messages by a commit, applied once the commit is written.
enum RecentChange {
    /// A message was put. The range of its record is in the frame of the commit.
    case put(MessageKey, record: Range<Int>, MessageRecord.Header)
    case remove(MessageKey)
}

/// The recent messages as loads see them: messages that are in the journal and in memory, but not in the engine yet.
struct RecentMessages: Sendable {
    struct Entry: Sendable {
        /// The frame with the record, and the range of the record in it.
        var frame: Int32
        var start: Int32
        var count: Int32
        var isCounted: Bool
        var expiresAt: UnixMilliseconds
    }

    /// The messages of one partition.
    struct Part: Sendable {
        var messages: Mailboxes<Entry>
        var upstream: Mailboxes<Entry>
        /// No message in the partition expires earlier.
        var watermark = UnixMilliseconds.max

        init(kept: Int) {
            messages = Mailboxes(kept: kept)
            upstream = Mailboxes(kept: kept)
        }

        /// The mailboxes of a direction.
        subscript(kind: ExpiryKey.Kind) -> Mailboxes<Entry> {
            _read {
                if kind == .upstream { yield upstream } else { yield messages }
            }
            _modify {
                if kind == .upstream { yield &upstream } else { yield &messages }
            }
        }
    }

    var parts: [Part]
    private(set) var frames = RecentFrames()
    /// The tallies of the partitions as of the last commit.
    private(set) var tallies: [Tally]

    /// Creates a state without messages, with the tallies of the partitions.
    init(tallies: [Tally]) {
        self.tallies = tallies
        let kept = max(
            Limits.Partition.leastEmptyMailboxes, Limits.Journal.emptyMailboxes / max(1, tallies.count))
        parts = Array(repeating: Part(kept: kept), count: tallies.count)
    }

    private func partition(of key: PartitionKey) -> Int { key.partition(of: parts.count) }

    /// Applies the changes of a commit.
    mutating func apply(
        _ changes: [RecentChange], of frame: borrowing RawSpan, counted: [(partition: Int, tally: Tally)]
    ) throws(StoreError) {
        for (partition, tally) in counted {
            try demand(
                partition >= 0 && partition < tallies.count, "a tally has an invalid partition",
                "partition \(partition)")
            try tally.demandFollows(tallies[partition], partition: partition)
            tallies[partition] = tally
        }
        var kept: Int32?
        for change in changes {
            switch change {
            case .put(let messageKey, let record, let header):
                try demand(
                    record.upperBound <= frame.byteCount, "a record ends after its frame",
                    "\(messageKey)")
                let number = kept ?? frames.keep(frame)
                kept = number
                try put(
                    messageKey,
                    Entry(
                        frame: number, start: Int32(record.lowerBound), count: Int32(record.count),
                        isCounted: header.isCounted, expiresAt: header.expiresAt))
            case .remove(let messageKey): try remove(messageKey)
            }
        }
        if let kept { try frames.release(kept) }
    }

    private mutating func put(_ messageKey: MessageKey, _ entry: Entry) throws(StoreError) {
        let partition = messageKey.partition(of: parts.count)
        let isPut = parts[partition][messageKey.kind].put(entry, messageKey.owner, messageKey.sequence)
        try demand(isPut, "a recent message is put twice", "\(messageKey)")
        try frames.retain(entry.frame)
        parts[partition].watermark = min(parts[partition].watermark, entry.expiresAt)
    }

    /// Removes a message that was deleted or moved to the engine.
    mutating func remove(_ messageKey: MessageKey) throws(StoreError) {
        let entry = try demand(
            parts[messageKey.partition(of: parts.count)][messageKey.kind].remove(
                messageKey.owner, messageKey.sequence),
            "a message that leaves memory is not in memory", "\(messageKey)")
        try frames.release(entry.frame)
    }

    /// Returns a message and its expiry time. Returns `nil` if it is not a recent message.
    func row(at messageKey: MessageKey) -> (row: RecentRow, end: UnixMilliseconds)? {
        let entry = parts[messageKey.partition(of: parts.count)][messageKey.kind][
            messageKey.owner, messageKey.sequence]
        return entry.map { (row(messageKey.sequence, $0), $0.expiresAt) }
    }

    private func row(_ sequence: UInt64, _ entry: Entry) -> RecentRow {
        let start = Int(entry.start)
        return RecentRow(
            sequence: sequence, frame: frames[entry.frame], range: start..<start + Int(entry.count))
    }

    /// Returns whether a message of a partition may expire by a time.
    func mayEnd(by time: UnixMilliseconds, of partition: Int) -> Bool { parts[partition].watermark <= time }

    /// Returns up to `limit` messages of a partition that expire by a time, earliest first.
    mutating func ends(
        by time: UnixMilliseconds, of partition: Int, limit: Int
    ) throws(StoreError) -> [ExpiryKey] {
        guard mayEnd(by: time, of: partition) else { return [] }
        var ends: [ExpiryKey] = []
        var first = UnixMilliseconds.max
        func look(_ kind: ExpiryKey.Kind, _ owner: UInt64, _ sequence: UInt64, _ entry: Entry) {
            first = min(first, entry.expiresAt)
            guard entry.expiresAt <= time else { return }
            ends.append(ExpiryKey(time: entry.expiresAt, kind: kind, owner: owner, sequence: sequence))
        }
        parts[partition].messages.forEach { look(.message, $0, $1, $2) }
        parts[partition].upstream.forEach { look(.upstream, $0, $1, $2) }
        try demand(
            first >= parts[partition].watermark, "a message in memory expires before the watermark",
            "partition \(partition)")
        parts[partition].watermark = first
        ends.sort()
        return Array(ends.prefix(limit))
    }

    /// Adds the recent messages and the tallies to an audit.
    func count(in audit: inout StoreAudit) {
        audit.add(tallies)
        for part in parts {
            part.messages.forEach { if $2.isCounted { audit.downstreamPending += 1 } }
            part.upstream.forEach { if $2.isCounted { audit.upstreamPending += 1 } }
        }
    }

    /// Returns the recent messages that belong to the answer of a load.
    func part(of load: StoreQuery) -> RecentPart {
        switch load {
        case .device(let device), .named(let device, _, _):
            let part = parts[partition(of: .device(device))]
            return RecentPart(rows: part.messages.all(device.number).map { row($0, $1) })
        case .messages(let device, let after, let limit):
            let part = parts[partition(of: .device(device))]
            let (page, isLast) = part.messages.page(device.number, after: after.number, limit: limit)
            return RecentPart(rows: page.map { row($0, $1) }, isLast: isLast)
        case .gatewayMessage(let device, let sequence):
            let part = parts[partition(of: .device(device))]
            let (page, isLast) = part.messages.page(
                device.number, after: max(1, sequence.number) - 1, limit: 1)
            return RecentPart(rows: page.map { row($0, $1) }, isLast: isLast)
        case .upstream(let sender, let after, let limit):
            let part = parts[partition(of: .sender(sender))]
            let (page, isLast) = part.upstream.page(sender.number, after: after.number, limit: limit)
            return RecentPart(rows: page.map { row($0, $1) }, isLast: isLast)
        default: return RecentPart()
        }
    }
}

/// A recent message: its sequence, and its record in the frame of its commit.
struct RecentRow {
    let sequence: UInt64
    private let frame: [UInt8]
    private let range: Range<Int>

    init(sequence: UInt64, frame: [UInt8], range: Range<Int>) {
        self.sequence = sequence
        self.frame = frame
        self.range = range
    }

    /// The record of the message.
    var record: RawSpan {
        @_lifetime(borrow self)
        get { frame.raw.extracting(range) }
    }
}

/// The recent messages that belong to the answer of a load, as of the snapshot of the engine.
struct RecentPart {
    /// The messages in order of their sequences.
    var rows: [RecentRow] = []
    /// Whether no others follow.
    var isLast = true
}

/// Merges two sorted arrays.
func merged<Element>(
    _ a: [Element], _ b: [Element], by isBefore: (Element, Element) -> Bool
) -> [Element] {
    if a.isEmpty { return b }
    if b.isEmpty { return a }
    var both: [Element] = []
    both.reserveCapacity(a.count + b.count)
    var (i, j) = (0, 0)
    while i < a.count, j < b.count {
        if isBefore(b[j], a[i]) {
            both.append(b[j])
            j += 1
        } else {
            both.append(a[i])
            i += 1
        }
    }
    both += a[i...]
    both += b[j...]
    return both
}
