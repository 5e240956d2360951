import Basics

/// A bulk copy from one node to another over their link; the opener numbers its streams from 1.
public struct LinkStreamID: Hashable, Sendable {
    /// The number, unique for the opener on this link.
    public let number: UInt32
    /// The ID of a number.
    public init(_ number: UInt32) { self.number = number }
}

/// What happens to a stream. Streams end with their link, without an event of their own.
public enum LinkStreamEvent: Hashable, Sendable {
    /// The peer begins a copy, and describes it.
    case opened(LinkStreamID, header: [UInt8])
    /// The next bytes of the peer's copy: `NodeLinkHost.consume` them once they are stored.
    case chunk(LinkStreamID, [UInt8])
    /// The peer's copy is complete, or was broken off.
    case ended(LinkStreamID, isComplete: Bool)
    /// More of a copy of this node can be written.
    case writable(LinkStreamID)
    /// The peer does not want the rest of a copy of this node.
    case cancelled(LinkStreamID)
}

/// The streams of a link: those of this node with what may still be sent, and those of the peer with what may still arrive.
struct LinkStreams {
    struct Incoming {
        /// How many bytes the peer may still send.
        var window = Limits.NodeLinks.streamWindowBytes
        /// Consumed, and not yet granted again.
        var consumed = 0
        /// Whether this node wants no more: what is under way is dropped.
        var isCancelled = false
    }

    var outgoing: [LinkStreamID: Int] = [:]
    var incoming: [LinkStreamID: Incoming] = [:]
    var next: UInt32 = 1
}

/// Bulk copies: bounded, so that parcels are not delayed by more than a window.
extension LinkSession {
    /// Begins a copy. Returns `nil` if the link is not up, the header is too long, or too many copies are under way.
    public mutating func openStream(_ header: borrowing RawSpan) -> LinkStreamID? {
        guard isUp, header.byteCount <= Limits.NodeLinks.streamHeaderBytes,
            streams.outgoing.count < Limits.NodeLinks.streams
        else { return nil }
        let id = LinkStreamID(streams.next)
        streams.next &+= 1
        streams.outgoing[id] = Limits.NodeLinks.streamWindowBytes
        append(.open, id, header)
        return id
    }

    /// Sends the next bytes of a copy. Returns how many were taken: the rest must wait for `writable`. Returns 0 for an ended copy.
    public mutating func write(_ bytes: borrowing RawSpan, to id: LinkStreamID) -> Int {
        guard isUp, let credit = streams.outgoing[id] else { return 0 }
        let taken = min(credit, bytes.byteCount)
        var at = 0
        while at < taken {
            let end = min(taken, at + Limits.NodeLinks.chunkBytes)
            append(.chunk, id, bytes.extracting(at..<end))
            at = end
        }
        streams.outgoing[id] = credit - taken
        return taken
    }

    /// Ends a copy of this node: it is complete, or broken off.
    public mutating func endStream(_ id: LinkStreamID, isComplete: Bool) {
        guard isUp, streams.outgoing.removeValue(forKey: id) != nil else { return }
        append(.end, id, [isComplete ? 1 : 0].raw)
    }

    /// The bytes of a peer's copy are stored: as many more may come.
    public mutating func consume(_ count: Int, of id: LinkStreamID) {
        guard isUp, var stream = streams.incoming[id], !stream.isCancelled else { return }
        stream.consumed = min(stream.consumed + count, Limits.NodeLinks.streamWindowBytes - stream.window)
        if stream.consumed >= Limits.NodeLinks.streamWindowBytes / 4 {
            var content = ByteBuffer()
            content.append(word: UInt64(stream.consumed))
            append(.credit, id, content.bytes)
            stream.window += stream.consumed
            stream.consumed = 0
        }
        streams.incoming[id] = stream
    }

    /// Ends a copy of the peer, which is notified.
    public mutating func cancelStream(_ id: LinkStreamID) {
        guard isUp, streams.incoming[id]?.isCancelled == false else { return }
        streams.incoming[id]?.isCancelled = true
        append(.cancel, id, [UInt8]().raw)
    }

    private mutating func append(_ kind: LinkFrame.Kind, _ id: LinkStreamID, _ rest: borrowing RawSpan) {
        var content = ByteBuffer()
        for shift in [0, 8, 16, 24] as [UInt32] {
            content.append(byte: UInt8(truncatingIfNeeded: id.number >> shift))
        }
        content.append(rest)
        LinkFrame.append(kind, content.bytes, to: &output)
    }

    /// Handles a frame of a stream.
    mutating func handleStream(
        _ kind: LinkFrame.Kind, _ content: borrowing RawSpan, _ events: inout [LinkEvent]
    ) {
        var number: UInt32 = 0
        for offset in 0..<4 { number |= UInt32(content.byte(at: offset)) << UInt32(8 * offset) }
        let id = LinkStreamID(number)
        let isValid: Bool
        switch kind {
        case .open: isValid = opened(id, content.extracting(4..<content.byteCount), &events)
        case .chunk: isValid = received(content.extracting(4..<content.byteCount), of: id, &events)
        case .end:
            let isCancelled = streams.incoming[id]?.isCancelled ?? true
            isValid = content.byte(at: 4) <= 1 && streams.incoming.removeValue(forKey: id) != nil
            if isValid, !isCancelled {
                events.append(.stream(.ended(id, isComplete: content.byte(at: 4) == 1)))
            }
        case .credit: isValid = credited(content.word(at: 4), id, &events)
        case .cancel:
            isValid = true
            // It may have ended meanwhile.
            guard streams.outgoing[id] != nil else { break }
            endStream(id, isComplete: false)
            events.append(.stream(.cancelled(id)))
        case .hello, .refusal, .ping, .pong, .parcel: isValid = false
        }
        if !isValid { fail(.invalid(.content(kind.rawValue)), &events) }
    }

    private mutating func opened(
        _ id: LinkStreamID, _ header: borrowing RawSpan, _ events: inout [LinkEvent]
    ) -> Bool {
        guard streams.incoming[id] == nil, streams.incoming.count < Limits.NodeLinks.streams else {
            return false
        }
        streams.incoming[id] = LinkStreams.Incoming()
        events.append(.stream(.opened(id, header: [UInt8](copying: header))))
        return true
    }

    private mutating func received(
        _ bytes: borrowing RawSpan, of id: LinkStreamID, _ events: inout [LinkEvent]
    ) -> Bool {
        guard let stream = streams.incoming[id], bytes.byteCount <= stream.window else { return false }
        streams.incoming[id]?.window -= bytes.byteCount
        if !stream.isCancelled { events.append(.stream(.chunk(id, [UInt8](copying: bytes)))) }
        return true
    }

    private mutating func credited(
        _ count: UInt64, _ id: LinkStreamID, _ events: inout [LinkEvent]
    ) -> Bool {
        guard count > 0, count <= UInt64(Limits.NodeLinks.streamWindowBytes) else { return false }
        // It may have ended meanwhile.
        guard let credit = streams.outgoing[id] else { return true }
        guard credit + Int(count) <= Limits.NodeLinks.streamWindowBytes else { return false }
        streams.outgoing[id] = credit + Int(count)
        events.append(.stream(.writable(id)))
        return true
    }
}
