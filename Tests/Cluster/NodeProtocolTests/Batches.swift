import Basics
import Delivery
import NodeProtocol
import Testing

/// The entries of a frame with some batches of a store with that many partitions.
func entries(_ batches: [WriteBatch], partitions: Int = 1) throws -> [UInt8] {
    var writer = BatchWriter(partitions: partitions)
    for batch in batches {
        let fits = try writer.append(batch)
        try #require(fits)
    }
    return [UInt8](copying: writer.bytes)
}

/// The batches in the entries of a frame.
func batches(in entries: [UInt8]) throws(NodeProtocolFault) -> [WriteBatch] {
    try NodeProtocol.batches(entries.raw)
}

/// Whether two batches are equal in everything.
func isEqual(_ a: WriteBatch, _ b: WriteBatch) -> Bool {
    a.batchNumber == b.batchNumber && a.mutations == b.mutations && a.isDurable == b.isDurable
        && a.partition == b.partition && a.newestSequence == b.newestSequence
}

extension [UInt8] {
    /// Every way to cut the bytes short, and every way to change one bit.
    var damaged: [[UInt8]] {
        let cut = indices.map { Array(self[..<$0]) }
        let flipped = indices.flatMap { at in
            (0..<8).map { bit in
                var bytes = self
                bytes[at] ^= 1 << UInt8(bit)
                return bytes
            }
        }
        return cut + flipped
    }
}
