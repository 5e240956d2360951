import Basics
import Wire

/// One request as text, so that two readings can be compared.
private func shown(_ request: HTTPRequest) -> String {
    "\(request.method) \(request.path) \(request.query) \(request.keepsAlive) \(request.mediaType) \(request.body)"
}

private func check(_ request: HTTPRequest) {
    demand(request.path.first == UInt8(ascii: "/"), "a path does not begin with a slash")
    demand(request.body.count <= Limits.requestBodyBytes, "a body is longer than its limit")
}

/// Whatever is sent over HTTP/1.1: pieces change nothing, and what is read is within its limits.
///
/// The first octet says into what pieces the rest is cut.
func fuzzHTTP1(_ input: [UInt8]) {
    guard let first = input.first else { return }
    let stream = Array(input.dropFirst())
    let whole = readHTTP1(stream, piece: max(1, stream.count))
    demand(whole == readHTTP1(stream, piece: Int(first) + 1), "pieces changed what is read")
}

private func readHTTP1(_ stream: [UInt8], piece: Int) -> [String] {
    var reader = RequestReader()
    var found: [String] = []
    for start in stride(from: 0, to: stream.count, by: piece) {
        reader.append(stream[start..<min(start + piece, stream.count)].span.bytes)
        do throws(RequestFault) {
            while let request = try reader.next() {
                check(request)
                found.append(shown(request))
            }
        } catch {
            return found + ["\(error.status)"]
        }
    }
    return found
}

/// Whatever is sent over HTTP/2: pieces change nothing, and each request that comes out can be answered.
///
/// The first octet says into what pieces the rest is cut. Preface and settings are put in front, since most inputs would end
/// at them.
func fuzzHTTP2(_ input: [UInt8]) {
    guard let first = input.first else { return }
    let hello: [UInt8] = [0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 4, 1, 0, 0, 0, 0]
    let stream = HTTP2Preface.octets + hello + input.dropFirst()
    let whole = readHTTP2(stream, piece: stream.count)
    demand(whole == readHTTP2(stream, piece: Int(first) + 1), "pieces changed what is read")
}

private func readHTTP2(_ stream: [UInt8], piece: Int) -> [String] {
    let connection = HTTP2Connection()
    for start in stride(from: 0, to: stream.count, by: piece) {
        connection.receive(stream[start..<min(start + piece, stream.count)].span.bytes, at: 0)
    }
    var found: [String] = []
    while let (number, request) = connection.next() {
        check(request)
        found.append("\(number) \(shown(request))")
        connection.answer(number, HTTPResponse(.ok, HTTPResponse.text, request.body), at: 0)
    }
    connection.shutDown()
    var out = ByteBuffer()
    while connection.canWrite, out.count < 8 * Limits.requestBodyBytes {
        let before = out.count
        connection.write(upTo: before + Limits.outboundLowBytes, to: &out)
        if out.count == before { break }
    }
    demand(connection.unwrittenBytes >= 0, "more has been written than there was")
    return found + [connection.failure.map { "\($0)" } ?? "open"]
}
