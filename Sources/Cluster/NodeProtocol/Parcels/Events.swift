import Basics
import Delivery

/// The numbers of the owners of events. An event of a partition stays on its node.
enum EventCase: UInt8, CaseNumber {
    case device = 1
    case sender, group, topic, installation, topicLog

    static let kind: StaticString = "event"
}

/// An event, which names its owner first. It may contain another one, but none of a whole partition: that is checked where it arrives.
extension Event: NodeCases {
    static func code(
        _ value: Self?, _ field: StaticString, _ coder: inout some Coder
    ) throws(Fault) -> Self {
        coder.depth += 1
        defer { coder.depth -= 1 }
        let limit = Limits.NodeProtocol.eventDepth
        guard coder.depth <= limit else {
            throw .tooLong("events in an event", length: coder.depth, limit: limit)
        }
        let event = try coder.cases(value)
        if coder.depth > 1, case .topicLog = event { throw .value(of: "event in an event") }
        return event
    }

    func write(to w: inout NodeWriter) throws(Fault) {
        switch self {
        case .device(let device, let event): try w.put(Case.device, device, event)
        case .sender(let sender, let event): try w.put(Case.sender, sender, event)
        case .group(let sender, let event): try w.put(Case.group, sender, event)
        case .topic(let sender, let event): try w.put(Case.topic, sender, event)
        case .topicLog(let partition, let event):
            try w.put(Case.topicLog, PartitionNumber(partition), event)
        case .installation(let id, let event): try w.put(Case.installation, id, event)
        case .partition: preconditionFailure("an event of a partition was sent to another node")
        }
    }

    static func read(_ number: EventCase, from r: inout NodeReader) throws(Fault) -> Self {
        switch number {
        case .device: .device(try r.get(), try r.get())
        case .sender: .sender(try r.get(), try r.get())
        case .group: .group(try r.get(), try r.get())
        case .topic: .topic(try r.get(), try r.get())
        case .topicLog: .topicLog(try r.partition(), try r.get())
        case .installation: .installation(try r.get("installation"), try r.get())
        }
    }
}

/// The numbers of the events of a device.
enum DeviceEventCase: UInt8, CaseNumber {
    case submitted = 1
    case login, acknowledged, writable, congested, idleChanged, closed, upstreamReceived, upstreamAnswered
    case upstreamReturned, receiptStored, receiptRefused, checkIn, register, unregister, registerWeb
    case unregisterToken, subscribe, token, installationFound, forget, imported, gatewayAnswered, gatewayDue
    case markedForGateway, unseen, topicsDue, cancel, due

    static let kind: StaticString = "event of a device"
}

extension DeviceEvent: NodeCases {
    func write(to w: inout NodeWriter) throws(Fault) {
        switch self {
        case .submitted(let submission): try w.put(Case.submitted, submission)
        case .login(let login): try w.put(Case.login, login)
        case .acknowledged(let connection, let sequences):
            try w.put(Case.acknowledged, connection, sequences)
        case .writable(let connection): try w.put(Case.writable, connection)
        case .congested(let connection): try w.put(Case.congested, connection)
        case .idleChanged(let connection, let isIdle): try w.put(Case.idleChanged, connection, isIdle)
        case .closed(let connection): try w.put(Case.closed, connection)
        case .upstreamReceived(let upstream): try w.put(Case.upstreamReceived, upstream)
        case .upstreamAnswered(let number, let requester):
            try w.put(Case.upstreamAnswered, number, requester)
        case .upstreamReturned(let gone): try w.put(Case.upstreamReturned, gone)
        case .receiptStored(let sequence): try w.put(Case.receiptStored, sequence)
        case .receiptRefused(let sequence): try w.put(Case.receiptRefused, sequence)
        case .checkIn(let checkIn): try w.put(Case.checkIn, checkIn)
        case .register(let request): try w.put(Case.register, request)
        case .unregister(let request): try w.put(Case.unregister, request)
        case .registerWeb(let request): try w.put(Case.registerWeb, request)
        case .unregisterToken(let claim, let requester): try w.put(Case.unregisterToken, claim, requester)
        case .subscribe(let request): try w.put(Case.subscribe, request)
        case .token(let request): try w.put(Case.token, request)
        case .installationFound(let request, let names): try w.put(Case.installationFound, request, names)
        case .forget(let requester): try w.put(Case.forget, requester)
        case .imported(let rows): try w.put(Case.imported, rows)
        case .gatewayAnswered(let answer): try w.put(Case.gatewayAnswered, answer)
        case .gatewayDue(let number): try w.put(Case.gatewayDue, number)
        case .markedForGateway: try w.put(Case.markedForGateway)
        case .unseen: try w.put(Case.unseen)
        case .topicsDue: try w.put(Case.topicsDue)
        case .cancel(let request): try w.put(Case.cancel, request)
        case .due(let sequence, let dueAt): try w.put(Case.due, sequence, dueAt)
        }
    }

