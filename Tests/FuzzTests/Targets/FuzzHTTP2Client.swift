import Basics
import Wire

/// Whatever a server sends on an HTTP/2 connection of ours: each request has one end, the connection too, cuts change nothing,
/// and nothing is left.
///
/// The first byte says into what pieces the rest is cut; the server's settings are put in front, since most inputs would end at
/// them.
func fuzzHTTP2Client(_ input: [UInt8]) throws(Violation) {
    guard let first = input.first else { return }
    let settings: [UInt8] = [0, 0, 0, 4, 0, 0, 0, 0, 0]
    let stream = settings + input.dropFirst()
    let whole = try listen(to: stream, piece: stream.count)
    let cut = try listen(to: stream, piece: Int(first) + 1)
    // What is a flood is known at the end of each piece.
    guard !whole.contains("ended flood"), !cut.contains("ended flood") else { return }
    try demand(whole == cut, "pieces changed what is heard: \(whole) \(cut)")
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
    // They are on their way when the server speaks.
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
            FuzzReach.note("answered")
        case .failed(let stream, let failure):
            ends[stream, default: 0] += 1
            events.append("\(stream) \(failure)")
            if isOver || failure != .connectionEnded { FuzzReach.note("failed \("\(failure)".caseName)") }
        case .leaving(let code, let reason):
            events.append("leaving \(code) \(reason.count)")
            FuzzReach.note("leaving")
        case .ended(let failure):
            events.append("ended \(failure)")
            FuzzReach.note("ended \("\(failure)".caseName)")
        }
    }
    try demand(ends == [1: 1, 3: 1, 5: 1], "requests have these ends: \(ends)")
    try demand(events.last?.hasPrefix("ended") == true, "the connection has no end: \(events)")
    try demand(events.count { $0.hasPrefix("ended") } == 1, "the connection has several ends: \(events)")
    try demand(connection.underWay == 0, "something is left: \(connection.underWay)")
    return events
}
