import Basics
import Delivery
import Sessions
import Testing
import Wire

/// A ready session whose host sends what it writes between two calls, at a pace of the test's choice.
private struct Desk: ~Copyable {
    var session: AppServerSession
    var io = SessionIO()
    var now = Now(monotonic: Instant(nanoseconds: 0), wall: 0)
    var sent = ""
    var largest = 0

    init() {
        let seal = TokenSeal(secret: [UInt8](repeating: 7, count: 32))
        let settings = SessionSettings(seal: seal, digest: { SecretDigest(octets: $0) }, random: { 42 })
        session = AppServerSession(
            connection: ConnectionID(reactor: 0, slot: 0, generation: 0), settings: SharedSettings(settings),
            now: now)
        let header =
            #"<stream:stream to="x" version="1.0" xmlns="jabber:client" xmlns:stream="http://etherx.jabber.org/streams">"#
        let auth =
            #"<auth mechanism="PLAIN" xmlns="urn:ietf:params:xml:ns:xmpp-sasl">ADEyMzQ1Njc4OTAAS0VZ</auth>"#
        session.receive(Array((header + auth).utf8).raw, now: now, io: &io)
        session.perform(.appServer(.loginAccepted), now: now, io: &io)
        let bind = #"<iq type="set"><bind xmlns="urn:ietf:params:xml:ns:xmpp-bind"/></iq>"#
        session.receive(Array((header + bind).utf8).raw, now: now, io: &io)
        flush()
        sent = ""
        largest = 0
    }

    /// The end of a reactor's turn.
    mutating func flush() {
        largest = max(largest, io.out.bytes.count)
        sent += String(decoding: io.out.bytes.copied(), as: UTF8.self)
        io.out.removeAll()
        io.events.removeAll()
    }

    /// A full window of the payload that grows most when it is written.
    mutating func deliverWindow() {
        var body = ByteBuffer()
        let value = [UInt8](repeating: UInt8(ascii: "<"), count: Limits.Message.payloadBytes - 1)
        AppData.append(key: Array("a".utf8).raw, value: value.raw, to: &body)
        for number in 1...Limits.AppServer.pendingWindow { deliver(number, body: body.copied()) }
    }

    /// A message of a device.
    mutating func deliver(_ number: Int, expiresAt: UnixMilliseconds = .max, body: Body = []) {
        let message = StoredUpstream(
            sender: SenderID(1_234_567_890), sequence: Sequence(UInt64(number)), kind: .message,
            from: RegistrationName(device: DeviceID(1 << 60), number: RegistrationNumber(1)),
            isFCMDomain: false, category: Array("com.example.app".utf8),
            messageID: Array("u\(number)".utf8), expiresAt: expiresAt, lifetimeSeconds: 86_400, body: body)
        session.perform(.appServer(.deliver(message)), now: now, io: &io)
    }

    /// Lets the session work at its deadline; false if it wants nothing soon.
    mutating func wake() -> Bool {
        guard session.deadline <= now.monotonic.advanced(milliseconds: 10) else { return false }
        now.monotonic = now.monotonic.advanced(milliseconds: 10)
        session.wake(now: now, io: &io)
        flush()
        return true
    }

    /// The ids in the order written.
    var ids: [String] {
        sent.split(separator: "\"message_id\":\"").dropFirst().map {
            String($0.prefix { $0 != "\"" })
        }
    }
}

@Suite struct AppServerBacklogTests {
    private static let expected = (1...Limits.AppServer.pendingWindow).map { "u\($0)" }

    @Test("a window of payloads that grow when written never piles up to the bound of a slow peer")
    func writtenInPortions() {
        var desk = Desk()
        desk.deliverWindow()
        desk.flush()
        while desk.wake() {}
        let (ids, largest) = (desk.ids, desk.largest)
        #expect(ids == Self.expected)
        #expect(largest < Limits.Connection.outboundBytes - Limits.Connection.outboundLowBytes)
        // Canary: all of it at once would have been taken for a peer that does not read.
        let whole = desk.sent.utf8.count
        #expect(whole > Limits.Connection.outboundBytes)
    }

