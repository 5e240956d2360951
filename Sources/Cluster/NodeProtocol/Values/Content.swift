import Basics
import Delivery

// Messages and their submissions.

extension NodeWriter {
    mutating func write(_ requester: Requester) {
        write(requester.connection)
        number(requester.requestID)
        write(requester.growth)
    }

    mutating func write(_ content: MessageContent) {
        bytes(content.messageID)
        optional(content.collapseKey) { $0.bytes($1) }
        bytes(content.body)
        optional(content.apns) { $0.bytes($1) }
        signed(content.lifetimeSeconds)
        write(content.priority)
        flag(content.wantsReceipt)
        flag(content.delaysWhileIdle)
        flag(content.isDryRun)
        optional(content.restrictedPackage) { $0.bytes($1) }
        flag(content.holdsRawData)
        flag(content.isNotification)
        optional(content.apnsLifetimeSeconds) { $0.signed($1) }
    }

    mutating func write(_ submission: Submission) {
        write(submission.replyTo)
        optional(submission.submitter) { $0.write($1) }
        switch submission.entitlement {
        case .account(let sender):
            write(EntitlementCase.account)
            write(sender)
        case .webPush(let key):
            write(EntitlementCase.webPush)
            bytes(key)
        case .webPushAccount(let sender):
            write(EntitlementCase.webPushAccount)
            write(sender)
        }
        write(submission.target)
        write(submission.content)
        optional(submission.topic) { $0.write($1) }
    }

    private mutating func write(_ replyTo: ReplyTo) {
        switch replyTo {
        case .session(let requester):
            write(ReplyToCase.session)
            write(requester)
        case .group(let sender, let member):
            write(ReplyToCase.group)
            write(sender)
            write(member)
        case .topic(let sender, let run):
            write(ReplyToCase.topic)
            write(sender)
            number(run)
        }
    }

    /// The reference of a share follows from its job and target.
    private mutating func write(_ share: TopicShare) {
        write(share.reference.job)
        write(share.target)
        signed(share.pass)
        signed(share.acceptedAt)
        signed(share.expiresAt)
    }

    mutating func write(_ target: TopicTarget) {
        flag(target.isCondition)
        guard target.isCondition else { return write(target.topics[0]) }
        number(target.truth)
        list(target.topics) { $0.write($1) }
    }

    mutating func write(_ member: GroupSendMember) {
        number(member.send)
        signed(member.index)
    }

    mutating func write(_ submission: TopicSubmission) {
        write(submission.requester)
        write(submission.sender)
        write(submission.target)
        write(submission.content)
    }

    mutating func write(_ submission: GroupSubmission) {
        write(submission.requester)
        write(submission.sender)
        write(submission.group)
        optional(submission.author) { $0.write($1.own) }
        write(submission.content)
    }

    mutating func write(_ upstream: UpstreamSubmission) {
        write(upstream.requester)
        write(upstream.device)
        write(upstream.sender)
        optional(upstream.group) { $0.write($1) }
        flag(upstream.isFCMDomain)
        bytes(upstream.category)
        bytes(upstream.messageID)
        bytes(upstream.persistentID)
        signed(upstream.lifetimeSeconds)
        bytes(upstream.body)
        optional(upstream.sentAt) { $0.signed($1) }
    }
}

extension NodeReader {
    @_lifetime(self: copy self)
    mutating func requester() throws(NodeProtocolFault) -> Requester {
        let connection = try connection()
        var requester = Requester(connection: connection, requestID: try small("request ID"))
        requester.growth = try numbered()
        return requester
    }

    /// Reads bytes that may be absent.
    @_lifetime(self: copy self)
    mutating func optionalBytes(_ field: StaticString) throws(NodeProtocolFault) -> [UInt8]? {
        try flag(field) ? try byteArray(field) : nil
    }

