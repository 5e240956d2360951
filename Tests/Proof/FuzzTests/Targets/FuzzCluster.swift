import Basics
import Cluster
import ClusterLog
import NodeLinks

/// For any bytes on the subject of heartbeats: each heartbeat has exactly one encoding, and a membership that takes it claims no
/// partition of which it has no replica.
///
/// The input is one heartbeat, or several, each after two bytes of length.
func fuzzHeartbeat(_ input: [UInt8]) throws(Violation) {
    var membership = Membership(
        Membership.Settings(
            cluster: ClusterID(0x0123_4567_89ab_cdef), node: NodeNumber(1), incarnation: Incarnation(1),
            name: "one", software: "1", frameVersions: 1...2, linkAddress: "a:1", partitions: 3),
        seed: seed(of: input), now: instant(0))
    try beat(input, &membership, 100)
    var (at, time) = (0, Int64(100))
    while at + 2 <= input.count {
        let end = min(input.count, at + 2 + Int(input[at]) + Int(input[at + 1]) << 8)
        time += 300
        try beat(Array(input[(at + 2)..<end]), &membership, time)
        at = end
    }
}

private func instant(_ milliseconds: Int64) -> Now {
    Now(
        monotonic: Instant(nanoseconds: milliseconds * 1_000_000), wall: 1_700_000_000_000 + milliseconds)
}

private func beat(_ bytes: [UInt8], _ membership: inout Membership, _ time: Int64) throws(Violation) {
    var effects: [MembershipEffect] = []
    var heartbeat: Heartbeat?
    do throws(HeartbeatFault) { heartbeat = try Heartbeat(decoding: bytes.raw) } catch {
        FuzzReach.record("fault \("\(error)".caseName)")
    }
    if let heartbeat {
        try demand(heartbeat.encoded() == bytes, "a heartbeat has two encodings")
        FuzzReach.record("heartbeat taken")
        membership.handle(.heartbeat(heartbeat), now: instant(time), effects: &effects)
    }
    membership.handle(.tick, now: instant(time), effects: &effects)
    for effect in effects {
        FuzzReach.record("effect \("\(effect)".caseName)")
        if case .claim = effect { throw Violation(description: "a claim without a replica") }
    }
}

/// For any bytes of another node: the split has no effect, an ended link reads nothing more, and its output is bounded by its input.
///
/// The first byte is the size of pieces; with its highest bit, the link is up before.
func fuzzLink(_ input: [UInt8]) throws(Violation) {
    guard let first = input.first else { return }
    let stream = Array(input.dropFirst())
    let isUp = first & 0x80 != 0
    let whole = try read(stream, pieces: max(1, stream.count), isUp: isUp)
    let split = try read(stream, pieces: Int(first & 0x7f) + 1, isUp: isUp)
    try demand(whole.events == split.events && whole.output == split.output, "the split has an effect")
    for event in whole.events { FuzzReach.record("event \("\(event)".caseName)") }
    for case .failed(let failure) in whole.events { FuzzReach.record("failure \("\(failure)".caseName)") }
}

private func read(_ stream: [UInt8], pieces: Int, isUp: Bool) throws(Violation) -> (
    events: [LinkEvent], output: [UInt8]
) {
    func identity(_ node: UInt16) -> LinkIdentity {
        LinkIdentity(cluster: ClusterID(0xc105), node: NodeNumber(node), incarnation: Incarnation(7))
    }
    let now = Instant(nanoseconds: 0)
    var session = LinkSession(own: identity(2), peer: NodeNumber(1), now: now)
    var events: [LinkEvent] = []
    if isUp {
        var hello = ByteBuffer()
        var peer = LinkSession(own: identity(1), peer: NodeNumber(2), now: now)
        peer.drain(into: &hello)
        session.receive(hello.bytes, now: now, events: &events)
    }
    var at = 0
    while at < stream.count {
        let wasOver = session.isOver
        let count = events.count
        let end = min(stream.count, at + pieces)
        session.receive(stream.raw.extracting(at..<end), now: now, events: &events)
        try demand(!wasOver || events.count == count, "an ended link has read on")
        at = end
    }
    var output = ByteBuffer()
    session.drain(into: &output)
    try demand(output.count <= stream.count + 64, "the output is longer than the input")
    return (events, output.copied())
}
