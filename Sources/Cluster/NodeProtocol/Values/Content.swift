import Basics
import Delivery

// Messages and their submissions.

extension Requester: NodeFields {
    @inline(__always)
    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        var requester = Self(connection: try c(v?.connection), requestID: try c(v?.requestID, "request ID"))
        requester.growth = try c(v?.growth)
        return requester
    }
}

extension MessageContent: NodeFields {
    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        let messageID = try c(v?.messageID, "message ID")
        let collapseKey = try c.optional(v?.collapseKey, "collapse key")
        let body = try c(v?.body, "body")
        let apns = try c.optional(v?.apns, "APNs part")
        var content = Self(
            messageID: messageID, collapseKey: collapseKey, lifetimeSeconds: try c(v?.lifetimeSeconds),
            priority: try c(v?.priority), wantsReceipt: try c(v?.wantsReceipt, "receipt"),
            delaysWhileIdle: try c(v?.delaysWhileIdle, "delay"), isDryRun: try c(v?.isDryRun, "dry run"),
            restrictedPackage: try c.optional(v?.restrictedPackage, "package"),
            holdsRawData: try c(v?.holdsRawData, "raw data"),
            isNotification: try c(v?.isNotification, "notification"), body: body, apns: apns)
        content.apnsLifetimeSeconds = try c.optional(v?.apnsLifetimeSeconds, "lifetime")
        let marks = try c(v?.marks, "marks of a message")
        guard marks <= Marks.all else { throw .value(of: "marks of a message") }
        content.isForSeveral = marks & Marks.several != 0
        if marks & Marks.sendAt != 0 { content.sendAt = try c(v?.sendAt) }
        if marks & Marks.replaces != 0 { content.replaces = try c(v?.replaces, "message ID") }
        return content
    }

    /// A copy would allocate the fields again.
    func write(to w: inout NodeWriter) throws(Fault) {
        try w.put(messageID, collapseKey, body, apns, lifetimeSeconds)
        try w.put(priority, wantsReceipt, delaysWhileIdle, isDryRun, restrictedPackage)
        try w.put(holdsRawData, isNotification, apnsLifetimeSeconds, marks)
        if let sendAt { try w.put(sendAt) }
        if let replaces { try w.put(replaces) }
    }

    /// Whether it is for several recipients, and which extensions it has: a message without any has the bytes that it had before them.
    private enum Marks {
        static let several: UInt32 = 1
        static let sendAt: UInt32 = 2
        static let replaces: UInt32 = 4
        static let all: UInt32 = 7
    }

    private var marks: UInt32 {
        (isForSeveral ? Marks.several : 0) + (sendAt == nil ? 0 : Marks.sendAt)
            + (replaces == nil ? 0 : Marks.replaces)
    }
}

extension Submission: NodeFields {
    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        Self(
            replyTo: try c(v?.replyTo), submitter: try c.optional(v?.submitter, "submitter"),
            entitlement: try c(v?.entitlement), target: try c(v?.target), content: try c(v?.content))
    }

    func write(to w: inout NodeWriter) throws(Fault) {
        try w.put(replyTo, submitter, entitlement, target, content)
    }
}

/// The numbers of the recipients of answers. 3 is not used any more.
enum ReplyToCase: UInt8, CaseNumber {
    case session = 1
    case group
    case nobody = 4

    static let kind: StaticString = "recipient of an answer"
}

extension ReplyTo: NodeCases {
    func write(to w: inout NodeWriter) throws(Fault) {
        switch self {
        case .session(let requester): try w.put(Case.session, requester)
        case .group(let sender, let member): try w.put(Case.group, sender, member)
        case .nobody: try w.put(Case.nobody)
        }
    }

    static func read(_ number: ReplyToCase, from r: inout NodeReader) throws(Fault) -> Self {
        switch number {
        case .session: .session(try r.get())
        case .group: .group(try r.get(), try r.get())
        case .nobody: .nobody
        }
    }
}

/// The numbers of credentials.
enum EntitlementCase: UInt8, CaseNumber {
    case account = 1
    case webPush, webPushAccount

    static let kind: StaticString = "entitlement"
}

extension Entitlement: NodeCases {
    func write(to w: inout NodeWriter) throws(Fault) {
        switch self {
        case .account(let sender): try w.put(Case.account, sender)
        case .webPush(let key): try w.put(Case.webPush, key)
        case .webPushAccount(let sender): try w.put(Case.webPushAccount, sender)
        }
    }

    static func read(_ number: EntitlementCase, from r: inout NodeReader) throws(Fault) -> Self {
        switch number {
        case .account: .account(try r.get())
        case .webPush: .webPush(key: try r.get("key"))
        case .webPushAccount: .webPushAccount(try r.get())
        }
    }
}

extension TopicTarget: NodeFields {
    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        guard try c(v?.isCondition, "condition") else { return Self(try c(v?.topics[0])) }
        let truth = try c(v?.truth, "condition")
        let topics = try c.list(v?.topics, "topics of a condition", upTo: Limits.Topic.conditionTests)
        guard let target = Self(topics: topics, truth: truth) else { throw .value(of: "condition") }
        return target
    }
}

extension GroupSendMember: NodeFields {
    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        Self(send: try c(v?.send, "member"), index: try c(v?.index))
    }
}

extension TopicSubmission: NodeFields {
    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        Self(
            requester: try c(v?.requester), sender: try c(v?.sender), target: try c(v?.target),
            content: try c(v?.content))
    }
}

extension GroupSubmission: NodeFields {
    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        Self(
            requester: try c(v?.requester), sender: try c(v?.sender), group: try c(v?.group),
            author: try c.optional(v?.author, "author"), content: try c(v?.content))
    }
}

extension GroupAuthor: NodeFields {
    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        Self(own: try c(v?.own, "names"))
    }
}

extension UpstreamSubmission: NodeFields {
    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        let (requester, device, sender) = (try c(v?.requester), try c(v?.device), try c(v?.sender))
        let group = try c.optional(v?.group, "group")
        var upstream = Self(
            requester: requester, device: device, sender: sender,
            isFCMDomain: try c(v?.isFCMDomain, "domain"), category: try c(v?.category, "category"),
            messageID: try c(v?.messageID, "message ID"),
            persistentID: try c(v?.persistentID, "persistent ID"),
            lifetimeSeconds: try c(v?.lifetimeSeconds), body: try c(v?.body, "body"))
        upstream.group = group
        upstream.sentAt = try c.optional(v?.sentAt, "time")
        return upstream
    }

    func write(to w: inout NodeWriter) throws(Fault) {
        try w.put(requester, device, sender, group, isFCMDomain)
        try w.put(category, messageID, persistentID, lifetimeSeconds, body)
        try w.put(sentAt)
    }
}
