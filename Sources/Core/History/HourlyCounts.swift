public import Basics
public import Delivery

/// Counts of the messages to devices by hour, of the last four weeks: they outlive the history, which has each message.
///
/// As bytes they are a magic number, the time since when is counted, for each hour its number and its counts, and a checksum, all of 64 bits
/// and little-endian.
public struct HourlyCounts: Sendable, Equatable {
    /// `ccshour1`
    private static let magic: UInt64 = 0x3172_756f_6873_6363
    private static let wordsPerHour = 1 + HistoryOutcome.allCases.count
    /// Milliseconds of an hour.
    public static let hour: Int64 = 3_600_000
    /// Bytes at most.
    public static let mostBytes = 8 * (3 + wordsPerHour * Limits.History.countedHours)

    /// Since when all is counted.
    public private(set) var since: UnixMilliseconds
    /// The counts by hours since 1970, of those with messages.
    private var counts: [Int: OutcomeCounts] = [:]

    /// Starts without counts.
    public init(since: UnixMilliseconds) { self.since = since }

    /// Counts steps: an acceptance and an end each in the hour in which it happened.
    public mutating func add(_ batch: HistoryBatch) {
        var (current, sums) = (0, OutcomeCounts())
        var times: Range<Int64> = 0..<0
        var refused: HistoryStep?
        let steps = batch.steps.span
        for at in steps.indices {
            // Every message has one, and it never counts.
            if steps[at].step == .sent { continue }
            let step = steps[at]
            guard let outcome = HistoryOutcome(counting: step) else { continue }
            if !times.contains(step.time) {
                add(sums, to: current)
                (current, sums) = (Int(max(0, step.time) / Self.hour), OutcomeCounts())
                times = Int64(current) * Self.hour..<Int64(current + 1) * Self.hour
            }
            // A message that Apple refuses leaves its mailbox in the same turn: the last end counts.
            if let refused, step.sequence == refused.sequence, step.device == refused.device,
                step.time == refused.time
            {
                sums[.refused] -= 1
            }
            refused = outcome == .refused && step.sequence != 0 ? step : nil
            sums[outcome] += 1
        }
        add(sums, to: current)
    }

    private mutating func add(_ sums: OutcomeCounts, to hour: Int) {
        guard sums != OutcomeCounts() else { return }
        counts[hour, default: OutcomeCounts()].add(sums)
        guard counts.count > Limits.History.countedHours, let oldest = counts.keys.min() else { return }
        counts[oldest] = nil
        since = max(since, Int64(oldest + 1) * Self.hour)
    }

    /// Answers with the counts of each hour with messages, newest first.
    public func reply(from start: UnixMilliseconds) -> HistoryReply {
        let first = Int(max(0, start) / Self.hour)
        let hours = counts.filter { $0.key >= first }.sorted { $0.key > $1.key }
            .map { HistoryCounter.Day(start: Int64($0.key) * Self.hour, counts: $0.value) }
        let sums = HistorySums(days: hours, completeSince: since, unattributed: 0)
        return HistoryReply(.sums(sums), HistoryCover(since: since, gaps: [], damaged: 0))
    }

    // MARK: Bytes

    /// The bytes of a file.
    public var bytes: [UInt8] {
        var out = ByteBuffer()
        out.append(word: Self.magic)
        out.append(word: UInt64(bitPattern: since))
        for (hour, sums) in counts.sorted(by: { $0.key < $1.key }) {
            out.append(word: UInt64(hour))
            for outcome in HistoryOutcome.allCases { out.append(word: UInt64(max(0, sums[outcome]))) }
        }
        out.append(word: HistoryHash.of(out.bytes, seed: Self.magic))
        return out.copied()
    }

    /// Reads the bytes of a file. Returns `nil` if they are not what was written.
    public init?(_ bytes: borrowing RawSpan) {
        let count = bytes.byteCount
        let hourBytes = 8 * Self.wordsPerHour
        guard count >= 24, count <= Self.mostBytes, (count - 24) % hourBytes == 0,
            bytes.word(at: 0) == Self.magic,
            HistoryHash.of(bytes.extracting(0..<count - 8), seed: Self.magic) == bytes.word(at: count - 8)
        else { return nil }
        since = Int64(bitPattern: bytes.word(at: 8))
        for at in stride(from: 16, to: count - 8, by: hourBytes) {
            var sums = OutcomeCounts()
            for (place, outcome) in HistoryOutcome.allCases.enumerated() {
                sums[outcome] = Int(clamping: bytes.word(at: at + 8 * (1 + place)))
            }
            counts[Int(clamping: bytes.word(at: at))] = sums
        }
    }
}

extension HistoryOutcome {
    /// What a step of a message counts as. Returns `nil` if it is neither an acceptance nor an end, or the message is one of the server itself.
    init?(counting step: HistoryStep) {
        switch step.detail {
        case .deletedMessages, .sendError: return nil
        case .dryRun where step.step == .accepted: return nil
        default: break
        }
        switch (step.kind, step.step) {
        case (.downstream, .stored), (.downstream, .accepted): self = .accepted
        case (.downstream, let end):
            guard let outcome = HistoryOutcome(end: end) else { return nil }
            self = outcome
        // A message to several devices counts by its copies.
        case (.topic, .refused), (.group, .refused): self = .refused
        default: return nil
        }
    }
}

extension HistorySums {
    /// The counts of each day in UTC, newest first.
    public var byDay: [HistoryCounter.Day] {
        var sums = HistorySums(days: [], completeSince: completeSince, unattributed: unattributed)
        for hour in days {
            let start = hour.start - hour.start % (24 * HourlyCounts.hour)
            if sums.days.last?.start == start {
                sums.days[sums.days.count - 1].counts.add(hour.counts)
            } else {
                sums.days.append(HistoryCounter.Day(start: start, counts: hour.counts))
            }
        }
        return sums.days
    }
}
