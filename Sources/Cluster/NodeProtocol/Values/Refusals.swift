import Basics
import Delivery

extension NodeWriter {
    mutating func write(_ refusal: Refusal) {
        switch refusal {
        case .missingTarget: write(RefusalCase.missingTarget)
        case .wrongType(let field, let expected, let found):
            write(RefusalCase.wrongType)
            texts(field, expected, found)
        case .outOfRange(let field, let value, let lowest, let highest):
            write(RefusalCase.outOfRange)
            texts(field, value)
            signed(lowest)
            signed(highest)
        case .notAllowed(let field, let value, let allowed):
            write(RefusalCase.notAllowed)
            texts(field, value, allowed)
        case .tooLarge(let field, let bytes, let limit):
            write(RefusalCase.tooLarge)
            text(field)
            signed(bytes)
            signed(limit)
        case .reservedKey(let key):
            write(RefusalCase.reservedKey)
            text(key)
        case .conflict(let field, let reason):
            write(RefusalCase.conflict)
            texts(field, reason)
        case .repeatedMessageID: write(RefusalCase.repeatedMessageID)
        case .badAck(let fault):
            write(RefusalCase.badAck)
            write(fault)
        case .invalidToken: write(RefusalCase.invalidToken)
        case .senderMismatch: write(RefusalCase.senderMismatch)
        case .notRegistered: write(RefusalCase.notRegistered)
        case .packageMismatch: write(RefusalCase.packageMismatch)
        case .senderSuspended: write(RefusalCase.senderSuspended)
        case .deviceRateExceeded: write(RefusalCase.deviceRateExceeded)
        case .senderRateExceeded: write(RefusalCase.senderRateExceeded)
        case .topicRateExceeded: write(RefusalCase.topicRateExceeded)
        case .unavailable: write(RefusalCase.unavailable)
        case .storeDamaged: write(RefusalCase.storeDamaged)
        case .internalError: write(RefusalCase.internalError)
        case .draining: write(RefusalCase.draining)
        case .apns(let refusal):
            write(RefusalCase.apns)
            write(refusal)
        }
    }

    private mutating func write(_ fault: Refusal.AckFault) {
        switch fault {
        case .missing(let field):
            write(AckFaultCase.missing)
            text(field)
        case .notAString(let field, let found):
            write(AckFaultCase.notAString)
            texts(field, found)
        case .unknown(let messageID):
            write(AckFaultCase.unknown)
            text(messageID)
        }
    }

    private mutating func texts(_ values: String...) {
        for value in values { text(value) }
    }

    mutating func write(_ refusal: APNsRefusal) {
        write(refusal.kind)
        optional(refusal.verdict) { $0.write($1) }
    }

    mutating func write(_ verdict: APNsVerdict) {
        signed(verdict.status)
        text(verdict.reason)
        optional(verdict.invalidSince) { $0.signed($1) }
    }
}

extension NodeReader {
    @_lifetime(self: copy self)
    mutating func refusal() throws(NodeProtocolFault) -> Refusal {
        let number: RefusalCase = try numbered()
        switch number {
        case .missingTarget: return .missingTarget
        case .wrongType:
            return .wrongType(field: try text("field"), expected: try text("type"), found: try text("type"))
        case .outOfRange:
            return .outOfRange(
                field: try text("field"), value: try text("value"), lowest: try integer(),
                highest: try integer())
        case .notAllowed:
            return .notAllowed(
                field: try text("field"), value: try text("value"), allowed: try text("value"))
        case .tooLarge:
            return .tooLarge(field: try text("field"), bytes: try integer(), limit: try integer())
        case .reservedKey: return .reservedKey(try text("key"))
        case .conflict: return .conflict(field: try text("field"), reason: try text("reason"))
        case .repeatedMessageID: return .repeatedMessageID
        case .badAck: return .badAck(try ackFault())
        case .invalidToken: return .invalidToken
        case .senderMismatch: return .senderMismatch
        case .notRegistered: return .notRegistered
        case .packageMismatch: return .packageMismatch
        case .senderSuspended: return .senderSuspended
        case .deviceRateExceeded: return .deviceRateExceeded
        case .senderRateExceeded: return .senderRateExceeded
        case .topicRateExceeded: return .topicRateExceeded
        case .unavailable: return .unavailable
        case .storeDamaged: return .storeDamaged
        case .internalError: return .internalError
        case .draining: return .draining
        case .apns: return .apns(try apnsRefusal())
        }
    }

    @_lifetime(self: copy self)
    private mutating func ackFault() throws(NodeProtocolFault) -> Refusal.AckFault {
        let number: AckFaultCase = try numbered()
        switch number {
        case .missing: return .missing(field: try text("field"))
        case .notAString: return .notAString(field: try text("field"), found: try text("value"))
        case .unknown: return .unknown(messageID: try text("message ID"))
        }
    }

    @_lifetime(self: copy self)
    mutating func apnsRefusal() throws(NodeProtocolFault) -> APNsRefusal {
        let kind: APNsRefusal.Kind = try numbered()
        return APNsRefusal(kind, try flag("verdict") ? try verdict() : nil)
    }

    @_lifetime(self: copy self)
    mutating func verdict() throws(NodeProtocolFault) -> APNsVerdict {
        let (status, reason) = (try integer(), try text("reason"))
        return APNsVerdict(
            status: status, reason: reason, invalidSince: try flag("time") ? try signed() : nil)
    }
}