    @_lifetime(self: copy self)
    mutating func content() throws(NodeProtocolFault) -> MessageContent {
        let messageID = try byteArray("message ID")
        let collapseKey = try optionalBytes("collapse key")
        let body = try byteArray("body")
        let apns = try optionalBytes("APNs part")
        var content = MessageContent(
            messageID: messageID, collapseKey: collapseKey, lifetimeSeconds: try integer(),
            priority: try numbered(), wantsReceipt: try flag("receipt"), delaysWhileIdle: try flag("delay"),
            isDryRun: try flag("dry run"), restrictedPackage: try optionalBytes("package"),
            holdsRawData: try flag("raw data"), isNotification: try flag("notification"), body: body,
            apns: apns)
        content.apnsLifetimeSeconds = try flag("lifetime") ? try integer() : nil
        return content
    }

    @_lifetime(self: copy self)
    mutating func submission() throws(NodeProtocolFault) -> Submission {
        let replyTo = try replyTo()
        let submitter = try flag("submitter") ? try connection() : nil
        let credential: EntitlementCase = try numbered()
        let entitlement: Entitlement =
            switch credential {
            case .account: .account(try sender())
            case .webPush: .webPush(key: try byteArray("key"))
            case .webPushAccount: .webPushAccount(try sender())
            }
        let target = try name()
        return Submission(
            replyTo: replyTo, submitter: submitter, entitlement: entitlement, target: target,
            content: try content(), topic: try flag("share") ? try share() : nil)
    }

    @_lifetime(self: copy self)
    private mutating func replyTo() throws(NodeProtocolFault) -> ReplyTo {
        let number: ReplyToCase = try numbered()
        switch number {
        case .session: return .session(try requester())
        case .group: return .group(try sender(), try member())
        case .topic: return .topic(try sender(), run: try small("run"))
        }
    }

    @_lifetime(self: copy self)
    private mutating func share() throws(NodeProtocolFault) -> TopicShare {
        let (job, target, pass) = (try job(), try target(), try integer())
        guard pass >= 0 else { throw .value(of: "pass") }
        return TopicShare(
            job: job, target: target, pass: pass, acceptedAt: try signed(), expiresAt: try signed())
    }

    @_lifetime(self: copy self)
    mutating func target() throws(NodeProtocolFault) -> TopicTarget {
        guard try flag("condition") else { return TopicTarget(try topic()) }
        let truth: UInt32 = try small("condition")
        let count = try count("topics of a condition", upTo: Limits.Topic.conditionTests, least: 2)
        var topics: [TopicName] = []
        for _ in 0..<count { topics.append(try topic()) }
        guard let target = TopicTarget(topics: topics, truth: truth) else {
            throw .value(of: "condition")
        }
        return target
    }

    @_lifetime(self: copy self)
    mutating func member() throws(NodeProtocolFault) -> GroupSendMember {
        let send: UInt32 = try small("member")
        return GroupSendMember(send: send, index: try integer())
    }

    @_lifetime(self: copy self)
    mutating func topicSubmission() throws(NodeProtocolFault) -> TopicSubmission {
        let (requester, sender, target) = (try requester(), try sender(), try target())
        return TopicSubmission(requester: requester, sender: sender, target: target, content: try content())
    }

    @_lifetime(self: copy self)
    mutating func groupSubmission() throws(NodeProtocolFault) -> GroupSubmission {
        let (requester, sender, group) = (try requester(), try sender(), try group())
        let author = try flag("author") ? GroupAuthor(own: try names()) : nil
        return GroupSubmission(
            requester: requester, sender: sender, group: group, author: author, content: try content())
    }

    @_lifetime(self: copy self)
    mutating func upstreamSubmission() throws(NodeProtocolFault) -> UpstreamSubmission {
        let (requester, device, sender) = (try requester(), try device(), try sender())
        let group = try flag("group") ? try group() : nil
        var upstream = UpstreamSubmission(
            requester: requester, device: device, sender: sender, isFCMDomain: try flag("domain"),
            category: try byteArray("category"), messageID: try byteArray("message ID"),
            persistentID: try byteArray("persistent ID"), lifetimeSeconds: try integer(),
            body: try byteArray("body"))
        upstream.group = group
        upstream.sentAt = try flag("time") ? try signed() : nil
        return upstream
    }
}
