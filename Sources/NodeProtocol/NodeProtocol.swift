import Basics
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

    /// Throws if a length exceeds its limit.
    static func demand(
        _ length: Int, _ subject: StaticString, _ limit: Int
    ) throws(NodeProtocolFault) {
        guard length <= limit else { throw .tooLong("\(subject)", length: length, limit: limit) }
    }
}
