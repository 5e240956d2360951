public import Basics
public import Delivery

/// How many messages of one partition passed each milestone since the store was made: written together with what it counts.
public struct Tally: Sendable, Equatable {
    /// Downstream messages.
    public var downstream = MilestoneCounts()
    /// Upstream messages.
    public var upstream = MilestoneCounts()

    private static let version: UInt8 = 1
    /// The order in the record; a new milestone goes to the end.
    private static let order: [Milestone] = [
        .accepted, .stored, .sent, .delivered, .replaced, .expired, .refused, .discarded, .removed,
    ]

    /// Nothing counted yet.
    public init() {}

    /// Replaces a buffer's content by the record of a partition.
    public func write(of partition: Int, to buffer: inout ByteBuffer) {
        var writer = RecordWriter(buffer, version: Self.version, place: Self.place(of: partition))
        writer.number(UInt64(Self.order.count))
        for milestone in Self.order { writer.signed(Int64(downstream[milestone])) }
        for milestone in Self.order { writer.signed(Int64(upstream[milestone])) }
        buffer = writer.finish()
    }

    /// The tally in the record of a partition; milestones that an older version did not know are zero.
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
        try reader.finish()
    }

    private static func place(of partition: Int) -> RecordPlace { RecordPlace(.tally, UInt64(partition)) }
}

extension StoreAudit {
    /// Adds what the partitions have counted.
    public mutating func add(_ tallies: [Tally]) {
        for tally in tallies {
            downstream.add(tally.downstream)
            upstream.add(tally.upstream)
        }
    }
}
