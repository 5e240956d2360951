import Basics
import Delivery
import Testing
import Wire

@testable import Webhooks

@Suite("requests to webhooks")
struct RequestTests {
    @Test("the body of a message has its data, and that of a receipt its status")
    func bodies() throws {
        var message = Samples.message(7)
        var body = ByteBuffer()
        AppData.append(key: "a\"b", value: bytes("<ü>").raw, to: &body)
        AppData.append(key: "k", text: "", to: &body)
        message.body = body.copied()
        let token = String(
            decoding: TokenSeal(secret: Samples.secret).token(for: message.from), as: UTF8.self)
        let json = try JSONValue(parsing: Samples.writer.body(of: message).raw)
        #expect(
            json == [
                "type": "upstream", "id": "msg_100_7", "timestamp": "2023-11-14T22:13:20.000Z",
                "sender_id": "100", "from": .string(token), "category": "com.example", "message_id": "m7",
                "time_to_live": 3_600, "data": ["a\"b": "<ü>", "k": ""],
            ])
        var receipt = Samples.receipt(8)
        let plain: JSONValue = [
            "type": "receipt", "id": "msg_100_8", "timestamp": "2023-11-14T22:13:20.000Z",
            "sender_id": "100", "from": .string(token), "category": "com.example", "message_id": "m8",
            "status": "MESSAGE_SENT_TO_DEVICE",
        ]
        let delivered = try JSONValue(parsing: Samples.writer.body(of: receipt).raw)
        #expect(delivered == plain)
        receipt.body = bytes("apns")
        let forwarded = String(decoding: Samples.writer.body(of: receipt), as: UTF8.self)
        #expect(forwarded.hasSuffix("\"status\":\"MESSAGE_SENT_TO_APNS\"}"))
    }

    @Test("the signature is that of the reference libraries of Standard Webhooks")
    func signature() {
        // The key, time and body of their test vector; the ID is ours.
        let key = Base64.bytes(bytes("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").raw) ?? []
        let headers = Samples.writer.headers(
            of: Samples.message(7), body: bytes(#"{"test": 2432232314}"#),
            keys: [WebhookEndpoint.Key(secret: Redacted(key))],
            Now(monotonic: .distantPast, wall: 1_614_265_330_999))
        #expect(headers.map(\.name) == ["webhook-id", "webhook-timestamp", "webhook-signature"])
        #expect(headers[0].value == "msg_100_7" && headers[1].value == "1614265330")
        #expect(headers[2].value == "v1,oQ819NfHsmOAyb+Zef1ssdyTPTX2aSDv7y8xTvorX8w=")
    }

    @Test("a body is signed with every key that is valid, the newest first")
    func rotation() {
        func key(_ byte: UInt8, until end: UnixMilliseconds?) -> WebhookEndpoint.Key {
            WebhookEndpoint.Key(secret: Redacted([UInt8](repeating: byte, count: 32)), expiresAt: end)
        }
        func signatures(_ keys: [WebhookEndpoint.Key]) -> [Substring] {
            var now = Now(monotonic: .distantPast, wall: Samples.epoch)
            now.advance = 86_400_000
            let headers = Samples.writer.headers(of: Samples.message(1), body: [], keys: keys, now)
            // The receiver's clock was not moved with that of the test.
            #expect(headers[1].value == "\((Samples.epoch - 86_400_000) / 1_000)")
            return headers[2].value.split(separator: " ")
        }
        let both = signatures([key(1, until: Samples.epoch + 1), key(2, until: nil)])
        #expect(both == signatures([key(2, until: nil)]) + signatures([key(1, until: nil)]))
        #expect(signatures([key(1, until: Samples.epoch), key(2, until: nil)]).count == 1)
        #expect(both[0] != both[1], "canary")
    }
}
