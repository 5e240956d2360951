public import Basics
public import ClusterLog

/// A replicated log, with the faults that were seen of a real one: records that appear late, twice or never, refusals, lost answers, reads
/// that miss the newest records, and times without a leader.
public struct SimulatedLog {
    /// What becomes of a record that a node appends.
    public enum Fate {
        case stored(after: Int64, answer: Int64?)
        case lost
        case refused(after: Int64)
    }

    /// What a read answers.
    public enum Reading {
        case record([UInt8], at: LogPosition)
        case end(LogPosition)
        /// It is purged; the log begins here.
        case removed(first: LogPosition)
        case failed
    }

    /// Chances of faults in percent.
    public struct Faults {
        public var late = 0
        public var lost = 0
        public var refused = 0
        public var lostAnswer = 0
        public var staleRead = 0
        public var failedRead = 0

        /// Creates chances, by default none.
        public init(
            late: Int = 0, lost: Int = 0, refused: Int = 0, lostAnswer: Int = 0, staleRead: Int = 0,
            failedRead: Int = 0
        ) {
            self.late = late
            self.lost = lost
            self.refused = refused
            self.lostAnswer = lostAnswer
            self.staleRead = staleRead
            self.failedRead = failedRead
        }
    }

    let faults: Faults
    /// What is stored, in order.
    public private(set) var records: [[UInt8]] = []
    /// How many of them are purged, from the first one on.
    public private(set) var purged = 0
    /// Until when there is no leader, in microseconds.
    public var electionUntil: Int64 = 0
    /// Until when all reads from the leader are refused, while appends are confirmed: the group of all servers has no leader.
    public var unreadUntil: Int64 = 0
    /// When the last record of each node arrived in order.
    private var arrivals: [Int: Int64] = [:]
    /// Whether records are lost at times that were stored: what the real log must not do.
    public var forgets = false

    /// Creates an empty log.
    public init(_ faults: Faults) { self.faults = faults }

    /// The position of the last record.
    public var end: LogPosition { LogPosition(UInt64(records.count)) }

    /// Decides what becomes of a record; times in microseconds from now.
    public mutating func fate(of node: Int, at time: Int64, isFaulty: Bool, _ random: inout SeededRandom)
        -> Fate
    {
        // One connection keeps the order.
        let arrival = max(arrivals[node] ?? 0, time + Int64.random(in: 100...2_000, using: &random))
        arrivals[node] = arrival
        let latency = arrival - time
        guard isFaulty else { return .stored(after: latency, answer: 200) }
        func happens(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }
        if time < electionUntil {
            // Some servers keep a record for the next leader, whose answer is lost.
            let rest = electionUntil - time + Int64.random(in: 0...500_000, using: &random)
            return happens(50) ? .lost : .stored(after: rest, answer: nil)
        }
        if happens(faults.lost) { return .lost }
        if happens(faults.refused) { return .refused(after: latency) }
        let wait = happens(faults.late) ? Int64.random(in: 300_000...6_000_000, using: &random) : latency
        let answer: Int64? =
            happens(faults.lostAnswer)
            ? nil : Int64.random(in: 100...(happens(5) ? 900_000 : 3_000), using: &random)
        return .stored(after: wait, answer: answer)
    }

    /// Stores a record. Returns its position.
    public mutating func store(_ record: [UInt8], _ random: inout SeededRandom) -> LogPosition {
        if forgets, records.count > 8, Int.random(in: 0..<50, using: &random) == 0 { records.removeLast(2) }
        records.append(record)
        return end
    }

    /// Removes the records up to a position for ever.
    public mutating func purge(upTo position: LogPosition) {
        for index in purged..<max(purged, Int(position.number)) { records[index] = [] }
        purged = max(purged, Int(position.number))
    }

    /// Loses the last records, as a log does whose servers had not synced them.
    public mutating func lose(_ count: Int) { records.removeLast(min(count, records.count - purged)) }

    /// Answers a read, of the leader or of any replica.
    public func read(
        _ position: LogPosition, at time: Int64, isFaulty: Bool, ofLeader: Bool = true,
        _ random: inout SeededRandom
    ) -> Reading {
        guard !ofLeader || !isFaulty || time >= unreadUntil else { return .failed }
        var seen = records.count
        if isFaulty {
            let chance = Int.random(in: 0..<100, using: &random)
            let isStale = time < electionUntil || chance < faults.staleRead
            if isStale {
                // An old leader still answers, or none does.
                guard chance % 2 == 0 else { return .failed }
                seen -= min(seen, Int.random(in: 0...8, using: &random))
            } else if chance > 99 - faults.failedRead {
                return .failed
            }
        }
        let index = Int(position.number) - 1
        guard index >= purged else { return .removed(first: LogPosition(UInt64(purged) + 1)) }
        guard index < seen else { return .end(LogPosition(UInt64(seen))) }
        return .record(records[index], at: position)
    }
}
