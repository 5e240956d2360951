import Basics

/// The shared part of NATS clients: a login, and responses to PING.
private struct NATSLogin {
    private var reader = NATSReader()
    private(set) var isReady = false

    /// Logs in, and sends what must be confirmed before the connection is ready.
    func begin(_ outbox: inout Outbox, _ more: [UInt8] = []) {
        outbox.bytes.append(NATS.connect)
        outbox.bytes.append(more)
        outbox.bytes.append(NATS.ping)
        outbox.endRecord()
    }

    /// Consumes bytes, split anywhere; calls `found` with the payload of each message.
    mutating func consume(
        _ bytes: RawSpan, _ outbox: inout Outbox, _ message: (RawSpan) -> Void
    ) -> TalkVerdict {
        var verdict = TalkVerdict.fine
        var isTaken = false
        let isNATS = reader.consume(bytes) { word, body in
            switch word {
            case .message: message(body)
            case .pong: isTaken = true
            case .ping:
                outbox.bytes.append(NATS.pong)
                outbox.endRecord()
            case .error:
                verdict = .failed(
                    "the server refused: \(String(decoding: [UInt8](copying: body), as: UTF8.self))")
            case .other: break
            }
        }
        if isTaken, verdict == .fine { isReady = true }
        return isNATS ? verdict : .failed("the server does not speak NATS")
    }
}

/// The side of a NATS publisher: messages without acknowledgement.
struct NATSPublisherTalk: SenderTalk {
    static let what = "publisher"
    private var login = NATSLogin()
    var isReady: Bool { login.isReady }

    mutating func begin(_ outbox: inout Outbox) { login.begin(&outbox) }

    mutating func consume(
        _ bytes: RawSpan, _ outbox: inout Outbox, _ answered: (Answer) -> Void
    ) -> TalkVerdict {
        login.consume(bytes, &outbox) { _ in }
    }
}

/// The side of a NATS subscriber: one subscription, no acknowledgements.
struct NATSSubscriberTalk: ReceiverTalk {
    static let what = "subscriber"
    private let subject: String
    private var login = NATSLogin()
    var isReady: Bool { login.isReady }

    /// Creates a subscriber of one subject.
    init(subject: String) { self.subject = subject }

    mutating func begin(_ outbox: inout Outbox) {
        login.begin(&outbox, NATS.subscribe(subject: subject))
    }

    mutating func consume(
        _ bytes: RawSpan, _ outbox: inout Outbox, _ arrived: (Int64) -> Void
    ) -> TalkVerdict {
        login.consume(bytes, &outbox) { payload in
            guard payload.byteCount >= Template.timeMark.count + Template.timeDigits else { return }
            arrived(Digits.time(in: payload, at: Template.timeMark.count))
        }
    }
}
