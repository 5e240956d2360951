import Basics
import Testing

@testable import Reference

@Suite("Names of refusals")
struct RefusalNamesTests {
    @Test(
        "canary: a refusal has the names of the tables of errors",
        arguments: [
            ("DEVICE_UNREGISTERED", Refusal.notRegistered), ("BAD_REGISTRATION", .invalidToken),
            ("SERVICE_UNAVAILABLE", .unavailable), ("DEVICE_MESSAGE_RATE_EXCEEDED", .deviceRateExceeded),
            ("TOPICS_MESSAGE_RATE_EXCEEDED", .topicRateExceeded), ("INTERNAL_SERVER_ERROR", .internalError),
            ("CONNECTION_DRAINING", .draining), ("InvalidRegistration", .invalidToken),
            ("NotRegistered", .notRegistered), ("MismatchSenderId", .senderMismatch),
            ("Unavailable", .unavailable), ("DeviceMessageRateExceeded", .deviceRateExceeded),
            ("UNREGISTERED", .notRegistered), ("SENDER_ID_MISMATCH", .senderMismatch),
            ("QUOTA_EXCEEDED", .deviceRateExceeded), ("UNAVAILABLE", .unavailable),
            ("INTERNAL", .internalError), ("sender_rate_exceeded", .senderRateExceeded),
        ])
    func names(_ name: String, _ refusal: Refusal) { #expect(Refusal.named(name) == refusal) }

    @Test("every reason of a message is a name")
    func reasons() {
        for refusal in Refusal.examples where refusal.word != "bad_ack" {
            #expect(Refusal.named(refusal.word) == refusal)
        }
    }

    @Test(
        "an error of other interfaces, and that of an ack, is none",
        arguments: ["", "x", "BAD_ACK", "bad_ack"])
    func others(_ name: String) { #expect(Refusal.named(name) == nil) }
}
