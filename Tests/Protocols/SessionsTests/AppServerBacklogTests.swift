import Basics
import Delivery
import Sessions
import Testing
import Wire

/// A ready session whose test controls when the host sends the written bytes.
private struct BacklogHarness: ~Copyable {
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

    /// Ends a turn of the reactor.
    mutating func flush() {
        largest = max(largest, io.out.bytes.count)
        sent += String(decoding: io.out.bytes.copied(), as: UTF8.self)
        io.out.removeAll()
        io.events.removeAll()
    }

    /// Delivers a full window of payloads that grow most by escaping.
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

    /// The message IDs in the order written.
    var ids: [String] {
        sent.split(separator: "\"message_id\":\"").dropFirst().map {
            String($0.prefix { $0 != "\"" })
        }
    }
}

@Suite struct AppServerBacklogTests {
    private static let expected = (1...Limits.AppServer.pendingWindow).map { "u\($0)" }

    @Test(
        "a session never queues enough to look like a slow peer when a window of payloads grows by escaping")
    func writtenInPortions() {
        var harness = BacklogHarness()
        harness.deliverWindow()
        harness.flush()
        while harness.wake() {}
        let (ids, largest) = (harness.ids, harness.largest)
        #expect(ids == Self.expected)
        #expect(largest < Limits.Connection.outboundBytes - Limits.Connection.outboundLowBytes)
        // Canary: written at once, all of it would exceed the limit of a slow peer.
        let whole = harness.sent.utf8.count
        #expect(whole > Limits.Connection.outboundBytes)
    }

    @Test("a session writes nothing while the app server does not read, and continues in order when it reads")
    func waitsForReader() {
        var harness = BacklogHarness()
        harness.session.outboundChanged(isCongested: true, now: harness.now, io: &harness.io)
        harness.deliverWindow()
        harness.flush()
        let hasWoken = harness.wake()
        #expect(!hasWoken)
        let before = harness.ids
        #expect(before.isEmpty)
        harness.session.outboundChanged(isCongested: false, now: harness.now, io: &harness.io)
        harness.flush()
        while harness.wake() {}
        let ids = harness.ids
        #expect(ids == Self.expected)
    }

    @Test("queued messages are submitted when the pending window grows, and stay queued when it shrinks")
    func changedWindow() {
        var harness = BacklogHarness()
        func submit(_ numbers: ClosedRange<Int>, _ harness: inout BacklogHarness) -> Int {
            for number in numbers {
                let token = TokenSeal(secret: [UInt8](repeating: 7, count: 32)).token(
                    for: RegistrationName(device: DeviceID(1 << 60), number: RegistrationNumber(1)))
                let json =
                    #"{"to":"\#(String(decoding: token, as: UTF8.self))","message_id":"\#(number)","data":{}}"#
                let stanza = #"<message id=""><gcm xmlns="google:mobile:data">\#(json)</gcm></message>"#
                harness.session.receive(Array(stanza.utf8).raw, now: harness.now, io: &harness.io)
            }
            return taken(&harness)
        }
        func taken(_ harness: inout BacklogHarness) -> Int {
            defer { harness.flush() }
            return harness.io.events.count { if case .device(_, .submitted) = $0 { true } else { false } }
        }
        harness.session.perform(.appServer(.changePendingWindow(2)), now: harness.now, io: &harness.io)
        let narrow = submit(1...5, &harness)
        #expect(narrow == 2)
        harness.session.perform(.appServer(.changePendingWindow(4)), now: harness.now, io: &harness.io)
        let wide = taken(&harness)
        #expect(wide == 2)
        harness.session.perform(.appServer(.changePendingWindow(1)), now: harness.now, io: &harness.io)
        harness.session.perform(
            .submission(requestID: 0, .accepted(id: nil, canonical: nil)), now: harness.now, io: &harness.io)
        let none = taken(&harness)
        #expect(none == 0)
        // Canary: the fifth message waits only for room.
        harness.session.perform(
            .appServer(.changePendingWindow(Limits.AppServer.pendingWindow)), now: harness.now,
            io: &harness.io)
        let rest = taken(&harness)
        #expect(rest == 1)
    }

    @Test("a message that the core withdraws before it is written is not written")
    func withdrawnUnwritten() {
        var harness = BacklogHarness()
        harness.session.outboundChanged(isCongested: true, now: harness.now, io: &harness.io)
        for number in 1...4 { harness.deliver(number) }
        harness.withdraw(2)
        harness.withdraw(4)
        harness.session.outboundChanged(isCongested: false, now: harness.now, io: &harness.io)
        harness.flush()
        let ids = harness.ids
        #expect(ids == ["u1", "u3"])
    }

    @Test("a receipt that the core releases is reported as unanswered once it is written")
    func releasedReceipt() {
        var harness = BacklogHarness()
        harness.deliver(1, kind: .receipt(sentAt: 0))
        harness.session.outboundChanged(isCongested: true, now: harness.now, io: &harness.io)
        harness.deliver(2, kind: .receipt(sentAt: 0))
        harness.io.events.removeAll()
        harness.release(1)
        harness.release(2)
        harness.release(3)
        let early = harness.reported
        #expect(early == [1], "the second is not written, the third unknown")
        harness.session.outboundChanged(isCongested: false, now: harness.now, io: &harness.io)
        let late = harness.reported
        #expect(late == [1, 2])
    }

    @Test("small messages are written at once")
    func smallAtOnce() {
        var harness = BacklogHarness()
        for number in 1...3 { harness.deliver(number) }
        harness.flush()
        let ids = harness.ids
        #expect(ids == ["u1", "u2", "u3"])
    }
}
