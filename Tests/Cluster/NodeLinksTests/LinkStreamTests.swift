import Basics
import NodeLinks
import Testing

@Suite("bulk copies over node links")
struct LinkStreamTests {
    private let first = LinkStreamID(1)

    private func pair() -> LinkPair {
        var pair = LinkPair()
        pair.exchange()
        (pair.aEvents, pair.bEvents) = ([], [])
        return pair
    }

    private func frame(_ kind: UInt8, _ content: [UInt8]) -> [UInt8] {
        [UInt8(content.count + 1), 0, 0, 0, kind] + content
    }

    /// The last event of a session that receives frames, after a copy of the peer was opened.
    private func last(_ frames: [UInt8]..., isOpen: Bool = true) -> LinkEvent? {
        var pair = pair()
        let all = (isOpen ? frame(6, [1, 0, 0, 0]) : []) + frames.flatMap { $0 }
        pair.b.receive(all.raw, now: pair.now, events: &pair.bEvents)
        return pair.bEvents.last
    }

    @Test("a copy arrives in order, between parcels, and ends")
    func copies() {
        var pair = pair()
        let bytes = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
        let opened = pair.a.open([1, 2])
        #expect(opened == first)
        let taken = pair.a.write(bytes, to: first)
        #expect(taken == bytes.count && pair.a.send([9], &pair.aEvents))
        pair.a.endStream(first, isComplete: true)
        pair.exchange()
        #expect(pair.bEvents.first == .stream(.opened(first, header: [1, 2])))
        #expect(pair.bEvents.suffix(2) == [.parcel([9]), .stream(.ended(first, isComplete: true))])
        let chunks = pair.bEvents.compactMap { event -> [UInt8]? in
            if case .stream(.chunk(_, let bytes)) = event { bytes } else { nil }
        }
        #expect(chunks.flatMap { $0 } == bytes && chunks.map(\.count) == [65_536, 65_536, 65_536, 3_392])
        #expect(pair.a.write([1], to: first) == 0)
    }

    @Test("no more is sent than the receiver has room for, and more once it has stored enough")
    func window() {
        var pair = pair()
        _ = pair.a.open([])
        let window = Limits.NodeLinks.streamWindowBytes
        let bytes = [UInt8](repeating: 3, count: window + 100)
        #expect(pair.a.write(bytes, to: first) == window)
        #expect(pair.a.write(bytes, to: first) == 0)
        pair.exchange()
        #expect(pair.aEvents == [])
        pair.b.consume(window / 4 - 1, of: first)
        pair.exchange()
        #expect(pair.aEvents == [])
        pair.b.consume(1, of: first)
        pair.exchange()
        #expect(pair.aEvents == [.stream(.writable(first))])
        #expect(pair.a.write(bytes, to: first) == window / 4)
        // More than has arrived cannot be stored.
        pair.b.consume(10 * window, of: first)
        pair.exchange()
        #expect(pair.a.write(bytes, to: first) == window * 3 / 4 && !pair.b.isOver)
    }

