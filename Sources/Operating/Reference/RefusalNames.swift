public import Basics
import Wire

extension Refusal {
    /// Returns the refusal of a message with a name from the tables of errors: its reason, or its error in XMPP, legacy HTTP or HTTP v1.
    /// Of several with the same error the usual one. Returns `nil` for any other name.
    public static func named(_ name: String) -> Refusal? {
        let usual: [Refusal] = [
            .unavailable, .invalidToken, .senderMismatch, .notRegistered, .deviceRateExceeded,
            .topicRateExceeded, .internalError, .draining, .apns(APNsRefusal(.credential)),
        ]
        let all = usual + examples.filter { !usual.contains($0) && !$0.isOfAck }
        return all.first { $0.word == name }
            ?? all.first { "\(ErrorCode.code($0))" == name }
            ?? all.first { "\(LegacyError.word($0))" == name }
            ?? all.first { V1Error($0).code?.rawValue == name }
    }

    /// Whether it is the refusal of an ack, not of a message.
    private var isOfAck: Bool { if case .badAck = self { true } else { false } }

    /// Its error in XMPP.
    public var xmppError: String { "\(ErrorCode.code(self))" }
}
