import Basics
import Delivery

/// The numbers of refusals.
enum RefusalCase: UInt8, CaseNumber {
    case missingTarget = 1
    case wrongType, outOfRange, notAllowed, tooLarge, reservedKey, conflict, repeatedMessageID, badAck
    case invalidToken, senderMismatch, notRegistered, packageMismatch, senderSuspended, deviceRateExceeded
    case senderRateExceeded, topicRateExceeded, unavailable, internalError, draining, apns, storeDamaged
    case unknownMessage, messageSent, scheduleFull

    static let kind: StaticString = "refusal"
}

extension Refusal: NodeCases {
    func write(to w: inout NodeWriter) throws(Fault) {
        switch self {
        case .missingTarget: try w.put(Case.missingTarget)
        case .wrongType(let field, let expected, let found):
            try w.put(Case.wrongType, field, expected, found)
        case .outOfRange(let field, let value, let lowest, let highest):
            try w.put(Case.outOfRange, field, value, lowest, highest)
        case .notAllowed(let field, let value, let allowed):
            try w.put(Case.notAllowed, field, value, allowed)
        case .tooLarge(let field, let bytes, let limit): try w.put(Case.tooLarge, field, bytes, limit)
        case .reservedKey(let key): try w.put(Case.reservedKey, key)
        case .conflict(let field, let reason): try w.put(Case.conflict, field, reason)
        case .repeatedMessageID: try w.put(Case.repeatedMessageID)
        case .badAck(let fault): try w.put(Case.badAck, fault)
        case .invalidToken: try w.put(Case.invalidToken)
        case .senderMismatch: try w.put(Case.senderMismatch)
        case .notRegistered: try w.put(Case.notRegistered)
        case .packageMismatch: try w.put(Case.packageMismatch)
        case .senderSuspended: try w.put(Case.senderSuspended)
        case .deviceRateExceeded: try w.put(Case.deviceRateExceeded)
        case .senderRateExceeded: try w.put(Case.senderRateExceeded)
        case .topicRateExceeded: try w.put(Case.topicRateExceeded)
        case .unavailable: try w.put(Case.unavailable)
        case .storeDamaged: try w.put(Case.storeDamaged)
        case .internalError: try w.put(Case.internalError)
        case .draining: try w.put(Case.draining)
        case .unknownMessage: try w.put(Case.unknownMessage)
        case .messageSent: try w.put(Case.messageSent)
        case .scheduleFull(let limit): try w.put(Case.scheduleFull, limit)
        case .apns(let refusal): try w.put(Case.apns, refusal)
        }
    }

    static func read(_ number: RefusalCase, from r: inout NodeReader) throws(Fault) -> Self {
        switch number {
        case .missingTarget: .missingTarget
        case .wrongType:
            .wrongType(field: try r.get("field"), expected: try r.get("type"), found: try r.get("type"))
        case .outOfRange:
            .outOfRange(
                field: try r.get("field"), value: try r.get("value"), lowest: try r.get(),
                highest: try r.get())
        case .notAllowed:
            .notAllowed(field: try r.get("field"), value: try r.get("value"), allowed: try r.get("value"))
        case .tooLarge: .tooLarge(field: try r.get("field"), bytes: try r.get(), limit: try r.get())
        case .reservedKey: .reservedKey(try r.get("key"))
        case .conflict: .conflict(field: try r.get("field"), reason: try r.get("reason"))
        case .repeatedMessageID: .repeatedMessageID
        case .badAck: .badAck(try r.get())
        case .invalidToken: .invalidToken
        case .senderMismatch: .senderMismatch
        case .notRegistered: .notRegistered
        case .packageMismatch: .packageMismatch
        case .senderSuspended: .senderSuspended
        case .deviceRateExceeded: .deviceRateExceeded
        case .senderRateExceeded: .senderRateExceeded
        case .topicRateExceeded: .topicRateExceeded
        case .unavailable: .unavailable
        case .storeDamaged: .storeDamaged
        case .internalError: .internalError
        case .draining: .draining
        case .unknownMessage: .unknownMessage
        case .messageSent: .messageSent
        case .scheduleFull: .scheduleFull(try r.get())
        case .apns: .apns(try r.get())
        }
    }
}

/// The numbers of the faults of an ack.
enum AckFaultCase: UInt8, CaseNumber {
    case missing = 1
    case notAString, unknown

    static let kind: StaticString = "fault of an ack"
}

extension Refusal.AckFault: NodeCases {
    func write(to w: inout NodeWriter) throws(Fault) {
        switch self {
        case .missing(let field): try w.put(Case.missing, field)
        case .notAString(let field, let found): try w.put(Case.notAString, field, found)
        case .unknown(let messageID): try w.put(Case.unknown, messageID)
        }
    }

    static func read(_ number: AckFaultCase, from r: inout NodeReader) throws(Fault) -> Self {
        switch number {
        case .missing: .missing(field: try r.get("field"))
        case .notAString: .notAString(field: try r.get("field"), found: try r.get("value"))
        case .unknown: .unknown(messageID: try r.get("message ID"))
        }
    }
}

extension APNsRefusal: NodeFields {
    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        Self(try c(v?.kind), try c.optional(v?.verdict, "verdict"))
    }
}

extension APNsVerdict: NodeFields {
    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        Self(
            status: try c(v?.status), reason: try c(v?.reason, "reason"),
            invalidSince: try c.optional(v?.invalidSince, "time"))
    }
}
