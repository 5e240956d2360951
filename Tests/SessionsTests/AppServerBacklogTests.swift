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
        let settings = SessionSettings(seal: seal, digest: { SecretDigest(bytes: $0) }, random: { 42 })
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
    mutating func deliver(_ number: Int, kind: StoredUpstream.Kind = .message, body: EncodedAppData = []) {
        let message = StoredUpstream(
            sender: SenderID(1_234_567_890), sequence: SequenceNumber(UInt64(number)), kind: kind,
            from: RegistrationName(device: DeviceID(1 << 60), number: RegistrationNumber(1)),
            isFCMDomain: false, category: Array("com.example.app".utf8),
            messageID: Array("u\(number)".utf8), expiresAt: .max, lifetimeSeconds: 86_400, body: body)
        session.perform(.appServer(.deliver(message)), now: now, io: &io)
    }

    /// The core withdraws a message.
    mutating func withdraw(_ number: UInt64) {
        session.perform(.appServer(.withdraw(SequenceNumber(number))), now: now, io: &io)
    }

    /// The core releases a receipt.
    mutating func release(_ number: UInt64) {
        session.perform(.appServer(.release(SequenceNumber(number))), now: now, io: &io)
    }

    /// The receipts reported as unanswered since the last flush.
    var reported: [UInt64] {
        io.events.compactMap {
            guard case .sender(_, .upstreamFinished(_, let sequence, .unanswered)) = $0 else { return nil }
            return sequence.number
        }
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
            .submission(requestID: 0, .accepted(id: nil, canonical: nil)), now: desk.now, io: &desk.io)
        let none = taken(&desk)
        #expect(none == 0)
        // Canary: the fifth waits for nothing but room.
        desk.session.perform(
            .appServer(.changePendingWindow(Limits.AppServer.pendingWindow)), now: desk.now, io: &desk.io)
        let rest = taken(&desk)
        #expect(rest == 1)
    }

    @Test("a message that the core withdraws before it is written is not written")
    func withdrawnUnwritten() {
        var desk = Desk()
        desk.session.outboundChanged(isCongested: true, now: desk.now, io: &desk.io)
        for number in 1...4 { desk.deliver(number) }
        desk.withdraw(2)
        desk.withdraw(4)
        desk.session.outboundChanged(isCongested: false, now: desk.now, io: &desk.io)
        desk.flush()
        let ids = desk.ids
        #expect(ids == ["u1", "u3"])
    }

    @Test("a receipt that the core releases is reported as unanswered once it is written")
    func releasedReceipt() {
        var desk = Desk()
        desk.deliver(1, kind: .receipt(sentAt: 0))
        desk.session.outboundChanged(isCongested: true, now: desk.now, io: &desk.io)
        desk.deliver(2, kind: .receipt(sentAt: 0))
        desk.io.events.removeAll()
        desk.release(1)
        desk.release(2)
        desk.release(3)
        let early = desk.reported
        #expect(early == [1], "the second is not written, the third unknown")
        desk.session.outboundChanged(isCongested: false, now: desk.now, io: &desk.io)
        let late = desk.reported
        #expect(late == [1, 2])
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
