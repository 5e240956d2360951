import Basics
import NodeLinks
import Testing

/// Two sessions whose bytes are passed by hand.
struct LinkPair: ~Copyable {
    var a: LinkSession
    var b: LinkSession
    var time: Int64 = 0
    var aEvents: [LinkEvent] = []
    var bEvents: [LinkEvent] = []

    static let cluster = ClusterID(0xc105)

    static func identity(
        _ node: UInt16, cluster: ClusterID = cluster, incarnation: UInt64 = 7
    ) -> LinkIdentity {
        LinkIdentity(cluster: cluster, node: NodeNumber(node), incarnation: Incarnation(incarnation))
    }

    init(_ a: LinkIdentity = identity(1), _ b: LinkIdentity = identity(2), expects: UInt16 = 1) {
        self.a = LinkSession(own: a, peer: b.node, now: Instant(nanoseconds: 0))
        self.b = LinkSession(own: b, peer: NodeNumber(expects), now: Instant(nanoseconds: 0))
    }

    var now: Instant { Instant(nanoseconds: time * 1_000_000) }

    /// Passes all output of a to b, in pieces.
    mutating func toB(pieces: Int = .max) {
        var bytes = ByteBuffer()
        a.drain(into: &bytes)
        var at = 0
        while at < bytes.count {
            let end = min(bytes.count, pieces == .max ? bytes.count : at + pieces)
            b.receive(bytes.bytes.extracting(at..<end), now: now, events: &bEvents)
            at = end
        }
    }

    mutating func toA() {
        var bytes = ByteBuffer()
        b.drain(into: &bytes)
        a.receive(bytes.bytes, now: now, events: &aEvents)
    }

    /// Passes all output both ways until there is none.
    mutating func exchange() {
        while a.hasOutput || b.hasOutput {
            toB()
            toA()
        }
    }

    mutating func tick() {
        a.tick(now: now, events: &aEvents)
        b.tick(now: now, events: &bEvents)
    }
}

extension LinkSession {
    /// Sends a parcel, while other bytes wait.
    mutating func send(_ parcel: [UInt8], queued: Int = 0, _ events: inout [LinkEvent]) -> Bool {
        send(parcel.raw, queued: queued, events: &events)
    }

    /// The bytes for the peer.
    mutating func taken() -> [UInt8] {
        var bytes = ByteBuffer()
        drain(into: &bytes)
        return bytes.copied()
    }
}

@Suite("sessions of node links")
struct LinkSessionTests {
    private let one = LinkPair.identity(1)
    private let two = LinkPair.identity(2)

    private func frame(_ kind: UInt8, _ content: [UInt8]) -> [UInt8] {
        let length = UInt32(content.count + 1)
        return (0..<4).map { UInt8(truncatingIfNeeded: length >> (8 * $0)) } + [kind] + content
    }

    /// What node 1 sends first.
    private func hello() -> [UInt8] {
        var session = LinkSession(own: one, peer: NodeNumber(2), now: Instant(nanoseconds: 0))
        return session.taken()
    }

    /// The failure of a session that receives bytes, after a hello or without one.
    private func failure(_ bytes: [UInt8], isUp: Bool = true) -> LinkFailure? {
        var pair = LinkPair()
        if isUp { pair.exchange() }
        pair.bEvents = []
        pair.b.receive(bytes.raw, now: pair.now, events: &pair.bEvents)
        guard case .failed(let failure)? = pair.bEvents.last else { return nil }
        return failure
    }

    @Test("two nodes introduce themselves, and then send parcels in order")
    func parcels() {
        var pair = LinkPair()
        #expect(!pair.a.isUp && !pair.a.send([1], &pair.aEvents))
        pair.exchange()
        #expect(pair.aEvents == [.up(two, version: 1)] && pair.bEvents == [.up(one, version: 1)])
        for parcel in [[1], [], [2, 3]] as [[UInt8]] {
            #expect(pair.a.send(parcel, &pair.aEvents))
        }
        #expect(pair.b.send([9], &pair.bEvents))
        pair.exchange()
        #expect(pair.bEvents.dropFirst() == [.parcel([1]), .parcel([]), .parcel([2, 3])])
        #expect(pair.aEvents.dropFirst() == [.parcel([9])])
    }

