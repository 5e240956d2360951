public import Basics
public import Delivery

/// How many messages passed each milestone since the store was made: written together with what it counts.
public struct Tally: Sendable, Equatable {
    /// Downstream messages.
    public var downstream = MilestoneCounts()
    /// Upstream messages.
    public var upstream = MilestoneCounts()

    private static let version: UInt8 = 1
    private static let place = RecordPlace(.tally, 0)
    /// The order in the record; a new milestone goes to the end.
    private static let order: [Milestone] = [
        .accepted, .stored, .sent, .delivered, .replaced, .expired, .refused, .discarded, .removed,
    ]

    /// Nothing counted yet.
    public init() {}

    /// Replaces a buffer's content by the record.
    public func write(to buffer: inout ByteBuffer) {
        var writer = RecordWriter(buffer, version: Self.version, place: Self.place)
        writer.number(UInt64(Self.order.count))
        for milestone in Self.order { writer.signed(Int64(downstream[milestone])) }
        for milestone in Self.order { writer.signed(Int64(upstream[milestone])) }
        buffer = writer.finish()
    }

    /// The tally in a record; milestones that an older version did not know are zero.
    public init(reading bytes: borrowing RawSpan) throws(RecordFault) {
        var reader = try RecordReader(copy bytes, version: Self.version, place: Self.place)
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
}
