public import Basics

/// What a `LinkSession` reports.
public enum LinkEvent: Hashable, Sendable {
    /// Both nodes have introduced themselves.
    case up(LinkIdentity, version: UInt8)
    /// A parcel of the peer.
    case parcel([UInt8])
    /// Something has happened to a bulk copy.
    case stream(LinkStreamEvent)
    /// The link is over: send the rest of the output, and close the connection.
    case failed(LinkFailure)
}

/// The protocol of a link, after TLS has verified both certificates: bytes and time in, events and bytes out. It uses no socket or clock.
public struct LinkSession: ~Copyable {
    /// The state of a link.
    enum State: Hashable {
        /// The peer has not introduced itself; it must by this time.
        case greeting(until: Instant)
        case up(LinkIdentity)
        case failed(LinkFailure)
    }

    /// The versions that this build speaks.
    public static let versions: ClosedRange<UInt8> = 1...1

    let own: LinkIdentity
    /// The node that the peer's certificate names.
    let expected: NodeNumber
    private(set) var state: State
    /// Bytes for the peer: the owner takes them with `drain`.
    var output = ByteBuffer()
    /// The beginning of a frame whose end has not arrived.
    var input = ByteBuffer()
    /// When bytes of the peer last arrived.
    var arrived: Instant
    var streams = LinkStreams()
    private var pings: UInt64 = 0
    var pingSent: Instant
    /// The time between the last answered ping and its answer, in microseconds.
    public private(set) var roundTripMicroseconds: Int64?

    /// Begins a link with the node that the peer's certificate names, and introduces this node.
    public init(own: LinkIdentity, peer: NodeNumber, now: Instant) {
        self.own = own
        expected = peer
        arrived = now
        pingSent = now
        state = .greeting(until: now.advanced(milliseconds: Limits.NodeLinks.handshakeMilliseconds))
        LinkFrame.appendHello(own, Self.versions, to: &output)
    }

    /// Whether parcels can be sent.
    public var isUp: Bool { if case .up = state { true } else { false } }

    /// Whether the link is over.
    public var isOver: Bool { if case .failed = state { true } else { false } }

    /// Whether there are bytes for the peer.
    public var hasOutput: Bool { !output.isEmpty }

    /// Moves the bytes for the peer to the end of a buffer.
    public mutating func drain(into buffer: inout ByteBuffer) {
        buffer.append(output.bytes)
        output.removeAll(keepingCapacity: output.count <= Limits.Connection.warmOutboxBytes)
    }

    /// Sends a parcel, while `queued` bytes of earlier output wait. Returns whether it is on the way: it is not while the link is not up,
    /// nor if it is too long; and if too much would wait, the link fails.
    public mutating func send(
        _ parcel: borrowing RawSpan, queued: Int, events: inout [LinkEvent]
    ) -> Bool {
        guard isUp, parcel.byteCount <= Limits.NodeLinks.parcelBytes else { return false }
        let waiting = queued + output.count + LinkFrame.headerBytes + parcel.byteCount
        guard waiting <= Limits.NodeLinks.queueBytes else {
            fail(.queueFull, &events)
            return false
        }
        LinkFrame.append(.parcel, parcel, to: &output)
        return true
    }

    /// Ends the link for a reason of the owner; the peer is notified.
    public mutating func end(_ failure: LinkFailure, events: inout [LinkEvent]) { fail(failure, &events) }

    /// When `tick` is due.
    public var nextTick: Instant {
        switch state {
        case .greeting(let until): until
        case .up:
            min(
                pingSent.advanced(milliseconds: Limits.NodeLinks.pingMilliseconds),
                arrived.advanced(milliseconds: Limits.NodeLinks.silenceMilliseconds))
        case .failed: .distantFuture
        }
    }

    /// Handles the time: the end of the introduction, pings, and silence.
    public mutating func tick(now: Instant, events: inout [LinkEvent]) {
        switch state {
        case .greeting(let until): if until <= now { fail(.handshakeDeadline, &events) }
        case .up:
            // This node was stopped: what has arrived meanwhile is not read yet.
            if now.milliseconds(since: nextTick) > Limits.NodeLinks.lateMilliseconds { arrived = now }
            guard now.milliseconds(since: arrived) < Limits.NodeLinks.silenceMilliseconds else {
                return fail(.silent, &events)
            }
            guard now.milliseconds(since: pingSent) >= Limits.NodeLinks.pingMilliseconds else { return }
            pings += 1
            pingSent = now
            LinkFrame.append(.ping, number: pings, to: &output)
        case .failed: break
        }
    }

    mutating func fail(_ failure: LinkFailure, _ events: inout [LinkEvent]) {
        if case .failed = state { return }
        state = .failed(failure)
        input.removeAll()
        if case .refused = failure {
        } else {
            LinkFrame.append(.refusal, [failure.refusal.rawValue].raw, to: &output)
        }
        events.append(.failed(failure))
    }

    /// The peer has introduced itself.
    mutating func greeted(
        _ identity: LinkIdentity, _ versions: ClosedRange<UInt8>, _ events: inout [LinkEvent]
    ) {
        guard identity.cluster == own.cluster else {
            return fail(.otherCluster(identity.cluster), &events)
        }
        guard identity.node == expected else { return fail(.imposter(identity.node), &events) }
        guard versions.overlaps(Self.versions) else {
            return fail(
                .noCommonVersion(lowest: versions.lowerBound, highest: versions.upperBound), &events)
        }
        state = .up(identity)
        events.append(.up(identity, version: min(versions.upperBound, Self.versions.upperBound)))
    }

    /// The peer has returned a ping.
    mutating func ponged(_ number: UInt64, _ now: Instant) {
        guard number == pings, number > 0 else { return }
        roundTripMicroseconds = (now.nanoseconds - pingSent.nanoseconds) / 1_000
    }
}
