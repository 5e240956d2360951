import Basics
import Delivery
import Wire

@testable import Sessions

/// An app server session with a clock, and its outputs.
struct AppServerHarness: ~Copyable {
    static let seal = TokenSeal(secret: [UInt8](repeating: 7, count: 32))
    static let registration = RegistrationName(device: DeviceID(1 << 60), number: RegistrationNumber(1))
    static let token = String(decoding: seal.token(for: registration), as: UTF8.self)
    static let header =
        #"<stream:stream to="x" version="1.0" xmlns="jabber:client" xmlns:stream="http://etherx.jabber.org/streams">"#
    static let plain =
        #"<auth mechanism="PLAIN" xmlns="urn:ietf:params:xml:ns:xmpp-sasl">ADEyMzQ1Njc4OTAAS0VZ</auth>"#
    static let bind = #"<iq type="set"><bind xmlns="urn:ietf:params:xml:ns:xmpp-bind"/></iq>"#
    static let request = #"<r xmlns="urn:xmpp:sm:3"/>"#

    var session: AppServerSession
    var io = SessionIO()
    var now = Now(monotonic: Instant(nanoseconds: 0), wall: 0)
    private var sent = ""
    private var events: [Event] = []

    init(_ change: (inout SessionSettings) -> Void) {
        var settings = SessionSettings(
            seal: Self.seal, digest: { SecretDigest(bytes: $0) }, random: { 42 })
        change(&settings)
        session = AppServerSession(
            connection: ConnectionID(reactor: 0, slot: 0, generation: 0), settings: SharedSettings(settings),
            now: now)
        feed(Self.header)
    }

    /// Returns a session that is logged in and expects the binding of a resource.
    static func binding(_ change: (inout SessionSettings) -> Void = { _ in }) -> AppServerHarness {
        var harness = AppServerHarness(change)
        harness.feed(plain)
        harness.perform(.appServer(.loginAccepted))
        harness.feed(header)
        return harness
    }

    /// Returns a ready session, without the outputs of the login.
    static func ready(_ change: (inout SessionSettings) -> Void = { _ in }) -> AppServerHarness {
        var harness = binding(change)
        harness.feed(bind)
        _ = harness.takeSent()
        _ = harness.takeEvents()
        return harness
    }

    /// Returns a ready session with a resumable stream.
    static func managed(_ change: (inout SessionSettings) -> Void = { _ in }) -> AppServerHarness {
        var harness = ready { settings in
            settings.streamManagement = true
            change(&settings)
        }
        harness.feed(#"<enable xmlns="urn:xmpp:sm:3" resume="true"/>"#)
        _ = harness.takeSent()
        _ = harness.takeEvents()
        return harness
    }

    mutating func feed(_ text: String) {
        session.receive(Array(text.utf8).raw, now: now, io: &io)
        collect()
    }

    mutating func perform(_ command: SessionCommand) {
        session.perform(command, now: now, io: &io)
        collect()
    }

    mutating func congest(_ isCongested: Bool) {
        session.outboundChanged(isCongested: isCongested, now: now, io: &io)
        collect()
    }

    mutating func lose() {
        session.ended(.peerReset, now: now, io: &io)
        collect()
    }

    mutating func inputEnded() -> Bool {
        let hasMore = session.inputEnded(now: now, io: &io)
        collect()
        return hasMore
    }

    /// Advances the time, and wakes the session if its deadline is reached.
    mutating func pass(milliseconds: Int64) {
        now.monotonic = now.monotonic.advanced(milliseconds: milliseconds)
        now.wall += milliseconds
        guard session.deadline <= now.monotonic else { return }
        session.wake(now: now, io: &io)
        collect()
    }

    mutating func deliver(
        _ number: UInt64, kind: StoredUpstream.Kind = .message, expiresAt: UnixMilliseconds = .max,
        lifetimeSeconds: Int = 60, body: EncodedAppData = []
    ) {
        perform(
            .appServer(
                .deliver(
                    StoredUpstream(
                        sender: SenderID(1_234_567_890), sequence: SequenceNumber(number), kind: kind,
                        from: Self.registration, category: Array("com.example.app".utf8),
                        messageID: Array("u\(number)".utf8), expiresAt: expiresAt,
                        lifetimeSeconds: lifetimeSeconds, body: body))))
    }

    private mutating func collect() {
        sent += String(decoding: io.out.bytes.copied(), as: UTF8.self)
        io.out.removeAll()
        events += io.events
        io.events.removeAll()
    }

    /// Returns the bytes sent since the last call.
    mutating func takeSent() -> String {
        defer { sent = "" }
        return sent
    }

    /// Returns the events since the last call.
    mutating func takeEvents() -> [Event] {
        defer { events = [] }
        return events
    }

    /// Returns the names of the events since the last call.
    mutating func takeEventNames() -> [String] { takeEvents().map(deviceEventWord) }

    /// Returns the settled messages since the last call, with their results.
    mutating func takeResults() -> [String] {
        takeEvents().compactMap { event in
            guard case .sender(_, .upstreamFinished(_, let sequence, let outcome)) = event else {
                return nil
            }
            return "\(sequence.number) \(outcome)"
        }
    }

    /// Returns the request ID of the last submitted message.
    mutating func requestID() -> UInt32? {
        takeEvents().compactMap {
            if case .device(_, .submitted(let message)) = $0 { message.requester.requestID } else { nil }
        }.last
    }

    static func message(_ json: String) -> String {
        #"<message><gcm xmlns="google:mobile:data">\#(json)</gcm></message>"#
    }

    static func downstream(_ id: String, value: String = "") -> String {
        message(#"{"to":"\#(token)","message_id":"\#(id)","data":{"a":"\#(value)"}}"#)
    }
}
