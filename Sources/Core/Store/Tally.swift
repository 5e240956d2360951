public import Basics
public import Delivery

/// The number of messages of one partition that passed each milestone since the store was created.
///
/// It is written in the same commit as the messages that it counts, and so is the progress in the log that they came from.
public struct Tally: Sendable, Equatable {
    /// Downstream messages.
    public var downstream = MilestoneCounts()
    /// Upstream messages.
    public var upstream = MilestoneCounts()

    /// How much of the partition's replicated log is applied. `nil` if there is none.
    public var log: LogProgress?

    private static let version: UInt8 = 1
    /// The order of the counts in a record. A new milestone is appended.
    private static let order: [Milestone] = [
        .accepted, .stored, .sent, .delivered, .replaced, .expired, .refused, .discarded, .removed,
        .forwarded,
    ]

    /// Creates a tally with all counts at zero.
    public init() {}

    /// Replaces the content of a buffer with the record of a partition's tally.
    public func write(of partition: Int, to buffer: inout ByteBuffer) {
        var writer = RecordWriter(buffer, version: Self.version, place: Self.place(of: partition))
        writer.number(UInt64(Self.order.count))
        for milestone in Self.order { writer.signed(Int64(downstream[milestone])) }
        for milestone in Self.order { writer.signed(Int64(upstream[milestone])) }
        if let log {
            for number in [log.epoch, log.claim, log.number, log.position, log.batches] {
                writer.number(number)
            }
        }
        buffer = writer.finish()
    }

    /// Reads the record of a partition. Milestones that an older version did not have are zero.
    public init(reading bytes: borrowing RawSpan, of partition: Int) throws(RecordFault) {
        var reader = try RecordReader(copy bytes, version: Self.version, place: Self.place(of: partition))
        let known = try reader.count()
        guard known <= Self.order.count else { throw .version }
        for milestone in Self.order.prefix(known) {
            downstream[milestone] = Int(try reader.signed())
        }
        for milestone in Self.order.prefix(known) {
            upstream[milestone] = Int(try reader.signed())
        }
        if !reader.isAtEnd {
            log = LogProgress(
                epoch: try reader.number(), claim: try reader.number(), number: try reader.number(),
                position: try reader.number(), batches: try reader.number())
        }
        try reader.finish()
    }

    private static func place(of partition: Int) -> RecordIdentity {
        RecordIdentity(.tally, UInt64(partition))
    }
}

extension StoreAudit {
    /// Adds the counts of partitions.
    public mutating func add(_ tallies: [Tally]) {
        for tally in tallies {
            downstream.add(tally.downstream)
            upstream.add(tally.upstream)
        }
    }
}
