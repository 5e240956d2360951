import Basics
import Wire

/// For any input from an HTTP/2 server: each request and the connection end exactly once, the split has no effect, and no
/// state is left.
///
/// The first byte is the size of pieces; the server's SETTINGS are prepended, since most inputs would fail there.
func fuzzHTTP2Client(_ input: [UInt8]) throws(Violation) {
    guard let first = input.first else { return }
    let settings: [UInt8] = [0, 0, 0, 4, 0, 0, 0, 0, 0]
    let stream = settings + input.dropFirst()
    let whole = try listen(to: stream, piece: stream.count)
    let cut = try listen(to: stream, piece: Int(first) + 1)
    // Floods are detected at the end of each piece.
    guard !whole.contains("ended flood"), !cut.contains("ended flood") else { return }
    try demand(whole == cut, "the split changed the events: \(whole) \(cut)")
}

private func listen(to stream: [UInt8], piece: Int) throws(Violation) -> [String] {
    let now = FuzzWorld.now.monotonic
    let connection = HTTP2ClientConnection(authority: "h", firstStreams: 3, now: now)
    for path in ["/1", "/3", "/5"] {
        var call = HTTPCall("POST", path)
        call.body = [1]
        guard (try? connection.send(call, now: now)) != nil else {
            throw Violation(description: "a request cannot be sent")
        }
    }
    // The requests are in flight when the server sends.
    var out = ByteBuffer()
    connection.write(upTo: Limits.Connection.outboundLowBytes, to: &out)
    for start in stride(from: 0, to: stream.count, by: piece) {
        connection.receive(stream[start..<min(start + piece, stream.count)].span.bytes, now: now)
    }
    connection.write(upTo: Limits.Connection.outboundLowBytes, to: &out)
    let isOver = connection.failure != nil
    connection.connectionLost()
    var events: [String] = []
    var ends: [UInt32: Int] = [:]
    while let event = connection.next() {
        switch event {
        case .answered(let stream, let answer):
            ends[stream, default: 0] += 1
            events.append("\(stream) answered \(answer.status) \(answer.headers.count) \(answer.body.count)")
            FuzzReach.record("answered")
        case .failed(let stream, let failure):
            ends[stream, default: 0] += 1
            events.append("\(stream) \(failure)")
            if isOver || failure != .connectionEnded { FuzzReach.record("failed \("\(failure)".caseName)") }
        case .leaving(let code, let reason):
            events.append("leaving \(code) \(reason.count)")
            FuzzReach.record("leaving")
        case .ended(let failure):
            events.append("ended \(failure)")
            FuzzReach.record("ended \("\(failure)".caseName)")
        }
    }
    try demand(ends == [1: 1, 3: 1, 5: 1], "a request does not end exactly once: \(ends)")
    try demand(events.last?.hasPrefix("ended") == true, "the connection does not end: \(events)")
    try demand(events.count { $0.hasPrefix("ended") } == 1, "the connection ends more than once: \(events)")
    try demand(connection.requestsInFlight == 0, "requests are left: \(connection.requestsInFlight)")
    return events
}
