import Basics
import Wire

/// For any input of a NATS server: the split has no effect, and what is held is bounded. Each payload is also read as an answer of
/// JetStream, and the stream as that of a connection.
///
/// The first byte is the size of pieces.
func fuzzNATS(_ input: [UInt8]) throws(Violation) {
    guard let first = input.first else { return }
    let stream = Array(input.dropFirst())
    let whole = try read(stream, pieces: max(1, stream.count))
    let split = try read(stream, pieces: Int(first) + 1)
    try demand(whole.events == split.events && whole.fault == split.fault, "the split has an effect")
    for event in whole.events {
        FuzzReach.record("event \("\(event)".caseName)")
        guard case .message(let message) = event else { continue }
        FuzzReach.record("published \("\(JetStreamPublishAnswer(message))".caseName)")
        FuzzReach.record("stored \("\(JetStreamMessageAnswer(message))".caseName)")
    }
    FuzzReach.record(whole.fault.map { "fault \("\($0)".caseName)" } ?? "all read")
    try fuzzNATSSession(stream, pieces: Int(first) + 1)
}

private func read(_ stream: [UInt8], pieces: Int) throws(Violation) -> (
    events: [NATSEvent], fault: NATSFault?
) {
    var reader = NATSReader()
    var events: [NATSEvent] = []
    var at = 0
    while at < stream.count {
        let piece = Array(stream[at..<min(at + pieces, stream.count)])
        reader.append(piece.raw)
        at += pieces
        do throws(NATSFault) {
            while let event = try reader.next() { events.append(event) }
        } catch {
            return (events, error)
        }
        try demand(
            reader.heldBytes <= Limits.NATS.messageBytes + Limits.NATS.infoBytes + pieces, "too much is held")
    }
    return (events, nil)
}