    static func read(_ number: DeviceEventCase, from r: inout NodeReader) throws(Fault) -> Self {
        switch number {
        case .submitted: .submitted(try r.get())
        case .login: .login(try r.get())
        case .acknowledged: .acknowledged(try r.get(), try r.get("sequence numbers"))
        case .writable: .writable(try r.get())
        case .congested: .congested(try r.get())
        case .idleChanged: .idleChanged(try r.get(), isIdle: try r.get("idle"))
        case .closed: .closed(try r.get())
        case .upstreamReceived: .upstreamReceived(try r.get())
        case .upstreamAnswered: .upstreamAnswered(try r.get(), try r.get())
        case .upstreamReturned: .upstreamReturned(try r.get())
        case .receiptStored: .receiptStored(try r.get())
        case .receiptRefused: .receiptRefused(try r.get())
        case .checkIn: .checkIn(try r.get())
        case .register: .register(try r.get())
        case .unregister: .unregister(try r.get())
        case .registerWeb: .registerWeb(try r.get())
        case .unregisterToken: .unregisterToken(try r.get(), try r.get())
        case .subscribe: .subscribe(try r.get())
        case .token: .token(try r.get())
        case .installationFound: .installationFound(try r.get(), try r.get("names"))
        case .forget: .forget(try r.get())
        case .imported: .imported(try r.get())
        case .gatewayAnswered: .gatewayAnswered(try r.get())
        case .gatewayDue: .gatewayDue(try r.get())
        case .markedForGateway: .markedForGateway
        case .unseen: .unseen
        case .topicsDue: .topicsDue
        case .cancel: .cancel(try r.get())
        case .due: .due(try r.get(), try r.get())
        }
    }
}

/// The numbers of the events of a sender.
enum SenderEventCase: UInt8, CaseNumber {
    case login = 1
    case keysRequested, bound, draining, congested, writable, closed, streamManaged, streamDetached
    case streamRequested, upstreamFinished, upstreamResolved, groupUpstream, upstreamReturnFinished
    case receiptDue

    static let kind: StaticString = "event of a sender"
}

extension SenderEvent: NodeCases {
    func write(to w: inout NodeWriter) throws(Fault) {
        switch self {
        case .login(let connection, let key): try w.put(Case.login, connection, key)
        case .keysRequested(let connection): try w.put(Case.keysRequested, connection)
        case .bound(let connection): try w.put(Case.bound, connection)
        case .draining(let connection): try w.put(Case.draining, connection)
        case .congested(let connection): try w.put(Case.congested, connection)
        case .writable(let connection): try w.put(Case.writable, connection)
        case .closed(let connection): try w.put(Case.closed, connection)
        case .streamManaged(let connection, let id): try w.put(Case.streamManaged, connection, id)
        case .streamDetached(let connection, let stream): try w.put(Case.streamDetached, connection, stream)
        case .streamRequested(let connection, let id): try w.put(Case.streamRequested, connection, id)
        case .upstreamFinished(let connection, let sequence, let outcome):
            try w.put(Case.upstreamFinished, connection, sequence, outcome)
        case .upstreamResolved(let upstream, let name): try w.put(Case.upstreamResolved, upstream, name)
        case .groupUpstream(let submission): try w.put(Case.groupUpstream, submission)
        case .upstreamReturnFinished(let sequence, let hasFailed):
            try w.put(Case.upstreamReturnFinished, sequence, hasFailed)
        case .receiptDue(let due): try w.put(Case.receiptDue, due)
        }
    }

