import Basics

/// How a stanza of plain XMPP is acknowledged.
enum StanzaAnswer: Equatable {
    /// By the server's count of handled stanzas (XEP-0198).
    case count
    /// By a message of the receiver (XEP-0184).
    case receipt
}

/// The side of a sender of plain XMPP.
struct StanzaTalk: SenderTalk {
    static let what = "sender"
    /// A request for the server's count follows each batch, and this many stanzas within one.
    static let stanzasPerRequest = 10

    private var login: StreamLogin
    private let answer: StanzaAnswer
    private var unasked = 0
    private var receipts = MarkScanner(mark: Template.numberMark, digits: Template.numberDigits)
    private var counts = CountScanner()

    init(_ credential: StreamCredential, _ answer: StanzaAnswer) {
        login = StreamLogin(credential, acknowledges: answer == .count)
        self.answer = answer
    }

    var isReady: Bool { login.isReady }

    mutating func begin(_ outbox: inout Outbox) { login.begin(&outbox) }

    mutating func consume(
        _ bytes: RawSpan, _ outbox: inout Outbox, _ answered: (Answer) -> Void
    ) -> TalkVerdict {
        guard login.isReady else { return login.consume(bytes, &outbox) }
        if Bytes.contains(bytes, "type='error'") || Bytes.contains(bytes, "<stream:error") {
            return .failed(
                "the server refused a stanza: \(String(decoding: [UInt8](copying: bytes), as: UTF8.self))")
        }
        switch answer {
        case .count: counts.scan(bytes) { answered(.before($0)) }
        case .receipt:
            receipts.scan(bytes) { span, at in answered(.number(Digits.number(in: span, at: at))) }
        }
        return .fine
    }

    mutating func sent(_ outbox: inout Outbox) {
        unasked += 1
        if unasked == Self.stanzasPerRequest { ask(&outbox) }
    }

    mutating func endBatch(_ outbox: inout Outbox) {
        if unasked > 0 { ask(&outbox) }
    }

    private mutating func ask(_ outbox: inout Outbox) {
        unasked = 0
        guard answer == .count else { return }
        // It is part of the record that follows, or of the last one of its batch.
        outbox.bytes.append("<r xmlns=\"urn:xmpp:sm:3\"/>")
    }
}

/// The side of a receiver of plain XMPP.
struct StanzaReceiverTalk: ReceiverTalk {
    static let what = "receiver"
    private var login: StreamLogin
    /// The user that gets receipts; `nil` if they are not requested.
    private let sender: String?
    private var times = MarkScanner(mark: Template.timeMark, digits: Template.timeDigits)
    private var numbers = MarkScanner(mark: Template.numberMark, digits: Template.numberDigits)

    init(_ credential: StreamCredential, receiptsTo sender: String?) {
        login = StreamLogin(credential)
        self.sender = sender
    }

    var isReady: Bool { login.isReady }

    mutating func begin(_ outbox: inout Outbox) { login.begin(&outbox) }

    mutating func consume(
        _ bytes: RawSpan, _ outbox: inout Outbox, _ arrived: (Int64) -> Void
    ) -> TalkVerdict {
        guard login.isReady else { return login.consume(bytes, &outbox) }
        times.scan(bytes) { span, at in arrived(Digits.time(in: span, at: at)) }
        guard let sender else { return .fine }
        let begin = "<message to=\"\(sender)\"><received xmlns=\"urn:xmpp:receipts\" id=\"m#"
        numbers.scan(bytes) { span, at in
            outbox.bytes.append(text: begin)
            outbox.bytes.append(span.extracting(at..<at + Template.numberDigits))
            outbox.bytes.append("\"/></message>")
            outbox.endRecord()
        }
        return .fine
    }
}

/// Finds the counts of a server (`<a h='17'/>`, XEP-0198) in a stream that may be split anywhere, and in which no other element
/// has such an attribute.
struct CountScanner {
    private static let mark: [UInt8] = Array(" h=".utf8)
    /// How much of the mark was matched; a quote and digits follow.
    private var matched = 0
    private var value: UInt32 = 0

    /// Consumes the next bytes; calls `found` with each count.
    mutating func scan(_ bytes: RawSpan, _ found: (UInt32) -> Void) {
        for at in 0..<bytes.byteCount {
            let byte = bytes.byte(at: at)
            if matched > Self.mark.count {
                guard (0x30...0x39).contains(byte) else {
                    found(value)
                    matched = 0
                    continue
                }
                value = value &* 10 &+ UInt32(byte & 15)
            } else if matched == Self.mark.count {
                matched = byte == UInt8(ascii: "'") || byte == UInt8(ascii: "\"") ? matched + 1 : 0
                value = 0
            } else {
                matched = byte == Self.mark[matched] ? matched + 1 : byte == Self.mark[0] ? 1 : 0
            }
        }
    }
}
