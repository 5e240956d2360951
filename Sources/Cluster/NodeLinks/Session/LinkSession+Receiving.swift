public import Basics

/// What arrives on a link.
extension LinkSession {
    /// Handles bytes of the peer.
    public mutating func receive(_ bytes: RawSpan, now: Instant, events: inout [LinkEvent]) {
        guard !isOver else { return }
        arrived = now
        guard !input.isEmpty else {
            let used = read(bytes, now, &events)
            if !isOver { input.append(bytes.extracting(used..<bytes.byteCount)) }
            return
        }
        var all = ByteBuffer()
        swap(&all, &input)
        all.append(bytes)
        let used = read(all.bytes, now, &events)
        guard !isOver else { return }
        all.removeFirst(used)
        swap(&all, &input)
    }

    /// Handles all whole frames. Returns how many bytes they have.
    private mutating func read(
        _ bytes: borrowing RawSpan, _ now: Instant, _ events: inout [LinkEvent]
    ) -> Int {
        var at = 0
        while !isOver, bytes.byteCount - at >= LinkFrame.headerBytes {
            var length: UInt32 = 0
            for offset in 0..<4 { length |= UInt32(bytes.byte(at: at + offset)) << UInt32(8 * offset) }
            let number = bytes.byte(at: at + 4)
            guard let kind = LinkFrame.Kind(rawValue: number) else {
                fail(.invalid(.kind(number)), &events)
                return at
            }
            guard isUp ? kind != .hello : kind == .hello || kind == .refusal else {
                fail(.invalid(.order(number)), &events)
                return at
            }
            // Checked before the content is waited for: a peer cannot fill the memory.
            guard length > 0, kind.lengths.contains(Int(length) - 1) else {
                fail(.invalid(.length(length)), &events)
                return at
            }
            let end = at + 4 + Int(length)
            guard end <= bytes.byteCount else { return at }
            handle(kind, bytes.extracting((at + LinkFrame.headerBytes)..<end), now, &events)
            at = end
        }
        return at
    }

    private mutating func handle(
        _ kind: LinkFrame.Kind, _ content: borrowing RawSpan, _ now: Instant, _ events: inout [LinkEvent]
    ) {
        switch kind {
        case .hello:
            guard let hello = LinkFrame.hello(content) else {
                return fail(.invalid(.content(kind.rawValue)), &events)
            }
            greeted(hello.identity, hello.versions, &events)
        case .refusal:
            fail(.refused(LinkRefusal(rawValue: content.byte(at: 0)) ?? .other), &events)
        case .ping: LinkFrame.append(.pong, number: content.word(at: 0), to: &output)
        case .pong: ponged(content.word(at: 0), now)
        case .parcel: events.append(.parcel([UInt8](copying: content)))
        case .open, .chunk, .credit, .end, .cancel: handleStream(kind, content, &events)
        }
    }
}
