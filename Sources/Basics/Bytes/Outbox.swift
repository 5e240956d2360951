/// What one connection is about to send: plaintext, cut into records.
///
/// One server stanza is one record (ccs-xmpp 1.2): several clients take each TLS record for a unit.
/// The transport seals each record by itself and writes many of them in one system call.
public struct Outbox: ~Copyable {
    /// The plaintext, in order.
    public var bytes = ByteBuffer()
    /// Offsets in `bytes` at which a record ends, ascending; what follows the last is still open.
    public private(set) var recordEnds: [Int] = []

    /// An empty outbox.
    public init() {}

    /// Whether nothing waits.
    public var isEmpty: Bool { bytes.isEmpty }

    /// Ends the record begun after the last end; an empty record is not kept.
    @inline(__always)
    public mutating func endRecord() {
        guard bytes.count > (recordEnds.last ?? 0) else { return }
        recordEnds.append(bytes.count)
    }

    /// Empties it for reuse.
    public mutating func removeAll(keepingCapacity: Bool = false) {
        bytes.removeAll(keepingCapacity: keepingCapacity)
        recordEnds.removeAll(keepingCapacity: keepingCapacity)
    }
}