    @Test("frames may arrive in pieces of any size", arguments: [1, 2, 3, 5, 7, 64])
    func pieces(_ size: Int) {
        var pair = LinkPair()
        pair.toB(pieces: size)
        pair.toA()
        let parcel = (0..<100).map { UInt8($0) }
        for _ in 0..<3 { #expect(pair.a.send(parcel, &pair.aEvents)) }
        pair.toB(pieces: size)
        #expect(pair.bEvents == [.up(one, version: 1)] + Array(repeating: .parcel(parcel), count: 3))
    }

    @Test("the bytes of a hello stay the same from version to version")
    func bytes() {
        var session = LinkSession(
            own: LinkPair.identity(0x102, cluster: ClusterID(0x0a0b), incarnation: 5), peer: NodeNumber(2),
            now: Instant(nanoseconds: 0))
        #expect(
            Hex.text(session.taken()) == "1900000001" + "4343534c01010201" + "0b0a000000000000"
                + "0500000000000000")
    }

    @Test("a peer of another cluster, or with another number than its certificate, is refused by name")
    func strangers() {
        var pair = LinkPair(LinkPair.identity(1, cluster: ClusterID(5)))
        pair.exchange()
        #expect(pair.bEvents == [.failed(.otherCluster(ClusterID(5)))])
        #expect(pair.aEvents == [.failed(.otherCluster(LinkPair.cluster))])
        pair = LinkPair(expects: 3)
        pair.toB()
        #expect(pair.bEvents == [.failed(.imposter(NodeNumber(1)))])
        pair.toA()
        #expect(pair.aEvents == [.up(two, version: 1), .failed(.refused(.imposter))])
        #expect(pair.a.isOver && !pair.a.hasOutput)
    }

    @Test("a peer of a later version is accepted if it speaks ours, and refused by name otherwise")
    func versions() {
        var hello = self.hello()
        hello[10] = 9
        // A later version may append to its hello.
        hello[0] += 2
        #expect(failure(hello + [1, 2], isUp: false) == nil)
        hello[9] = 2
        #expect(failure(hello + [1, 2], isUp: false) == .noCommonVersion(lowest: 2, highest: 9))
    }

    @Test("what is no hello is refused before anything is stored")
    func garbage() {
        let hello = self.hello()
        #expect(failure(Array("GET / HTTP/1.1\r\n".utf8), isUp: false) == .invalid(.kind(0x2f)))
        #expect(failure(frame(5, [1]), isUp: false) == .invalid(.order(5)))
        #expect(failure(frame(3, [UInt8](repeating: 0, count: 8)), isUp: false) == .invalid(.order(3)))
        var bad = hello
        bad[5] ^= 1
        #expect(failure(bad, isUp: false) == .invalid(.content(1)))
        for at in [9, 10] {
            bad = hello
            bad[at] = 0
            #expect(failure(bad, isUp: false) == .invalid(.content(1)))
        }
        #expect(failure([25, 1, 0, 0, 1], isUp: false) == .invalid(.length(281)))
        #expect(failure([24, 0, 0, 0, 1], isUp: false) == .invalid(.length(24)))
    }

    @Test("frames of a wrong kind, length or order end a link by name")
    func invalid() {
        let hello = self.hello()
        #expect(failure(hello) == .invalid(.order(1)))
        #expect(failure(frame(0, [])) == .invalid(.kind(0)))
        #expect(failure(frame(11, [])) == .invalid(.kind(11)))
        #expect(failure([0, 0, 0, 0, 5]) == .invalid(.length(0)))
        #expect(failure(frame(3, [1])) == .invalid(.length(2)))
        #expect(failure(frame(2, [])) == .invalid(.length(1)))
        #expect(failure([0xff, 0xff, 0xff, 0xff, 5]) == .invalid(.length(.max)))
        // Of the longest parcel, the header alone is no fault.
        #expect(failure([1, 0, 0x80, 0, 5]) == nil)
        #expect(failure([2, 0, 0x80, 0, 5]) == .invalid(.length(8_388_610)))
        #expect(failure(frame(2, [4])) == .refused(.imposter))
        #expect(failure(frame(2, [200])) == .refused(.other))
    }

    @Test("a peer that does not introduce itself is refused after three seconds")
    func deadline() {
        var pair = LinkPair()
        pair.time = 2_999
        #expect(pair.a.nextTick == Instant(nanoseconds: 3_000_000_000))
        pair.tick()
        #expect(pair.aEvents == [])
        pair.time = 3_000
        pair.tick()
        #expect(pair.aEvents == [.failed(.handshakeDeadline)])
    }

