import Basics

@testable import Wire

/// Reads a whole connection with a `StanzaReader` and records the outcome, so that different splits can be compared.
struct XMLRecord: Equatable, CustomStringConvertible {
    var events: [String] = []
    var elements: [Element] = []
    var failure: XMLFailure?
    /// The number of bytes consumed when the reader stopped.
    var work: UInt64 = 0

    static func == (a: XMLRecord, b: XMLRecord) -> Bool { a.events == b.events && a.failure == b.failure }

    var description: String {
        (events + [failure.map { "failed: \($0)" } ?? "no failure"]).joined(separator: "\n")
    }

    /// Feeds `bytes` in pieces that end at `cuts`, and restarts the stream after each `<auth>`, as after a login.
    static func reading(_ bytes: [UInt8], cuts: [Int] = [], loggedIn: Bool = false) -> XMLRecord {
        var record = XMLRecord()
        var reader = StanzaReader()
        if loggedIn { reader.restart() }
        var start = 0
        for cut in cuts + [bytes.count] {
            let piece = Array(bytes[start..<cut])
            start = cut
            do throws(XMLFailure) {
                try record.feed(piece, &reader)
            } catch {
                record.failure = error
                break
            }
        }
        record.work = reader.work
        return record
    }

    private mutating func feed(_ piece: [UInt8], _ reader: inout StanzaReader) throws(XMLFailure) {
        var offset = 0
        while true {
            switch try reader.next(piece.raw, from: &offset) {
            case .incomplete:
                precondition(offset == piece.count)
                return
            case .opened(let header): events.append("opened \(header)")
            case .message(let message): events.append(Self.text(of: message, in: piece.raw))
            case .element(let element):
                events.append("element \(element)")
                elements.append(element)
                if element.matches("auth", Namespace.sasl) { reader.restart() }
            case .closed: events.append("closed")
            }
        }
    }

    private static func text(of message: borrowing MessageStanza, in chunk: RawSpan) -> String {
        let payload = String(decoding: [UInt8](copying: message.payload(in: chunk)), as: UTF8.self)
        let attributes = [
            message.id(in: chunk), message.to(in: chunk), message.from(in: chunk),
            message.type(in: chunk),
        ]
        return "message \(message.form) \(message.isError) \(attributes.map { $0 ?? "-" }) \(payload)"
    }
}

extension [UInt8] {
    /// The UTF-8 of a text.
    init(text: String) { self = Array(text.utf8) }
}
