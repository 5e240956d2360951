import Basics
import Testing
import Wire
import WireSupport

private func written(_ write: (inout ByteBuffer) -> Void) -> String {
    var buffer = ByteBuffer()
    write(&buffer)
    return String(decoding: buffer.copied(), as: UTF8.self)
}

private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

@Suite struct CCSWriterTests {
    private let token = bytes("TOKEN")
    private let id = bytes("m-1")

    @Test("ACK has the bytes of the real service")
    func ack() {
        #expect(
            written { AnswerWriter.appendAck(to: token.raw, messageID: id.raw, into: &$0) }
                == #"<message><data:gcm xmlns:data="google:mobile:data">{"message_type":"ack","from":"TOKEN","message_id":"m-1"}</data:gcm></message>"#
        )
        #expect(
            written {
                AnswerWriter.appendAck(
                    to: token.raw, messageID: id.raw, canonical: bytes("NEW"), into: &$0)
            }.contains(#""message_id":"m-1","registration_id":"NEW"}"#))
    }

    @Test("NACK has the bytes of the real service")
    func nack() {
        let bad = bytes("SomeInvalidRegistrationId")
        #expect(
            written {
                AnswerWriter.appendNack(
                    to: bad.raw, messageID: bytes("msgId1").raw, .invalidToken, into: &$0)
            }
                == #"<message><data:gcm xmlns:data="google:mobile:data">{"message_type":"nack","from":"SomeInvalidRegistrationId","message_id":"msgId1","error":"BAD_REGISTRATION","error_description":"Invalid token on 'to' field: SomeInvalidRegistrationId"}</data:gcm></message>"#
        )
    }

    @Test(
        "every refusal has its code, and a description valid in JSON and XML",
        arguments: [
            (.missingTarget, "INVALID_JSON"),
            (.wrongType(field: "f", expected: "e", found: "<\"&\u{1}"), "INVALID_JSON"),
            (.outOfRange(field: "f", value: "9", lowest: 0, highest: 1), "INVALID_JSON"),
            (.notAllowed(field: "f", value: "v", allowed: "a"), "INVALID_JSON"),
            (.tooLarge(field: "f", bytes: 2, limit: 1), "INVALID_JSON"),
            (.reservedKey("from"), "INVALID_JSON"), (.conflict(field: "f", reason: "r"), "INVALID_JSON"),
            (.repeatedMessageID, "INVALID_JSON"), (.badAck(.missing(field: "to")), "BAD_ACK"),
            (.invalidToken, "BAD_REGISTRATION"), (.senderMismatch, "BAD_REGISTRATION"),
            (.notRegistered, "DEVICE_UNREGISTERED"), (.packageMismatch, "INVALID_JSON"),
            (.deviceRateExceeded, "DEVICE_MESSAGE_RATE_EXCEEDED"),
            (.senderRateExceeded, "SERVICE_UNAVAILABLE"),
            (.topicRateExceeded, "TOPICS_MESSAGE_RATE_EXCEEDED"), (.unavailable, "SERVICE_UNAVAILABLE"),
            (.storeDamaged, "SERVICE_UNAVAILABLE"),
            (.internalError, "INTERNAL_SERVER_ERROR"), (.draining, "CONNECTION_DRAINING"),
            (.apns(APNsRefusal(.credential)), "INVALID_APNS_CREDENTIAL"),
            (.apns(APNsRefusal(.unregistered)), "DEVICE_UNREGISTERED"),
            (.apns(APNsRefusal(.badToken)), "DEVICE_UNREGISTERED"),
            (.apns(APNsRefusal(.activityEnded)), "INVALID_JSON"),
            (.apns(APNsRefusal(.mismatch)), "BAD_REGISTRATION"),
            (.apns(APNsRefusal(.tooLarge)), "INVALID_JSON"), (.apns(APNsRefusal(.invalid)), "INVALID_JSON"),
            (.apns(APNsRefusal(.rateExceeded)), "DEVICE_MESSAGE_RATE_EXCEEDED"),
            (.apns(APNsRefusal(.unavailable)), "SERVICE_UNAVAILABLE"),
            (.apns(APNsRefusal(.internalFault)), "INTERNAL_SERVER_ERROR"),
        ] as [(Refusal, String)])
    func codes(refusal: Refusal, code: String) throws {
        let nasty = bytes("<&>\"\\\u{0}\n]]>")
        let stanza = written {
            AnswerWriter.appendNack(to: nasty.raw, messageID: nasty.raw, refusal, into: &$0)
        }
        let opening = #"<message><data:gcm xmlns:data="google:mobile:data">"#
        #expect(stanza.hasPrefix(opening) && stanza.hasSuffix("</data:gcm></message>"))
        let json = String(stanza.dropFirst(opening.count).dropLast("</data:gcm></message>".count))
        #expect(!json.utf8.contains { $0 < 0x20 || $0 == 0x3C || $0 == 0x3E || $0 == 0x26 })
        let value = try JSONValue(parsing: json)
        #expect(value["error"]?.text == code)
        #expect(value["message_id"]?.text == "<&>\"\\\u{0}\n]]>")
        #expect(value["error_description"]?.text?.isEmpty == false)
        if code == "INVALID_JSON", refusal != .repeatedMessageID {
            #expect(value["error_description"]?.text?.hasPrefix("InvalidJson: ") == true)
        }
    }

    @Test("a huge target is cut in the description, but complete in from")
    func hugeTarget() throws {
        let target = [UInt8](repeating: 0x78, count: 50_000)
        let stanza = written {
            AnswerWriter.appendNack(to: target.raw, messageID: id.raw, .invalidToken, into: &$0)
        }
        #expect(stanza.utf8.count < 51_000)
    }

    @Test("control is written with and without message_id")
    func control() {
        #expect(
            written { AnswerWriter.appendDraining(into: &$0) }
                == #"<message><data:gcm xmlns:data="google:mobile:data">{"message_type":"control","control_type":"CONNECTION_DRAINING"}</data:gcm></message>"#
        )
        #expect(
            written { AnswerWriter.appendDraining(messageID: 10, into: &$0) }
                .contains(#""CONNECTION_DRAINING","message_id":"control-000000000000000a"}"#))
    }

    @Test("receipt has the documented bytes")
    func receipt() {
        #expect(
            written {
                Receipt.append(
                    sender: SenderID(1_234_567_890), isFCMDomain: false, originalMessageID: id.raw,
                    token: token.raw, category: bytes("com.example.yourapp").raw,
                    sentAt: 1_430_277_821_658, into: &$0)
            }
                == #"<message to="1234567890@gcm.googleapis.com" from="devices@gcm.googleapis.com" type="normal"><gcm xmlns="google:mobile:data">{"category":"com.example.yourapp","data":{"message_status":"MESSAGE_SENT_TO_DEVICE","original_message_id":"m-1","device_registration_id":"TOKEN","message_sent_timestamp":"1430277821658"},"message_id":"dr2:m-1","message_type":"receipt","time_to_live":0,"from":"gcm.googleapis.com"}</gcm></message>"#
        )
    }

    @Test("upstream message has the captured bytes")
    func upstream() {
        let stanza = written {
            UpstreamMessage.appendHead(sender: SenderID(1_234_567_890), isFCMDomain: true, into: &$0)
            $0.append("{\"hello\":\"world\"}")
            UpstreamMessage.appendTail(
                lifetimeSeconds: 86_400, from: token.raw, messageID: bytes("000001").raw,
                category: bytes("com.example.yourapp").raw, into: &$0)
        }
        #expect(
            stanza
                == #"<message to="1234567890@fcm.googleapis.com" from="devices@gcm.googleapis.com" type="normal"><gcm xmlns="google:mobile:data">{"data":{"hello":"world"},"time_to_live":86400,"from":"TOKEN","message_id":"000001","category":"com.example.yourapp"}</gcm></message>"#
        )
    }

    @Test("canary: two different IDs yield two different stanzas")
    func canary() {
        let one = written { AnswerWriter.appendAck(to: token.raw, messageID: id.raw, into: &$0) }
        let other = written { AnswerWriter.appendAck(to: token.raw, messageID: token.raw, into: &$0) }
        #expect(one != other)
    }
}