    @Test("an idle link stays up, and measures the time of an answer")
    func pings() {
        var pair = LinkPair()
        pair.exchange()
        while pair.time < 60_000 {
            pair.time += 100
            pair.tick()
            pair.toB()
            pair.time += 1
            pair.toA()
        }
        #expect(pair.aEvents.count == 1 && pair.bEvents.count == 1)
        #expect(pair.a.roundTripMicroseconds == 1_000)
    }

    @Test("a link is lost after a second and a half of silence, and its peer is notified")
    func silence() {
        var pair = LinkPair()
        pair.exchange()
        while pair.time < 1_490 {
            pair.time += 10
            pair.a.tick(now: pair.now, events: &pair.aEvents)
        }
        #expect(pair.aEvents.count == 1)
        pair.time = 1_500
        #expect(pair.a.nextTick <= pair.now)
        pair.a.tick(now: pair.now, events: &pair.aEvents)
        #expect(pair.aEvents.last == .failed(.silent) && pair.a.nextTick == .distantFuture)
        pair.toB()
        #expect(pair.bEvents.last == .failed(.refused(.silent)))
    }

    @Test("a node that was stopped itself reads first what has arrived meanwhile")
    func stopped() {
        var pair = LinkPair()
        pair.exchange()
        pair.time = 30_000
        pair.a.tick(now: pair.now, events: &pair.aEvents)
        #expect(pair.aEvents.count == 1)
        while pair.time < 31_490 {
            pair.time += 10
            pair.a.tick(now: pair.now, events: &pair.aEvents)
        }
        #expect(pair.aEvents.count == 1)
        pair.time = 31_500
        pair.a.tick(now: pair.now, events: &pair.aEvents)
        #expect(pair.aEvents.last == .failed(.silent))
    }

    @Test("only the answer to the last ping counts")
    func pongs() {
        var pair = LinkPair()
        pair.exchange()
        pair.b.receive(frame(4, [UInt8](repeating: 0, count: 8)).raw, now: pair.now, events: &pair.bEvents)
        #expect(pair.b.roundTripMicroseconds == nil)
    }

    @Test("a parcel that is too long is refused, and the link goes on")
    func tooLong() {
        var pair = LinkPair()
        pair.exchange()
        let parcel = [UInt8](repeating: 1, count: Limits.NodeLinks.parcelBytes + 1)
        #expect(!pair.a.send(parcel, &pair.aEvents))
        #expect(pair.a.send(Array(parcel.dropFirst()), &pair.aEvents))
        pair.exchange()
        #expect(pair.bEvents.last == .parcel(Array(parcel.dropFirst())) && pair.a.isUp)
    }

    @Test("a link fails when too much waits for the peer")
    func queue() {
        var pair = LinkPair()
        pair.exchange()
        let room = Limits.NodeLinks.queueBytes - 15
        #expect(pair.a.send([UInt8](repeating: 0, count: 10), queued: room, &pair.aEvents))
        #expect(pair.aEvents.count == 1)
        #expect(!pair.a.send([], queued: room, &pair.aEvents))
        #expect(pair.aEvents.last == .failed(.queueFull) && pair.a.isOver)
        #expect(!pair.a.send([1], &pair.aEvents))
    }

    @Test("an ended link reports its reason once, to both sides, and reads nothing more")
    func ended() {
        var pair = LinkPair()
        pair.exchange()
        pair.a.end(.dropped, events: &pair.aEvents)
        pair.a.end(.silent, events: &pair.aEvents)
        #expect(pair.aEvents.dropFirst() == [.failed(.dropped)])
        let parcel = frame(5, [1])
        pair.a.receive(parcel.raw, now: pair.now, events: &pair.aEvents)
        #expect(pair.aEvents.count == 2)
        pair.toB()
        #expect(pair.bEvents.last == .failed(.refused(.dropped)))
    }

    @Test("frames behind one that ends a link are not read")
    func behind() {
        var pair = LinkPair()
        pair.exchange()
        let bytes = frame(5, [1]) + frame(99, []) + frame(5, [2])
        pair.b.receive(bytes.raw, now: pair.now, events: &pair.bEvents)
        #expect(pair.bEvents.dropFirst() == [.parcel([1]), .failed(.invalid(.kind(99)))])
    }
}
