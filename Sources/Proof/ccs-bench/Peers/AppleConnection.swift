import Basics
import HTTP2Engine
import Transport

/// One connection to the stand-in for Apple: accepts every request.
///
/// It parses no more than an answer needs, so that it costs less than the daemon.
final class AppleConnection: ConnectionDelegate, HTTP2SessionHandler {
    /// A request that is answered later.
    private struct Waiting {
        var stream: Int32
        var due: Instant
    }

    /// Streams that Apple allows on a connection (apns 1.8).
    private static let streams = 1_000

    private weak let responder: AppleResponder?
    private let session = HTTP2Session(.server, [.maxConcurrentStreams(AppleConnection.streams)])
    private weak var connection: Connection?
    /// The `apns-id` of each request without an answer.
    private var inFlight: [Int32: [UInt8]] = [:]
    /// Complete requests in the order of their due times; those before `head` are answered.
    private var waiting: [Waiting] = []
    private var head = 0
    /// The stream whose header block is being received.
    private var stream: Int32 = 0
    private var times = MarkScanner(mark: Template.timeMark, digits: Template.timeDigits)
    private var now = Now.read()

    init(_ responder: AppleResponder) { self.responder = responder }

    /// When the next answer is due. `nil` if no request is complete.
    var upcoming: Instant? { head < waiting.count ? waiting[head].due : nil }

    /// Answers the requests that are due.
    func answerDue(_ now: Now) {
        while let due = upcoming, due <= now.monotonic {
            answer(waiting[head].stream)
            head += 1
        }
        if head == waiting.count {
            waiting.removeAll(keepingCapacity: true)
            head = 0
        }
        write()
    }

    private func answer(_ stream: Int32) {
        guard let id = inFlight.removeValue(forKey: stream) else { return }
        var fields = HTTP2Fields()
        fields.add(":status") { $0.append("200") }
        // As Apple does; no value is ever repeated.
        fields.add("apns-id", isUnindexed: true) { $0.append(id) }
        session.submitAnswer(stream, fields, hasBody: false)
    }

    private func write() {
        guard let connection, connection.isOpen else { return }
        _ = session.write(upTo: .max, to: &connection.outbox.bytes, self)
        if !connection.outbox.isEmpty { connection.setNeedsFlush() }
    }

    // MARK: ConnectionDelegate

    func connectionOpened(_ connection: Connection, now: Now) {
        self.connection = connection
        responder?.opened()
        write()
    }

    func connection(_ connection: Connection, received bytes: RawSpan, now: Now) {
        self.now = now
        guard session.receive(bytes, self) == .taken else { return connection.abort(.protocolViolation) }
        write()
    }

    func connection(_ connection: Connection, outboundIsCongested: Bool, now: Now) {}
    func connectionDeadline(_ connection: Connection, now: Now) {}

    func connectionClosed(_ connection: Connection, reason: CloseReason, now: Now) {
        let lost = inFlight.count
        inFlight = [:]
        waiting = []
        head = 0
        responder?.closed(self, reason, lost: lost)
    }

    // MARK: HTTP2SessionHandler

    func headersStarted(_ stream: Int32, isRequest: Bool) {
        guard isRequest else { return }
        self.stream = stream
        inFlight[stream] = []
        responder?.received(inFlight: inFlight.count)
    }

    func fieldReceived(_ name: borrowing RawSpan, _ value: borrowing RawSpan) -> Bool {
        // No other header that ccsd sends has a name of this length and such a value.
        if name.byteCount == 7, value.byteCount == AppleResponder.idBytes,
            name.byte(at: 0) == UInt8(ascii: "a")
        {
            inFlight[stream] = [UInt8](copying: value)
        }
        return true
    }

    func dataReceived(_ stream: Int32, _ bytes: borrowing RawSpan) {
        session.consumeConnection(bytes.byteCount)
        let instant = now.monotonic.nanoseconds
        times.scan(bytes) { span, at in responder?.arrived(dueAt: Digits.time(in: span, at: at), instant) }
    }

    func frameReceived(_ frame: HTTP2FrameHeader) {
        guard frame.endsStream else { return }
        guard let due = responder?.due(now) else { return answer(frame.stream) }
        waiting.append(Waiting(stream: frame.stream, due: due))
    }

    func streamClosed(_ stream: Int32, _ code: HTTP2ErrorCode) { inFlight[stream] = nil }

    func frameStarted(_ frame: HTTP2FrameHeader) {}
    func goAwayReceived(_ code: HTTP2ErrorCode, _ reason: borrowing RawSpan) {}
    func resetReceived(_ stream: Int32, _ code: HTTP2ErrorCode) {}
    func frameSent(_ frame: HTTP2FrameHeader) {}
    func goAwaySent(_ code: HTTP2ErrorCode) {}
    func nextBody(of stream: Int32, upTo count: Int) -> (bytes: ArraySlice<UInt8>, isLast: Bool) {
        ([], true)
    }
}
