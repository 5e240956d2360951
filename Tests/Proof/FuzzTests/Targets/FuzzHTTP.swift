import Basics
import Sessions
import Wire

/// Returns a request as text for comparison.
private func text(of request: HTTPRequest) throws(Violation) -> String {
    try demand(request.path.first == UInt8(ascii: "/"), "a path does not start with a slash")
    try demand(request.body.count <= Limits.HTTP.requestBodyBytes, "a body is longer than its limit")
    return
        "\(request.method) \(request.path) \(request.query) \(request.keepsAlive) \(request.mediaType) \(request.body)"
}

/// For any input over HTTP/1.1: the split has no effect, and requests are within their limits.
///
/// The first byte is the size of pieces.
func fuzzHTTP1(_ input: [UInt8]) throws(Violation) {
    guard let first = input.first else { return }
    let stream = Array(input.dropFirst())
    let whole = try readHTTP1(stream, piece: max(1, stream.count))
    try demand(try readHTTP1(stream, piece: Int(first) + 1) == whole, "the split changed the requests")
}

private func readHTTP1(_ stream: [UInt8], piece: Int) throws(Violation) -> [String] {
    var reader = RequestReader()
    var found: [String] = []
    for start in stride(from: 0, to: stream.count, by: piece) {
        reader.append(stream[start..<min(start + piece, stream.count)].span.bytes)
        while true {
            let request: HTTPRequest?
            do throws(RequestFault) {
                request = try reader.next()
            } catch {
                FuzzReach.record("status \(error.status)")
                return found + ["\(error.status)"]
            }
            guard let request else { break }
            FuzzReach.record("request \(request.method)")
            found.append(try text(of: request))
        }
    }
    return found
}

/// For any input over HTTP/2: the split has no effect, and each request can be answered.
///
/// The first byte is the size of pieces. Preface and SETTINGS are prepended, since most inputs would fail there.
func fuzzHTTP2(_ input: [UInt8]) throws(Violation) {
    guard let first = input.first else { return }
    let hello: [UInt8] = [0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 4, 1, 0, 0, 0, 0]
    let stream = HTTP2Preface.bytes + hello + input.dropFirst()
    let whole = try readHTTP2(stream, piece: stream.count)
    let cut = try readHTTP2(stream, piece: Int(first) + 1)
    // After GOAWAY the split determines how much more is read.
    if !whole.hasPeerLeft && !cut.hasPeerLeft {
        try demand(cut.found == whole.found, "the split changed the requests: \(whole.found) \(cut.found)")
    }
    let events = try serveHTTP2(stream, piece: .max)
    // With many open streams the split determines when answered ones make room for others, and whether a request has been
    // processed before the peer resets it.
    guard stream.count < 1_000, !whole.hasPeerLeft, !cut.hasPeerLeft, !whole.resets else { return }
    try demand(
        try serveHTTP2(stream, piece: Int(first) + 1) == events, "the split changed the events for the core")
}

private func readHTTP2(
    _ stream: [UInt8], piece: Int
) throws(Violation) -> (found: [String], hasPeerLeft: Bool, resets: Bool) {
    let connection = HTTP2Connection()
    for start in stride(from: 0, to: stream.count, by: piece) {
        connection.receive(stream[start..<min(start + piece, stream.count)].span.bytes, at: 0)
    }
    let resets = connection.takeTally().resets > 0
    var found: [String] = []
    while let (number, request) = connection.next() {
        found.append("\(number) \(try text(of: request))")
        connection.answer(number, HTTPResponse(.ok, HTTPResponse.text, request.body), at: 0)
    }
    FuzzReach.record(connection.failure.map { "failure \("\($0)".caseName)" } ?? "open")
    if resets { FuzzReach.record("reset") }
    connection.shutDown()
    var out = ByteBuffer()
    while connection.canWrite, out.count < 8 * Limits.HTTP.requestBodyBytes {
        let before = out.count
        connection.write(upTo: before + Limits.Connection.outboundLowBytes, to: &out)
        if out.count == before { break }
    }
    try demand(connection.unwrittenBytes >= 0, "more bytes were written than available")
    return (found + [connection.failure.map { "\($0)" } ?? "open"], connection.hasPeerLeft, resets)
}

/// Runs the session with its HTTP/2 front. Returns its events for the core.
private func serveHTTP2(_ stream: [UInt8], piece: Int) throws(Violation) -> [String] {
    var run = SessionRun(
        HTTPSession(
            connection: FuzzWorld.connection, settings: SharedSettings(FuzzWorld.settings), now: FuzzWorld.now
        ))
    run.receive(stream, piece: piece)
    run.answerEvents()
    run.wait(3)
    try demand(run.output.count <= 64 * stream.count + 65_536, "the output has \(run.output.count) bytes")
    return run.events
}
