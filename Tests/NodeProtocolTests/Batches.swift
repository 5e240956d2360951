import Basics
import Delivery
import NodeProtocol

/// The entries of a frame with some batches.
func entries(_ batches: [WriteBatch]) -> [UInt8] {
    var writer = BatchWriter()
    for batch in batches { precondition(writer.append(batch), "the batches do not fit into a frame") }
    return [UInt8](copying: writer.bytes)
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
