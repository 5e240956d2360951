import Basics
import Wire

private let header = Array(
    "<stream:stream to='d' version='1.0' xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams'>"
        .utf8)

/// For any input: the reader agrees with libxml2, and the split has no effect.
///
/// Input that does not look like a stream is embedded in one.
func fuzzXML(_ input: [UInt8]) throws(Violation) {
    let isStream = [[0x3C, 0x3F], [0x3C, 0x73], [0xEF, 0xBB], [0x0A, 0x3C]].contains(Array(input.prefix(2)))
    let stream = isStream ? input : header + input
    if let difference = XMLDifferential.difference(stream) {
        throw Violation(description: "libxml2 differs: \(difference)")
    }
    let whole = XMLDifferential.read(stream)
    FuzzReach.record(whole.failure.map { "failure \($0)" } ?? "no failure")
    if !whole.children.isEmpty { FuzzReach.record("stanza") }
    if whole.isClosed { FuzzReach.record("end of the stream") }
    var random = SeededRandom(seed: seed(of: input))
    let cuts = (0..<4).map { _ in Int.random(in: 0...stream.count, using: &random) }.sorted()
    for cuts in [cuts, stream.count <= 2_000 ? Array(0..<stream.count) : []] {
        let pieces = XMLDifferential.read(stream, cuts: cuts)
        try demand(pieces.children == whole.children, "the split changed the stanzas")
        try demand(pieces.failure == whole.failure, "the split changed the failure")
        try demand(pieces.end == whole.end && pieces.isClosed == whole.isClosed, "the split changed the end")
    }
    // The writer's output for any bytes must be XML.
    var written = ByteBuffer()
    written.append("<a b=\"")
    written.appendAttribute(input.raw)
    written.append("\" c='")
    written.appendAttribute(input.raw)
    written.append("'>")
    written.appendText(input.raw)
    written.append("</a>")
    guard let element = LibXML2Oracle.root(of: written.copied()) else {
        throw Violation(description: "the writer's output is not XML")
    }
    try demand(
        element["b"] == element.text && element["c"] == element.text,
        "the writer's output is parsed as another text")
}