    @Test("while the app server does not read nothing more is written, and then the rest, in order")
    func waitsForReader() {
        var desk = Desk()
        desk.session.outboundChanged(isCongested: true, now: desk.now, io: &desk.io)
        desk.deliverWindow()
        desk.flush()
        let hasWoken = desk.wake()
        #expect(!hasWoken)
        let before = desk.ids
        #expect(before.isEmpty)
        desk.session.outboundChanged(isCongested: false, now: desk.now, io: &desk.io)
        desk.flush()
        while desk.wake() {}
        let ids = desk.ids
        #expect(ids == Self.expected)
    }

    @Test("a wider pending window lets held messages go on, a narrower one holds later ones back")
    func changedWindow() {
        var desk = Desk()
        func submit(_ numbers: ClosedRange<Int>, _ desk: inout Desk) -> Int {
            for number in numbers {
                let token = TokenSeal(secret: [UInt8](repeating: 7, count: 32)).token(
                    for: RegistrationName(device: DeviceID(1 << 60), number: RegistrationNumber(1)))
                let json =
                    #"{"to":"\#(String(decoding: token, as: UTF8.self))","message_id":"\#(number)","data":{}}"#
                let stanza = #"<message id=""><gcm xmlns="google:mobile:data">\#(json)</gcm></message>"#
                desk.session.receive(Array(stanza.utf8).raw, now: desk.now, io: &desk.io)
            }
            return taken(&desk)
        }
        func taken(_ desk: inout Desk) -> Int {
            defer { desk.flush() }
            return desk.io.events.count { if case .device(_, .submitted) = $0 { true } else { false } }
        }
        desk.session.perform(.appServer(.changePendingWindow(2)), now: desk.now, io: &desk.io)
        let narrow = submit(1...5, &desk)
        #expect(narrow == 2)
        desk.session.perform(.appServer(.changePendingWindow(4)), now: desk.now, io: &desk.io)
        let wide = taken(&desk)
        #expect(wide == 2)
        desk.session.perform(.appServer(.changePendingWindow(1)), now: desk.now, io: &desk.io)
        desk.session.perform(
            .submission(ticket: 0, .accepted(id: nil, canonical: nil)), now: desk.now, io: &desk.io)
        let none = taken(&desk)
        #expect(none == 0)
        // Canary: the fifth waits for nothing but room.
        desk.session.perform(
            .appServer(.changePendingWindow(Limits.AppServer.pendingWindow)), now: desk.now, io: &desk.io)
        let rest = taken(&desk)
        #expect(rest == 1)
    }

    @Test("what has expired goes first where more waits than the core can mean")
    func expiredMakeRoom() {
        var desk = Desk()
        desk.session.outboundChanged(isCongested: true, now: desk.now, io: &desk.io)
        desk.io.events.removeAll()
        let most = 3 * Limits.AppServer.pendingWindow
        for number in 1...most {
            let isShort = number <= 10
            desk.deliver(number, expiresAt: isShort ? 1_000 : .max)
        }
        desk.now.wall = 1_000
        let before = desk.io.events.count
        desk.deliver(most + 1, expiresAt: .max)
        let after = desk.io.events.count
        #expect(before == 0 && after == 10)
        desk.session.outboundChanged(isCongested: false, now: desk.now, io: &desk.io)
        desk.flush()
        while desk.wake() {}
        let ids = desk.ids
        #expect(ids == (11...most + 1).map { "u\($0)" })
    }

    @Test("small messages are written at once")
    func smallAtOnce() {
        var desk = Desk()
        for number in 1...3 { desk.deliver(number) }
        desk.flush()
        let ids = desk.ids
        #expect(ids == ["u1", "u2", "u3"])
    }
}
