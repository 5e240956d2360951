import Basics

extension Refusal {
    /// One refusal of each kind, in the order of `Metric.refusalWords`, with the values that the references show.
    static let examples: [Refusal] =
        [
            .missingTarget,
            .wrongType(field: "time_to_live", expected: "java.lang.Number", found: "\"abc\""),
            .outOfRange(
                field: "time_to_live", value: "9999999", lowest: 0,
                highest: Limits.Message.lifetimeSeconds),
            .notAllowed(field: "priority", value: "urgent", allowed: "normal, high"),
            .tooLarge(field: "data", bytes: 5_000, limit: Limits.Message.payloadBytes),
            .reservedKey("from"),
            .conflict(field: "condition", reason: "to is given as well"),
            .repeatedMessageID,
            .badAck(.missing(field: "to")),
            .invalidToken,
            .senderMismatch,
            .notRegistered,
            .packageMismatch, .senderSuspended,
            .deviceRateExceeded,
            .senderRateExceeded,
            .topicRateExceeded,
            .unavailable,
            .storeDamaged,
            .internalError,
            .draining,
            .unknownMessage, .messageSent, .scheduleFull(.device),
        ] + APNsRefusal.Kind.allCases.map { .apns(APNsRefusal($0)) }
}
