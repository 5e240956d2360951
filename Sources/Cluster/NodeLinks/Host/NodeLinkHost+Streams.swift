public import Basics

/// Bulk copies between nodes, such as the files of a checkpoint: in order, with backpressure, beside the parcels.
extension NodeLinkHost {
    /// Begins a copy to a node, with a description for it. Returns `nil` if there is no link, the description is too long, or too many
    /// copies are under way.
    public func openStream(_ header: [UInt8], to node: NodeNumber) -> LinkStreamID? {
        links[node]?.openStream(header)
    }

    /// Sends the next bytes of a copy. Returns how many were taken: the rest must wait for `writable`. Returns 0 for a copy that is over.
    public func write(_ bytes: borrowing RawSpan, to stream: LinkStreamID, of node: NodeNumber) -> Int {
        links[node]?.write(bytes, to: stream) ?? 0
    }

    /// Ends a copy to a node: it is complete, or broken off.
    public func end(_ stream: LinkStreamID, of node: NodeNumber, isComplete: Bool) {
        links[node]?.end(stream, isComplete: isComplete)
    }

    /// The bytes of a chunk are stored: as many more may come.
    public func consume(_ count: Int, of stream: LinkStreamID, from node: NodeNumber) {
        links[node]?.consume(count, of: stream)
    }

    /// Ends a copy from a node, which is notified.
    public func cancel(_ stream: LinkStreamID, from node: NodeNumber) { links[node]?.cancel(stream) }
}

extension NodeLink {
    func openStream(_ header: [UInt8]) -> LinkStreamID? {
        defer { flush() }
        return session?.openStream(header.raw) ?? nil
    }

    func write(_ bytes: borrowing RawSpan, to stream: LinkStreamID) -> Int {
        defer { flush() }
        return session?.write(bytes, to: stream) ?? 0
    }

    func end(_ stream: LinkStreamID, isComplete: Bool) {
        session?.endStream(stream, isComplete: isComplete)
        flush()
    }

    func consume(_ count: Int, of stream: LinkStreamID) {
        session?.consume(count, of: stream)
        flush()
    }

    func cancel(_ stream: LinkStreamID) {
        session?.cancelStream(stream)
        flush()
    }
}
