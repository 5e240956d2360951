import Basics
import Delivery
import Store

/// What a commit changes among the young messages, once it is on the disk.
enum YoungChange {
    /// A message was put, whose record lies there in the commit's frame.
    case put(Place, record: Range<Int>, MessageRecord.Header)
    case remove(Place)
}

/// The messages that are not in the engine yet, as loads see them: where each has its record.
struct Young: Sendable {
    private struct Entry: Sendable {
        /// The bytes that hold its record, and where.
        var frame: Int32
        var start: Int32
        var count: Int32
        var isCounted: Bool
        var expiresAt: UnixMilliseconds
    }

    /// The messages of one partition.
    private struct Part: Sendable {
        var messages: Mailboxes<Entry>
        var upstream: Mailboxes<Entry>
        /// Nothing of it ends before.
        var floor = UnixMilliseconds.max

        init(kept: Int) {
            messages = Mailboxes(kept: kept)
            upstream = Mailboxes(kept: kept)
        }

        /// The mailboxes of one direction.
        subscript(kind: ExpiryKey.Kind) -> Mailboxes<Entry> {
            _read {
                if kind == .upstream { yield upstream } else { yield messages }
            }
            _modify {
                if kind == .upstream { yield &upstream } else { yield &messages }
            }
        }
    }

    private var parts: [Part]
    private var frames = YoungFrames()
    /// What the partitions had counted with the last commit.
    private(set) var tallies: [Tally]
    /// Of how many commits it keeps the bytes.
    var frameCount: Int { frames.count }

    /// None, and what each partition has counted.
    init(tallies: [Tally]) {
        self.tallies = tallies
        let kept = max(
            Limits.Partition.leastEmptyMailboxes, Limits.Journal.emptyMailboxes / max(1, tallies.count))
        parts = Array(repeating: Part(kept: kept), count: tallies.count)
    }

    private func partition(of key: PartitionKey) -> Int { key.partition(of: parts.count) }

    /// Does what a commit did.
    mutating func apply(
        _ changes: [YoungChange], of frame: borrowing RawSpan, counted: [(partition: Int, tally: Tally)]
    ) throws(StoreError) {
        for (partition, tally) in counted {
            try demand(
                partition >= 0 && partition < tallies.count, "a count of a partition that does not exist",
                "partition \(partition)")
            try tally.demandFollows(tallies[partition], partition: partition)
            tallies[partition] = tally
        }
        var kept: Int32?
        for change in changes {
            switch change {
            case .put(let place, let record, let header):
                try demand(
                    record.upperBound <= frame.byteCount, "a record lies behind the end of its commit",
                    "\(place)")
                let number = kept ?? frames.keep(frame)
                kept = number
                try put(
                    place,
                    Entry(
                        frame: number, start: Int32(record.lowerBound), count: Int32(record.count),
                        isCounted: header.isCounted, expiresAt: header.expiresAt))
            case .remove(let place): try remove(place)
            }
        }
        if let kept { try frames.release(kept) }
    }

    private mutating func put(_ place: Place, _ entry: Entry) throws(StoreError) {
        let partition = partition(of: place.key)
        let isPut = parts[partition][place.kind].put(entry, place.owner, place.sequence)
        try demand(isPut, "a message is put in memory twice", "\(place)")
        try frames.retain(entry.frame)
        parts[partition].floor = min(parts[partition].floor, entry.expiresAt)
    }

    /// A message is gone, or is in the engine from now on.
    mutating func remove(_ place: Place) throws(StoreError) {
        let entry = try demand(
            parts[partition(of: place.key)][place.kind].remove(place.owner, place.sequence),
            "a message leaves memory that is not there", "\(place)")
        try frames.release(entry.frame)
    }

    /// A message and when it ends; nil: there is none.
    func row(at place: Place) -> (row: YoungRow, end: UnixMilliseconds)? {
        let entry = parts[partition(of: place.key)][place.kind][place.owner, place.sequence]
        return entry.map { (row(place.sequence, $0), $0.expiresAt) }
    }

    private func row(_ sequence: UInt64, _ entry: Entry) -> YoungRow {
        let start = Int(entry.start)
        return YoungRow(
            sequence: sequence, frame: frames[entry.frame], range: start..<start + Int(entry.count))
    }

    /// Whether something of a partition may end by a time.
    func mayEnd(by time: UnixMilliseconds, of partition: Int) -> Bool { parts[partition].floor <= time }

    /// What ends by a time in a partition, earliest first, up to `limit`.
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
            first >= parts[partition].floor, "a message in memory expires before the watermark",
            "partition \(partition)")
        parts[partition].floor = first
        ends.sort()
        return Array(ends.prefix(limit))
    }

    /// Sets the watermark of a partition. Tests break it with this.
    mutating func setFloor(_ floor: UnixMilliseconds, of partition: Int) { parts[partition].floor = floor }

    /// Counts what is there, and what was counted.
    func count(in audit: inout StoreAudit) {
        audit.add(tallies)
        for part in parts {
            part.messages.forEach { if $2.isCounted { audit.downstreamPending += 1 } }
            part.upstream.forEach { if $2.isCounted { audit.upstreamPending += 1 } }
        }
    }

    /// What it has to say to a question.
    func part(of load: StoreQuery) -> YoungPart {
        switch load {
        case .device(let device):
            let part = parts[partition(of: .device(device))]
            return YoungPart(rows: part.messages.all(device.number).map { row($0, $1) })
        case .messages(let device, let after, let limit):
            let part = parts[partition(of: .device(device))]
            let (page, isLast) = part.messages.page(device.number, after: after.number, limit: limit)
            return YoungPart(rows: page.map { row($0, $1) }, isLast: isLast)
        case .upstream(let sender, let after, let limit):
            let part = parts[partition(of: .sender(sender))]
            let (page, isLast) = part.upstream.page(sender.number, after: after.number, limit: limit)
            return YoungPart(rows: page.map { row($0, $1) }, isLast: isLast)
        default: return YoungPart()
        }
    }
}

/// A young message: its place in the mailbox, and its record among the bytes of its commit.
struct YoungRow {
    let sequence: UInt64
    private let frame: [UInt8]
    private let range: Range<Int>

    init(sequence: UInt64, frame: [UInt8], range: Range<Int>) {
        self.sequence = sequence
        self.frame = frame
        self.range = range
    }

    /// Its record.
    var record: RawSpan {
        @_lifetime(borrow self)
        get { frame.raw.extracting(range) }
    }
}

/// What the young messages have to say to a question, taken at the moment of the engine's snapshot.
struct YoungPart {
    /// In order.
    var rows: [YoungRow] = []
    /// Whether no more of them follow.
    var isLast = true
}

/// Two runs in order made one.
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
