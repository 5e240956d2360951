import Basics
import Delivery
import Sessions
import Testing
import Wire

/// Messages to web registrations: JSON that an injected function encrypts, and never plain text.
@Suite struct DeviceWebPushTests {
    static let keys = WebKeys(
        publicKey: [4] + [UInt8](repeating: 5, count: 64), auth: [UInt8](repeating: 6, count: 16))

    /// Returns a session whose encryption leaves the text unchanged.
    static func harness(fails: Bool = false) -> DeviceHarness {
        DeviceHarness.loggedIn { settings in
            settings.webPush.encrypt = { keys, text in
                guard !fails, keys == Self.keys else { return nil }
                return EncryptedPayload(records: text, publicKey: [255, 254], salt: [1, 2, 3, 4])
            }
        }
    }

    static func delivery(
        _ message: StoredMessage, web: WebKeys? = keys, isStored: Bool = true
    ) -> DeviceDelivery {
        DeviceSamples.delivery(
            message, category: "org.chromium.linux", subtype: "wp:x", web: web, isStored: isStored)
    }

    static func sent(_ harness: inout DeviceHarness) throws -> MCS.DataMessage {
        let sent = harness.takeSent()
        guard sent.count == 1, case .dataMessage(let message) = sent[0] else {
            throw DeviceUnexpected("\(sent)")
        }
        return message
    }

    static func text(_ message: MCS.DataMessage) -> String {
        String(decoding: message.rawData ?? [], as: UTF8.self)
    }

    @Test("the pairs that every device gets become the JSON of web apps")
    func json() throws {
        var harness = Self.harness()
        let body = DeviceSamples.pairs(
            ("score", "5x1"), ("quote", "a\"b\n"), ("gcm.notification.title", "Hé"),
            ("gcm.notification.body", "b"), ("gcm.n.e", "1"))
        var message = DeviceSamples.stored(7, body: body, collapseKey: "k")
        message.priority = .high
        harness.perform(.device(.deliver(Self.delivery(message))))
        let sent = try Self.sent(&harness)
        #expect(
            Self.text(sent) == #"{"data":{"score":"5x1","quote":"a\"b\n"},"#
                + #""notification":{"title":"Hé","body":"b"},"from":"123","priority":"high","#
                + #""fcmMessageId":"0:7%12345678f9fd7ecd","collapse_key":"k"}"#)
        #expect(sent.token == Array("k".utf8))
        #expect(
            sent.body
                == DeviceSamples.pairs(
                    ("crypto-key", "dh=__4="), ("encryption", "salt=AQIDBA=="), ("subtype", "wp:x")))
        #expect(sent.persistentID == Array("0:7%12345678f9fd7ecd".utf8))
    }

    @Test("a message without pairs is still JSON, and one without account contains the web app's key")
    func bare() throws {
        var harness = Self.harness()
        var message = DeviceSamples.stored(7, body: [], lifetimeSeconds: 0)
        message.sender = nil
        harness.perform(.device(.deliver(Self.delivery(message, isStored: false))))
        let sent = try Self.sent(&harness)
        let text = #"{"from":"123","priority":"normal","fcmMessageId":"0:7%12345678f9fd7ecd"}"#
        #expect(Self.text(sent) == text)
        #expect(sent.persistentID == nil)
        #expect(sent.token == nil)
    }

    @Test("a web push message is acknowledged like any other")
    func acknowledged() throws {
        var harness = Self.harness()
        harness.perform(.device(.deliver(Self.delivery(DeviceSamples.stored(7)))))
        _ = try Self.sent(&harness)
        harness.receive(.iq(MCS.IqStanza(.selectiveAck([Array("0:7%12345678f9fd7ecd".utf8)]))))
        guard case .device(_, .acknowledged(_, let sequences))? = harness.takeEvents().first else {
            throw DeviceUnexpected("no acknowledgement")
        }
        #expect(sequences == [SequenceNumber(7)])
    }

    @Test(
        "the marker of discarded messages is not sent to a web app or its endpoint, and counts as delivered",
        arguments: [true, false])
    func marker(hasKeys: Bool) throws {
        var harness = Self.harness()
        let marker = DeviceSamples.stored(8, body: [], kind: .discardedMarker(count: 101))
        harness.perform(.device(.deliver(Self.delivery(marker, web: hasKeys ? Self.keys : nil))))
        #expect(harness.takeSent().isEmpty)
        guard case .device(_, .acknowledged(_, let sequences))? = harness.takeEvents().first else {
            throw DeviceUnexpected("no acknowledgement")
        }
        #expect(sequences == [SequenceNumber(8)])
    }

    /// The canary: what cannot be encrypted must not be sent as plain text.
    @Test(
        "a message that cannot be encrypted is neither sent nor counted as received",
        arguments: [true, false])
    func notEncrypted(fails: Bool) throws {
        var harness = Self.harness(fails: fails)
        let body = fails ? DeviceSamples.pairs(("k", "v")) : [0x3A, 0x7F]
        harness.perform(.device(.deliver(Self.delivery(DeviceSamples.stored(9, body: body)))))
        #expect(harness.takeSent().isEmpty)
        harness.receive(.iq(MCS.IqStanza(.streamAck, lastStreamIDReceived: 2)))
        #expect(harness.takeEvents().isEmpty)
    }
}