    @Test("the receiver cancels a copy: what is under way is dropped, and the sender notified")
    func cancels() {
        var pair = pair()
        _ = pair.a.open([])
        pair.exchange()
        #expect(pair.a.write([1, 2], to: first) == 2)
        pair.b.cancelStream(first)
        pair.b.cancelStream(first)
        pair.exchange()
        #expect(pair.bEvents == [.stream(.opened(first, header: []))])
        #expect(pair.aEvents == [.stream(.cancelled(first))])
        #expect(pair.a.write([1], to: first) == 0 && pair.a.isUp && pair.b.isUp)
        // Its place is free again.
        for _ in 0..<4 { #expect(pair.a.open([]) != nil) }
        pair.exchange()
        #expect(pair.a.isUp && pair.b.isUp)
    }

    @Test(
        "a copy that is broken off is reported as such, and one that ends while it is cancelled is no fault")
    func ends() {
        var pair = pair()
        _ = pair.a.open([])
        pair.a.endStream(first, isComplete: false)
        pair.toB()
        #expect(pair.bEvents.last == .stream(.ended(first, isComplete: false)))
        _ = pair.a.open([])
        pair.toB()
        pair.b.cancelStream(LinkStreamID(2))
        pair.a.endStream(LinkStreamID(2), isComplete: true)
        pair.exchange()
        #expect(pair.aEvents == [] && pair.a.isUp && pair.b.isUp)
        #expect(pair.bEvents.last == .stream(.opened(LinkStreamID(2), header: [])))
    }

    @Test("at most four copies are under way, and a description is short")
    func bounds() {
        var pair = LinkPair()
        #expect(pair.a.open([]) == nil)
        pair.exchange()
        #expect(pair.a.open([UInt8](repeating: 0, count: 4_097)) == nil)
        for _ in 0..<4 { #expect(pair.a.open([UInt8](repeating: 0, count: 4_096)) != nil) }
        #expect(pair.a.open([]) == nil)
        pair.exchange()
        #expect(pair.b.isUp && pair.bEvents.count == 5)
        pair.a.endStream(first, isComplete: true)
        #expect(pair.a.open([]) == LinkStreamID(5))
    }

    @Test("frames of copies that no node sends end the link by name")
    func invalid() {
        let four: [UInt8] = [1, 0, 0, 0]
        #expect(last(frame(6, four)) == .failed(.invalid(.content(6))))
        let others = (2...5).map { frame(6, [UInt8($0), 0, 0, 0]) }
        #expect(last(others[0], others[1], others[2]) == .stream(.opened(LinkStreamID(4), header: [])))
        #expect(last(others[0], others[1], others[2], others[3]) == .failed(.invalid(.content(6))))
        #expect(last(frame(7, [2, 0, 0, 0, 9])) == .failed(.invalid(.content(7))))
        #expect(last(frame(7, four)) == .failed(.invalid(.length(5))))
        #expect(last(frame(9, four + [2])) == .failed(.invalid(.content(9))))
        #expect(last(frame(9, four + [1]), isOpen: false) == .failed(.invalid(.content(9))))
        let zeros = [UInt8](repeating: 0, count: 7)
        #expect(last(frame(8, four + [0] + zeros)) == .failed(.invalid(.content(8))))
        #expect(last(frame(8, four + [1] + zeros)) == .stream(.opened(first, header: [])))
        #expect(last(frame(8, four + zeros + [1])) == .failed(.invalid(.content(8))))
        #expect(last(frame(10, four)) == .stream(.opened(first, header: [])))
    }

    @Test("credit for more than was sent ends the link")
    func credit() {
        var pair = pair()
        _ = pair.a.open([])
        let credit = frame(8, [1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0])
        pair.a.receive(credit.raw, now: pair.now, events: &pair.aEvents)
        #expect(pair.aEvents.last == .failed(.invalid(.content(8))))
    }

    @Test("more bytes than there is room for end the link")
    func flood() {
        var pair = pair()
        pair.b.receive(frame(6, [1, 0, 0, 0]).raw, now: pair.now, events: &pair.bEvents)
        let chunk: [UInt8] = [5, 0, 1, 0, 7, 1, 0, 0, 0] + [UInt8](repeating: 0, count: 65_536)
        for _ in 0..<16 { pair.b.receive(chunk.raw, now: pair.now, events: &pair.bEvents) }
        #expect(pair.b.isUp && pair.bEvents.count == 17)
        pair.b.receive(frame(7, [1, 0, 0, 0, 1]).raw, now: pair.now, events: &pair.bEvents)
        #expect(pair.bEvents.last == .failed(.invalid(.content(7))))
    }
}

extension LinkSession {
    mutating func open(_ header: [UInt8]) -> LinkStreamID? { openStream(header.raw) }
    mutating func write(_ bytes: [UInt8], to stream: LinkStreamID) -> Int { write(bytes.raw, to: stream) }
}
