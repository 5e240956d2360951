import Basics
import Delivery
import History

// Questions to the history of a node, and its answers.

/// The numbers of the kinds of questions.
enum HistoryQuestionCase: UInt8, CaseNumber {
    case list = 1
    case parts, totals, hours

    static let kind: StaticString = "question to the history"
}

extension HistoryQuestion: NodeCases {
    func write(to w: inout NodeWriter) throws(Fault) {
        switch self {
        case .list(let list): try w.put(Case.list, list)
        case .parts(let parts): try w.put(Case.parts, parts)
        case .totals(let sender, let start): try w.put(Case.totals, sender, start)
        case .hours(let start): try w.put(Case.hours, start)
        }
    }

    static func read(_ number: HistoryQuestionCase, from r: inout NodeReader) throws(Fault) -> Self {
        switch number {
        case .list: .list(try r.get())
        case .parts: .parts(try r.get("messages"))
        case .totals: .totals(of: try r.get("sender"), from: try r.get("time"))
        case .hours: .hours(from: try r.get("time"))
        }
    }
}

extension HistoryList: NodeFields {
    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        var list = Self(
            try c(v?.filter), limit: try c(v?.limit, "limit"), blocks: try c(v?.blocks, "blocks"))
        list.before = try c.optional(v?.before, "position")
        list.after = try c.optional(v?.after, "position")
        list.isPartial = try c(v?.isPartial, "partial")
        guard (0...Limits.History.rows).contains(list.limit),
            (0...Limits.History.examinedBlocks).contains(list.blocks)
        else { throw .value(of: "list") }
        return list
    }
}

extension HistoryFilter: NodeFields {
    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        var filter = Self()
        let name = try c.optional(v?.name?.id, "message ID")
        filter.name = name.map { MessageName(id: $0) }
        guard filter.name?.id == name else { throw .value(of: "message ID") }
        filter.sender = try c.optional(v?.sender, "sender")
        filter.device = try c.optional(v?.device, "device")
        filter.registration = try c.optional(v?.registration, "registration")
        filter.since = try c.optional(v?.since, "time")
        filter.until = try c.optional(v?.until, "time")
        filter.state = try c.optional(v?.state, "outcome")
        return filter
    }
}

/// The numbers of the states of a message.
enum HistoryStateCase: UInt8, CaseNumber {
    case open = 1
    case ended

    static let kind: StaticString = "state of a message"
}

extension HistoryFilter.State: NodeCases {
    func write(to w: inout NodeWriter) throws(Fault) {
        switch self {
        case .open: try w.put(Case.open)
        case .ended(let outcome): try w.put(Case.ended, outcome)
        }
    }

    static func read(_ number: HistoryStateCase, from r: inout NodeReader) throws(Fault) -> Self {
        switch number {
        case .open: .open
        case .ended: .ended(try r.get())
        }
    }
}

extension HistoryPart: NodeFields {
    static var leastBytes: Int { 4 }
    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        Self(
            kind: try c(v?.kind), owner: try c(v?.owner, "owner"), sequence: try c(v?.sequence, "position"),
            sender: try c(v?.sender, "sender"))
    }
}

/// The numbers of the kinds of answers.
enum HistoryContentCase: UInt8, CaseNumber {
    case page = 1
    case sums

    static let kind: StaticString = "answer of the history"
}

extension HistoryReply: NodeFields {
    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        Self(try c(v?.content), try c(v?.cover))
    }
}

extension HistoryReply.Content: NodeCases {
    func write(to w: inout NodeWriter) throws(Fault) {
        switch self {
        case .page(let page): try w.put(Case.page, page)
        case .sums(let sums): try w.put(Case.sums, sums)
        }
    }

    static func read(_ number: HistoryContentCase, from r: inout NodeReader) throws(Fault) -> Self {
        switch number {
        case .page: .page(try r.get())
        case .sums: .sums(try r.get())
        }
    }
}

extension HistoryPage: NodeFields {
    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        Self(
            try c(v?.messages, "messages"), next: try c.optional(v?.next, "position"),
            latest: try c.optional(v?.latest, "position"), isCut: try c(v?.isCut, "cut"))
    }
}

extension HistoryMessage: NodeFields {
    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        Self(record: try c(v?.record), position: try c(v?.position))
    }
}

extension HistoryPosition: NodeNumber {
    init(varint: UInt64) { self.init(place: varint) }
    var varint: UInt64 { place }
}

extension HistoryRecord: NodeFields {
    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        var record = Self(try c(v?.kind))
        record.id = try c(v?.id, "message ID")
        record.device = try c(v?.device, "device")
        record.registration = try c(v?.registration, "registration")
        record.sender = try c(v?.sender, "sender")
        record.sequence = try c(v?.sequence, "position")
        record.salt = try c(v?.salt, "salt")
        record.steps = try c(v?.steps, "steps")
        return record
    }
}

extension HistoryRecord.Step: NodeFields {
    static var leastBytes: Int { 3 }
    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        Self(
            time: try c(v?.time, "time"), step: try c(v?.step), detail: try c(v?.detail, "detail"),
            session: try c.optional(v?.session, "session"))
    }
}

extension HistorySums: NodeFields {
    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        Self(
            days: try c(v?.days, "days"), completeSince: try c.optional(v?.completeSince, "time"),
            unattributed: try c.count(v?.unattributed), topics: try c(v?.topics, "topics"))
    }
}

extension TopicSum: NodeFields {
    static var leastBytes: Int { 4 }
    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        let topic = CountedTopic(
            sender: try c(v?.topic.sender, "sender"), target: try c(v?.topic.target, "topic"))
        return Self(topic, messages: try c.count(v?.messages), reached: try c.count(v?.reached))
    }
}

extension HistoryCounter.Day: NodeFields {
    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        Self(start: try c(v?.start, "day"), counts: try c(v?.counts))
    }
}

extension OutcomeCounts: NodeFields {
    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        var counts = Self()
        for outcome in HistoryOutcome.allCases { counts[outcome] = try c.count(v?[outcome]) }
        return counts
    }
}

extension HistoryCover: NodeFields {
    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        Self(
            since: try c.optional(v?.since, "time"), gaps: try c(v?.gaps, "gaps"),
            damaged: try c.count(v?.damaged))
    }
}

extension HistoryGap: NodeFields {
    static var leastBytes: Int { 2 }
    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        Self(from: try c(v?.from, "time"), to: try c(v?.to, "time"))
    }
}

extension NodeCoder where Self: ~Copyable, Self: ~Escapable {
    /// Codes a count that can be added to others.
    fileprivate mutating func count(_ value: Int?) throws(Fault) -> Int {
        Int(try self(value.map { UInt32(clamping: $0) }, "count"))
    }
}

extension HistoryStep.Kind: Listed {
    static let numbers = NumberTable<Self>(
        "kind of a message", [.downstream, .upstream, .receipt, .topic, .group, .gap])
}

extension HistoryOutcome: Listed {
    static let numbers = NumberTable<Self>(
        "outcome",
        [.accepted, .delivered, .forwarded, .replaced, .expired, .discarded, .removed, .refused])
}
