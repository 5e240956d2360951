import Basics
import Delivery

// Requests about groups, streams, and what partitions send each other.

extension GroupRequest: NodeFields {
    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        Self(
            requester: try c.optional(v?.requester, "requester"), sender: try c(v?.sender),
            operation: try c(v?.operation))
    }
}

/// The numbers of the requests about groups.
enum GroupOperationCase: UInt8, CaseNumber {
    case create = 1
    case add, remove, imported, find, show, reconcile

    static let kind: StaticString = "group request"
}

extension GroupRequest.Operation: NodeCases {
    func write(to w: inout NodeWriter) throws(Fault) {
        switch self {
        case .create(let label, let members): try w.put(Case.create, label, members)
        case .add(let number, let label, let members): try w.put(Case.add, number, label, members)
        case .remove(let number, let label, let members): try w.put(Case.remove, number, label, members)
        case .imported(let group, let replaces): try w.put(Case.imported, AnyGroup(group), replaces)
        case .find(let label): try w.put(Case.find, label)
        case .show(let number): try w.put(Case.show, number)
        case .reconcile(let number, let gone, let replaced):
            try w.put(Case.reconcile, number, gone, replaced.map(ReplacedMember.init))
        }
    }

    static func read(_ number: GroupOperationCase, from r: inout NodeReader) throws(Fault) -> Self {
        switch number {
        case .create: return .create(label: try r.get("label"), members: try r.get("tokens"))
        case .add:
            return .add(number: try r.get(), label: try r.get("label"), members: try r.get("tokens"))
        case .remove:
            return .remove(number: try r.get(), label: try r.get("label"), members: try r.get("tokens"))
        case .imported:
            let group: AnyGroup = try r.get()
            return .imported(group.record, replaces: try r.get("replacement"))
        case .find: return .find(label: try r.get("label"))
        case .show: return .show(number: try r.get())
        case .reconcile:
            let (number, gone): (UInt64, [RegistrationName]) = (try r.get(), try r.get("names"))
            let replaced: [ReplacedMember] = try r.get("replaced members")
            return .reconcile(number: number, gone: gone, replaced: replaced.map(\.pair))
        }
    }
}

private struct ReplacedMember: NodeFields {
    static var leastBytes: Int { 5 }

    var old: RegistrationName
    var new: TokenName

    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        Self(old: try c(v?.old), new: try c(v?.new))
    }

    var pair: (old: RegistrationName, new: TokenName) { (old, new) }
}

/// A group that may have too many members: the store has no record of such a group.
struct AnyGroup: NodeFields {
    var record: GroupRecord

    init(_ record: GroupRecord) { self.record = record }

    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        let group = v?.record
        return Self(
            GroupRecord(
                name: try c(group?.name), label: try c(group?.label, "label"),
                members: try c(group?.members, "tokens"), createdAt: try c(group?.createdAt)))
    }
}

extension ResumableStream: NodeFields {
    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        Self(
            id: try c(v?.id, "stream"), jid: try c(v?.jid, "JID"),
            handled: try c(v?.handled, "count of stanzas"), sent: try c(v?.sent, "count of stanzas"),
            confirmed: try c(v?.confirmed, "count of stanzas"), unconfirmed: try c(v?.unconfirmed, "stanzas"))
    }
}

extension ResumableStream.Stanza: NodeFields {
    static var leastBytes: Int { 2 }
    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        Self(number: try c(v?.number, "number of a stanza"), bytes: try c(v?.bytes, "stanza"))
    }
}

extension UpstreamReturn: NodeFields {
    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        Self(
            sender: try c(v?.sender), sequence: try c(v?.sequence), expiresAt: try c(v?.expiresAt),
            author: UpstreamAuthor(
                from: try c(v?.author.from), messageID: try c(v?.author.messageID, "message ID")))
    }
}

extension ReceiptDue: NodeFields {
    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        let message = try c(v?.message)
        let prefix = try c.optional(v?.tokenPrefix, "token prefix")
        var due = Self(
            message: message, sequence: try c(v?.sequence), sender: try c(v?.sender),
            messageID: try c(v?.messageID, "message ID"), category: try c(v?.category, "category"),
            deliveredAt: try c(v?.deliveredAt), isForwarded: try c(v?.isForwarded, "forwarded"),
            requester: try c.optional(v?.requester, "requester"))
        due.tokenPrefix = prefix
        return due
    }
}

extension GatewayAnswer: NodeFields {
    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        Self(registration: try c(v?.registration), sequence: try c(v?.sequence), outcome: try c(v?.outcome))
    }
}

/// The numbers of the answers of the gateway.
enum GatewayOutcomeCase: UInt8, CaseNumber {
    case accepted = 1
    case later, refused, tokenEnded, tokenUnknown, tokenMismatched

    static let kind: StaticString = "gateway answer"
}

extension GatewayOutcome: NodeCases {
    func write(to w: inout NodeWriter) throws(Fault) {
        switch self {
        case .accepted(let environment): try w.put(Case.accepted, environment)
        case .later(let milliseconds, let refusal, let isAttempt):
            try w.put(Case.later, milliseconds, refusal, isAttempt)
        case .refused(let refusal): try w.put(Case.refused, refusal)
        case .tokenEnded(let verdict): try w.put(Case.tokenEnded, verdict)
        case .tokenUnknown(let verdict): try w.put(Case.tokenUnknown, verdict)
        case .tokenMismatched(let verdict): try w.put(Case.tokenMismatched, verdict)
        }
    }

    static func read(_ number: GatewayOutcomeCase, from r: inout NodeReader) throws(Fault) -> Self {
        switch number {
        case .accepted: .accepted(try r.get())
        case .later: .later(milliseconds: try r.get(), try r.get(), isAttempt: try r.get("attempt"))
        case .refused: .refused(try r.get())
        case .tokenEnded: .tokenEnded(try r.get())
        case .tokenUnknown: .tokenUnknown(try r.get())
        case .tokenMismatched: .tokenMismatched(try r.get())
        }
    }
}

/// The numbers of the answers of members of a group.
enum MemberAnswerCase: UInt8, CaseNumber {
    case sent = 1
    case refused

    static let kind: StaticString = "answer of a member"
}

extension MemberAnswer: NodeCases {
    func write(to w: inout NodeWriter) throws(Fault) {
        switch self {
        case .sent(let canonical): try w.put(Case.sent, canonical)
        case .refused(let refusal): try w.put(Case.refused, refusal)
        }
    }

    static func read(_ number: MemberAnswerCase, from r: inout NodeReader) throws(Fault) -> Self {
        switch number {
        case .sent: .sent(canonical: try r.get("token"))
        case .refused: .refused(try r.get())
        }
    }
}
