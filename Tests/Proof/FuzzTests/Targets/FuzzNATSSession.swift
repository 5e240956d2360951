import Basics
import NATSClient
import Wire

/// For any input of a NATS server: the split has no effect on a connection, nothing follows its end, and what it sends stays small.
func fuzzNATSSession(_ stream: [UInt8], pieces: Int) throws(Violation) {
    let whole = try run(stream, pieces: max(1, stream.count))
    let split = try run(stream, pieces: pieces)
    try demand(whole.events == split.events, "the split has an effect on events")
    try demand(whole.sent == split.sent, "the split has an effect on what is sent")
    for event in whole.events { FuzzReach.record("session \("\(event)".caseName)") }
}

private func run(_ stream: [UInt8], pieces: Int) throws(Violation) -> (
    events: [NATSSession.Event], sent: [UInt8]
) {
    let now = Instant(nanoseconds: 0)
    var session = NATSSession(
        name: "fuzz", login: .password(user: "u", password: Redacted("p")), tls: .never, now: now)
    session.connected()
    var output = ByteBuffer()
    var events: [NATSSession.Event] = []
    var at = 0
    while at < stream.count {
        let piece = Array(stream[at..<min(at + pieces, stream.count)])
        session.receive(piece.raw, now: now, output: &output, events: &events)
        at += pieces
    }
    // One login, and an answer to each ping.
    try demand(output.count <= 512 + stream.count, "more is sent than is received")
    let end = events.firstIndex { if case .ended = $0 { true } else { false } }
    try demand(end.map { $0 == events.count - 1 } ?? true, "an event follows the end")
    try demand(session.isReady == (end == nil && events.contains { $0.isReady }), "the state is wrong")
    return (events, output.copied())
}

extension NATSSession.Event {
    fileprivate var isReady: Bool { if case .ready = self { true } else { false } }
}
