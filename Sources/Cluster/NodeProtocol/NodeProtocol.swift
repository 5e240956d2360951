public import Basics
public import Delivery

/// The format of what the nodes of a cluster exchange: batches for the log, and events and commands between nodes.
///
/// `Overview.md` describes the format.
public enum NodeProtocol {
    /// The versions that this build reads and writes. A node writes a version that all members read.
    public static let versions: ClosedRange<UInt8> = 1...1

    /// The newest of them.
    public static var newestVersion: UInt8 { versions.upperBound }

    /// Returns the batches in the entries of a frame. Throws `NodeProtocolFault` if they cannot be read.
    public static func batches(_ entries: borrowing RawSpan) throws(NodeProtocolFault) -> [WriteBatch] {
        try demand(entries.byteCount, "the entries of a frame", Limits.NodeProtocol.entriesBytes)
        var reader = try NodeReader(copy entries)
        var batches: [WriteBatch] = []
        while !reader.isAtEnd {
            try demand(batches.count + 1, "the batches of a frame", Limits.NodeProtocol.batchesPerFrame)
            batches.append(try reader.batch())
        }
        return batches
    }

    /// Returns the items of a parcel in their order. Instants in it are relative to `now`. Throws `NodeProtocolFault` if one cannot be
    /// read: then none counts.
    public static func items(
        _ parcel: borrowing RawSpan, now: Instant
    ) throws(NodeProtocolFault) -> [ParcelItem] {
        try demand(parcel.byteCount, "a parcel", Limits.NodeProtocol.parcelBytes)
        var reader = try NodeReader(copy parcel)
        reader.now = now
        var items: [ParcelItem] = []
        while !reader.isAtEnd {
            try demand(items.count + 1, "the items of a parcel", Limits.NodeProtocol.itemsPerParcel)
            items.append(try reader.item())
        }
        return items
    }

    /// Throws if a length exceeds its limit.
    static func demand(
        _ length: Int, _ subject: StaticString, _ limit: Int
    ) throws(NodeProtocolFault) {
        guard length <= limit else { throw .tooLong("\(subject)", length: length, limit: limit) }
    }
}
