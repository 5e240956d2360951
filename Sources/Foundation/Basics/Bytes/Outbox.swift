/// Outbound plaintext of one connection, divided into TLS records.
///
/// One server stanza is one record (ccs-xmpp 1.2): several clients treat each TLS record as a unit. The transport encrypts each
/// record by itself and writes many of them in one system call.
public struct Outbox: ~Copyable {
    /// The plaintext, in order.
    public var bytes = ByteBuffer()
    /// Offsets in `bytes` at which a record ends, ascending; bytes after the last offset belong to an open record.
    public private(set) var recordEnds: [Int] = []

    /// An empty outbox.
    public init() {}

    /// Whether the outbox is empty.
    public var isEmpty: Bool { bytes.isEmpty }

    /// Ends the open record; an empty record is dropped.
    @inline(__always)
    public mutating func endRecord() {
        guard bytes.count > (recordEnds.last ?? 0) else { return }
        recordEnds.append(bytes.count)
    }

    /// Empties the outbox for reuse.
    public mutating func removeAll(keepingCapacity: Bool = false) {
        bytes.removeAll(keepingCapacity: keepingCapacity)
        recordEnds.removeAll(keepingCapacity: keepingCapacity)
    }
}
