import Basics
import Transport

/// One app server of the bench: logs in, and sends what its load gives it.
///
/// It takes the ACKs apart no further than their numbers, so that the generator costs less than the server.
final class AppServerLane: ConnectionDelegate, Lane {
    private enum Stage {
        case features, authenticating, binding, ready
    }

    private weak let load: LoadRun?
    private let counters: LoadCounters
    private let login: AppServerCredential
    private let stanzas: [Template]
    let window: Int
    private var stage = Stage.features
    private var early: [UInt8] = []
    private var numbers = MarkScanner(mark: Template.numberMark, digits: Template.numberDigits)
    private var times = [Int64](repeating: 0, count: 4_096)
    private var next = 0
    private(set) var outstanding = 0
    private var target: Int
    private weak var connection: Connection?

    /// Sends to one of `stanzas` after the other, beginning with `first`.
    init(_ load: LoadRun, _ login: AppServerCredential, stanzas: [Template], window: Int, first: Int) {
        self.load = load
        counters = load.counters
        self.login = login
        self.stanzas = stanzas
        self.window = window
        target = first
    }

    func send(dueAt time: Int64) {
        guard let connection else { return }
        times[next & 4_095] = time
        stanzas[target].append(number: next, time: time, to: &connection.outbox)
        target = target + 1 == stanzas.count ? 0 : target + 1
        next += 1
        outstanding += 1
    }

    func flush() { connection?.setNeedsFlush() }

    func connectionOpened(_ connection: Connection, now: Now) {
        self.connection = connection
        send(connection, login.header)
    }

    func connection(_ connection: Connection, received bytes: RawSpan, now: Now) {
        guard stage == .ready else { return takeEarly(connection, bytes) }
        var answered = 0
        let instant = now.monotonic.nanoseconds
        numbers.scan(bytes) { span, at in
            let number = Digits.number(in: span, at: at)
            counters.answerTimes.note(instant - times[number & 4_095])
            answered += 1
        }
        guard answered > 0 else { return }
        if Bytes.contains(bytes, "\"nack\"") {
            counters.refused += answered
            if counters.refusal.isEmpty {
                counters.refusal = String(decoding: [UInt8](copying: bytes), as: UTF8.self)
            }
        } else {
            counters.acknowledged += answered
        }
        outstanding -= answered
        load?.answered(self, now: now)
    }

    private func takeEarly(_ connection: Connection, _ bytes: RawSpan) {
        early += [UInt8](copying: bytes)
        let text = early
        switch stage {
        case .features where Bytes.contains(text.raw, "</stream:features>"):
            stage = .authenticating
            send(connection, login.auth)
        case .authenticating where Bytes.contains(text.raw, "<success"):
            stage = .binding
            send(connection, login.header)
        case .authenticating where Bytes.contains(text.raw, "<failure"):
            counters.failures.append("the server refuses the login")
        case .binding where Bytes.contains(text.raw, "</stream:features>"):
            send(connection, login.bind)
        case .binding where Bytes.contains(text.raw, "</iq>"):
            stage = .ready
            counters.ready += 1
            early = []
            return
        default: return
        }
        early.removeAll()
    }

    private func send(_ connection: Connection, _ text: String) {
        connection.outbox.bytes.append(text: text)
        connection.outbox.endRecord()
        connection.setNeedsFlush()
    }

    func connection(_ connection: Connection, outboundIsCongested: Bool, now: Now) {}
    func connectionDeadline(_ connection: Connection, now: Now) {}

    func connectionClosed(_ connection: Connection, reason: CloseReason, now: Now) {
        counters.noteEnd("app server", reason, connection.failure)
    }
}

/// What an app server of the bench logs in with, as bytes of the stream.
struct AppServerCredential {
    let header =
        "<stream:stream to=\"gcm.googleapis.com\" version=\"1.0\" xmlns=\"jabber:client\" xmlns:stream=\"http://etherx.jabber.org/streams\">"
    let bind = "<iq type=\"set\" id=\"b\"><bind xmlns=\"urn:ietf:params:xml:ns:xmpp-bind\"/></iq>"
    let auth: String

    init(sender: String, key: String) {
        let plain = [0] + Array("\(sender)@gcm.googleapis.com".utf8) + [0] + Array(key.utf8)
        auth =
            "<auth mechanism=\"PLAIN\" xmlns=\"urn:ietf:params:xml:ns:xmpp-sasl\">\(Base64.text(plain))</auth>"
    }
}

/// Searches in bytes.
enum Bytes {
    /// Whether a text occurs.
    static func contains(_ bytes: RawSpan, _ text: StaticString) -> Bool {
        offset(of: text, in: bytes) != nil
    }

    /// Where a text first occurs, from an offset on.
    static func offset(of text: StaticString, in bytes: RawSpan, from start: Int = 0) -> Int? {
        let length = text.utf8CodeUnitCount
        guard bytes.byteCount - start >= length else { return nil }
        let first = text.withUTF8Buffer { unsafe $0[0] }
        for at in start...(bytes.byteCount - length) where bytes.byte(at: at) == first {
            if bytes.extracting(at..<at + length).equals(text) { return at }
        }
        return nil
    }
}
