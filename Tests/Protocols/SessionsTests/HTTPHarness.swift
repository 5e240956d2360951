import Basics
import Delivery
import Reference
import Synchronization
import Testing
import Wire

@testable import Sessions

/// Numbers that are the same in every run.
final class FixedRandom: Sendable {
    private let state = Mutex(SeededRandom(seed: 7))
    func next() -> UInt64 { state.withLock { $0.next() } }
}

/// A session with a clock, and its outputs.
final class HTTPHarness {
    static let connection = ConnectionID(reactor: 1, slot: 2, generation: 3)
    /// The account of the key `good-key`.
    static let sender = SenderID(1_234_567_890)
    static let seal = TokenSeal(secret: [UInt8](repeating: 9, count: 32))

    var session: HTTPSession
    var now = Now(monotonic: Instant(nanoseconds: 1_000_000_000), wall: 1_795_156_966_123)
    var sent = ""
    /// The sent bytes, for HTTP versions that are not text.
    var bytes: [UInt8] = []
    var records = 0
    var events: [Event] = []
    var pages: [HostRequest] = []
    var refusals: [RefusalRecord] = []
    var responses: [HTTPResponseRecord] = []
    var close: CloseReason?
    var isReading = true

    static func digest(_ bytes: [UInt8]) -> SecretDigest {
        let hash = SipHash(key: (1, 2)).hash128(bytes.raw)
        let words = [hash.0, hash.1, ~hash.0, ~hash.1]
        return SecretDigest(
            bytes: words.flatMap { word in
                (0..<8 as Range<UInt64>).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) }
            })
    }

    /// The settings that a test may change.
    static var settings: SessionSettings {
        let random = FixedRandom()
        var settings = SessionSettings(seal: seal, digest: { digest($0) }, random: { random.next() })
        settings.isDeclared = DeclaredAnswers.contain
        return settings
    }

    init(
        isAdministrative: Bool = false, hostPrefixes: [String] = [],
        _ change: (inout SessionSettings) -> Void = { _ in }
    ) {
        var settings = Self.settings
        settings.senderOfKey = { key, _ in
            key == Self.digest(Array("good-key".utf8)) ? Self.sender : nil
        }
        change(&settings)
        session = HTTPSession(
            connection: Self.connection, settings: SharedSettings(settings),
            isAdministrative: isAdministrative, hostPrefixes: hostPrefixes, now: now)
    }

    private func run(_ body: (inout HTTPSession, Now, inout SessionIO) -> Void) {
        var io = SessionIO()
        io.isReading = isReading
        body(&session, now, &io)
        bytes += io.out.bytes.copied()
        sent += String(decoding: io.out.bytes.copied(), as: UTF8.self)
        records += io.out.recordEnds.count
        events += io.events
        pages += io.hostRequests
        refusals += io.refusals
        responses += io.responses
        isReading = io.isReading
        if let reason = io.close { close = reason }
    }

    func send(_ text: String) { send(Array(text.utf8)) }
    func send(_ bytes: [UInt8]) { run { $0.receive(bytes.raw, now: $1, io: &$2) } }
    func perform(_ command: SessionCommand) { run { $0.perform(command, now: $1, io: &$2) } }
    func congested(_ flag: Bool) {
        run { $0.outboundChanged(isCongested: flag, now: $1, io: &$2) }
    }
    func answer(_ requestID: UInt32, _ body: String) {
        run {
            $0.answer(
                requestID: requestID, status: .ok, contentType: HTTPResponse.text, body: Array(body.utf8),
                now: $1, io: &$2)
        }
    }

    /// Begins or continues a stream, or ends it with the last bytes.
    func stream(_ requestID: UInt32, _ body: String, isLast: Bool = false) {
        run {
            $0.stream(
                requestID: requestID, "text/event-stream", Array(body.utf8), isLast: isLast, now: $1, io: &$2)
        }
    }

    /// Sets the check of the heads of requests with long bodies.
    func checkHeads(_ admits: @escaping (HTTPRequest) -> Bool) {
        run { session, _, _ in session.checkHeads(admits) }
    }

    func answerPage(_ requestID: UInt32, _ body: String) {
        run {
            $0.answer(
                requestID: requestID, status: .ok, contentType: HTTPResponse.json, body: Array(body.utf8),
                now: $1, io: &$2)
        }
    }

    /// Answers requests for installations as if every ID were free.
    func install() throws {
        for case .installation(_, .requested(let request)) in events {
            guard case .create(let offer) = request.action else { continue }
            let record = Self.record(request.installation, offer.refresh, request.sender)
            perform(.reply(requestID: request.requester.requestID, .installation(record, registrations: 0)))
        }
        events.removeAll()
    }

    /// Returns an installation's record.
    static func record(
        _ id: [UInt8], _ refresh: SecretDigest, _ sender: SenderID? = nil
    ) -> InstallationRecord {
        InstallationRecord(id: id, sender: sender, refresh: refresh, createdAt: 0, usedAt: 0)
    }

    /// Advances the time, and wakes the session if its deadline is reached.
    func pass(seconds: Int) {
        now.monotonic = now.monotonic.advanced(seconds: seconds)
        now.wall += Int64(seconds) * 1_000
        if session.deadline <= now.monotonic { run { $0.wake(now: $1, io: &$2) } }
    }

    /// Returns the bytes sent since the last call.
    func takeSent() -> String {
        defer { sent = "" }
        return sent
    }

    /// Returns all bytes of an answer at the start time.
    static func answer(
        _ status: String, _ type: String, _ body: String, extra: String = "", second: Int = 46
    ) -> String {
        "HTTP/1.1 \(status)\r\nDate: Fri, 20 Nov 2026 06:42:\(second) GMT\r\nContent-Type: \(type)\r\n"
            + "Content-Length: \(body.utf8.count)\r\nCache-Control: no-store\r\n"
            + "X-Content-Type-Options: nosniff\r\n\(extra)\r\n\(body)"
    }

    static func text(_ body: String, _ status: String = "200 OK", extra: String = "") -> String {
        answer(status, "text/plain; charset=UTF-8", body, extra: extra)
    }

    /// Returns a registration request.
    static func register(
        _ form: String, authorization: String? = "AidLogin 600000000000000001:700000000000000002",
        headers: String = ""
    ) -> String {
        "POST /c2dm/register3 HTTP/1.1\r\nHost: android.clients.google.com\r\n"
            + (authorization.map { "Authorization: \($0)\r\n" } ?? "") + headers
            + "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: \(form.utf8.count)\r\n\r\n\(form)"
    }
}

extension Submission {
    /// The session request that caused the event.
    var requester: Requester {
        guard case .session(let requester) = replyTo else { preconditionFailure("no session made it") }
        return requester
    }
}