    static func read(_ number: SenderEventCase, from r: inout NodeReader) throws(Fault) -> Self {
        switch number {
        case .login: .login(try r.get(), key: try r.get())
        case .keysRequested: .keysRequested(try r.get())
        case .bound: .bound(try r.get())
        case .draining: .draining(try r.get())
        case .congested: .congested(try r.get())
        case .writable: .writable(try r.get())
        case .closed: .closed(try r.get())
        case .streamManaged: .streamManaged(try r.get(), id: try r.get("stream"))
        case .streamDetached: .streamDetached(try r.get(), try r.get())
        case .streamRequested: .streamRequested(try r.get(), id: try r.get("stream"))
        case .upstreamFinished: .upstreamFinished(try r.get(), try r.get(), try r.get())
        case .upstreamResolved: .upstreamResolved(try r.get(), from: try r.get())
        case .groupUpstream: .groupUpstream(try r.get())
        case .upstreamReturnFinished: .upstreamReturnFinished(try r.get(), hasFailed: try r.get("failed"))
        case .receiptDue: .receiptDue(try r.get())
        }
    }
}

/// The numbers of the events of groups.
enum GroupEventCase: UInt8, CaseNumber {
    case requested = 1
    case submitted, memberAnswered

    static let kind: StaticString = "event of groups"
}

extension GroupEvent: NodeCases {
    func write(to w: inout NodeWriter) throws(Fault) {
        switch self {
        case .requested(let request): try w.put(Case.requested, request)
        case .submitted(let submission): try w.put(Case.submitted, submission)
        case .memberAnswered(let member, let answer): try w.put(Case.memberAnswered, member, answer)
        }
    }

    static func read(_ number: GroupEventCase, from r: inout NodeReader) throws(Fault) -> Self {
        switch number {
        case .requested: .requested(try r.get())
        case .submitted: .submitted(try r.get())
        case .memberAnswered: .memberAnswered(try r.get(), try r.get())
        }
    }
}

/// The numbers of the events of messages to topics. 2 is not used any more.
enum TopicEventCase: UInt8, CaseNumber {
    case submitted = 1

    static let kind: StaticString = "event of topics"
}

extension TopicEvent: NodeCases {
    func write(to w: inout NodeWriter) throws(Fault) {
        switch self {
        case .submitted(let submission): try w.put(Case.submitted, submission)
        }
    }

    static func read(_ number: TopicEventCase, from r: inout NodeReader) throws(Fault) -> Self {
        switch number {
        case .submitted: .submitted(try r.get())
        }
    }
}

/// The numbers of the events of a partition's topic messages.
enum TopicLogEventCase: UInt8, CaseNumber {
    case published = 1
    case nowOrNever, copied

    static let kind: StaticString = "event of the topic messages of a partition"
}

extension TopicLogEvent: NodeCases {
    func write(to w: inout NodeWriter) throws(Fault) {
        switch self {
        case .published(let messages, let source):
            try w.put(Case.published, PartitionNumber(source), messages)
        case .nowOrNever(let message): try w.put(Case.nowOrNever, message)
        case .copied(let partition, let through):
            try w.put(Case.copied, PartitionNumber(partition), through)
        }
    }

    static func read(_ number: TopicLogEventCase, from r: inout NodeReader) throws(Fault) -> Self {
        switch number {
        case .published:
            let source = try r.partition()
            return .published(try r.get("messages"), from: source)
        case .nowOrNever: return .nowOrNever(try r.get())
        case .copied: return .copied(by: try r.partition(), through: try r.get("sequence number"))
        }
    }
}

/// The numbers of the events of an installation.
enum InstallationEventCase: UInt8, CaseNumber {
    case requested = 1
    case unused

    static let kind: StaticString = "event of an installation"
}

extension InstallationEvent: NodeCases {
    func write(to w: inout NodeWriter) throws(Fault) {
        switch self {
        case .requested(let request): try w.put(Case.requested, request)
        case .unused(let before, let unlinkedBefore): try w.put(Case.unused, before, unlinkedBefore)
        }
    }

    static func read(_ number: InstallationEventCase, from r: inout NodeReader) throws(Fault) -> Self {
        switch number {
        case .requested: .requested(try r.get())
        case .unused: .unused(before: try r.get(), unlinkedBefore: try r.get())
        }
    }
}
