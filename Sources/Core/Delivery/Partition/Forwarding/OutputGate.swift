public import Basics

/// What a partition of a cluster lets out: answers, deliveries, refusals, and whatever else was decided from its state. Of what comes, it
/// lets in only the answers that the partition waits for.
///
/// Only the node that owns the partition by a lease may decide. While the lease is not confirmed, decisions wait here, in order; they are
/// right if the lease comes again, since then no other node has owned the partition meanwhile. What waits for an answer gets one within
/// `Limits.ClusterHost.heldMilliseconds`: that the owner cannot be reached.
///
/// Pure: the host passes the effects of each turn through it and does what is left in them.
public struct OutputGate: Sendable {
    /// What the partition is to this node.
    public enum Standing: Hashable, Sendable {
        /// The node owns the partition, by a lease that ends then.
        case owned(until: Instant)
        /// Another node is to own the partition; until the lease ends, this one may decide. It lets no session in: the next owner does not
        /// know those that this one has let in.
        case leaving(until: Instant)
        /// The node owns it no longer: another one may decide.
        case lost
    }

    private var commands: [(ConnectionID, SessionCommand)] = []
    private var forwards: [Event] = []
    private var deliveries: [GatewayDelivery] = []
    private var webhooks: [WebhookOrder] = []
    /// Since when decisions wait. `nil` if none does.
    private var since: Instant?
    private var answers: OpenAnswers

    /// Creates the gate of a partition, one of `count`, at which nothing waits.
    public init(partition: Int, of count: Int) { answers = OpenAnswers(partition: partition, of: count) }

    /// Whether decisions wait.
    public var isHolding: Bool { since != nil }

    /// Whether the partition gets an event: any but an answer that it does not wait for.
    public mutating func lets(in event: borrowing Event) -> Bool { answers.takes(event) }

    /// Leaves in the effects of a turn what may go out at this time, with what has waited before it. Returns until when that may leave the
    /// node; in the distant future if it needs no lease.
    @discardableResult
    public mutating func pass(_ effects: inout Effects, _ standing: Standing, now: Instant) -> Instant {
        // Before any is held: what waits for one that never leaves is answered here.
        for event in effects.forwards { answers.note(event) }
        switch standing {
        case .owned(let end) where now < end:
            if since != nil { release(&effects) }
            return effects.hasOutput ? end : .distantFuture
        case .leaving(let end) where now < end:
            if since != nil { release(&effects) }
            effects.commands = effects.commands.map { ($0, $1.answersLogin ? .endOfOwner : $1) }
            return effects.hasOutput ? end : .distantFuture
        case .owned: wait(&effects, now)
        case .leaving, .lost: lose(&effects)
        }
        return .distantFuture
    }

    private mutating func wait(_ effects: inout Effects, _ now: Instant) {
        guard effects.hasOutput || since != nil else { return }
        hold(&effects)
        let since = self.since ?? now
        self.since = since
        guard now.milliseconds(since: since) >= Limits.ClusterHost.heldMilliseconds else { return }
        answerOverdue(&effects)
    }

    private mutating func hold(_ effects: inout Effects) {
        Self.move(&effects.commands, to: &commands)
        Self.move(&effects.forwards, to: &forwards)
        Self.move(&effects.deliveries, to: &deliveries)
        Self.move(&effects.webhooks, to: &webhooks)
    }

    private mutating func release(_ effects: inout Effects) {
        hold(&effects)
        swap(&effects.commands, &commands)
        swap(&effects.forwards, &forwards)
        swap(&effects.deliveries, &deliveries)
        swap(&effects.webhooks, &webhooks)
        since = nil
    }

    /// Replaces what is an answer, or waits for one, by the answer that the owner cannot be reached. What concerns the state of a session
    /// goes on waiting.
    private mutating func answerOverdue(_ effects: inout Effects) {
        var kept: [(ConnectionID, SessionCommand)] = []
        for (connection, command) in commands {
            if let answer = command.unreached {
                effects.commands.append((connection, answer))
            } else {
                kept.append((connection, command))
            }
        }
        commands = kept
        var waiting: [Event] = []
        for event in forwards where !Self.answer(event, &effects) { waiting.append(event) }
        forwards = waiting
    }

    /// Answers everything, and drops the rest: sessions log in again, and the next owner finds what was not delivered.
    private mutating func lose(_ effects: inout Effects) {
        hold(&effects)
        for (connection, command) in commands {
            if let last = command.unreached ?? command.whenLost {
                effects.commands.append((connection, last))
            }
        }
        for event in forwards { _ = Self.answer(event, &effects) }
        commands.removeAll()
        forwards.removeAll()
        deliveries.removeAll()
        webhooks.removeAll()
        since = nil
    }

    /// Puts in the place of an event the answer that it is to be, or that its senders wait for. Returns `false` if nothing waits.
    private static func answer(_ event: Event, _ effects: inout Effects) -> Bool {
        if event.answeredKey != nil {
            effects.forwards.append(event.unreachedAnswer)
            return true
        }
        let requests = event.openRequests
        for request in requests {
            request.answer.forEach(
                command: { effects.commands.append(($0, $1)) }, event: { effects.forwards.append($0) })
        }
        return !requests.isEmpty
    }

    private static func move<Element>(_ from: inout [Element], to: inout [Element]) {
        guard !from.isEmpty else { return }
        to.append(contentsOf: from)
        from.removeAll(keepingCapacity: true)
    }
}

extension SessionCommand {
    /// The same answer if its owner cannot be reached. `nil` if the command is no answer to a request.
    var unreached: SessionCommand? {
        switch self {
        case .submission(let requestID, _): .submission(requestID: requestID, .refused(.unavailable))
        case .reply(let requestID, let reply):
            reply.unreached.map { .reply(requestID: requestID, $0) }
        case .device(.upstreamStored(let requestID)), .device(.upstreamRefused(let requestID, _)):
            .device(.upstreamRefused(requestID: requestID, .unavailable))
        case .device, .appServer, .connection: nil
        }
    }

    /// What a session gets in place of the command of a partition that is lost, beside the end that the host gives all of them.
    fileprivate var whenLost: SessionCommand? {
        if answersLogin { return .endOfOwner }
        return if case .connection = self { self } else { nil }
    }

    /// Whether the command is a step of a login. A session that is not let in is none of its partition's: it would wait for the next step.
    fileprivate var answersLogin: Bool {
        switch self {
        case .device(.loginAccepted), .device(.loginRefused), .appServer(.loginKeys),
            .appServer(.loginAccepted), .appServer(.loginRefused), .appServer(.streamResumed),
            .appServer(.streamNotResumed):
            true
        case .device, .appServer, .submission, .reply, .connection: false
        }
    }

    /// The end of a session whose partition leaves the node.
    fileprivate static var endOfOwner: SessionCommand { .connection(.close(.ownerChanged)) }
}

extension [(ConnectionID, SessionCommand)] {
    /// From the end of the leases by which the commands were decided, puts the end of each session in the place of its commands: their
    /// partition may belong to another node, where it logs in again.
    public mutating func close(from end: Instant, now: Instant) {
        guard end <= now else { return }
        var closed: Set<ConnectionID> = []
        self = compactMap { connection, _ in
            closed.insert(connection).inserted ? (connection, .endOfOwner) : nil
        }
    }
}

extension Effects {
    /// Whether there is something that leaves the partition by decision.
    fileprivate var hasOutput: Bool {
        !commands.isEmpty || !forwards.isEmpty || !deliveries.isEmpty || !webhooks.isEmpty
    }
}

extension RequestReply {
    fileprivate var unreached: RequestReply? {
        switch self {
        case .group, .groupRefused: .groupRefused(.unavailable)
        case .token, .tokenRefused: .tokenRefused(.unavailable)
        case .checkedIn, .checkInRefused, .registered, .unregistered, .registrationRefused, .installation,
            .forgotten, .cancelled, .imported:
            .registrationRefused(.serviceNotAvailable)
        case .traced: nil
        }
    }
}

extension Event {
    /// The same answer to another partition if its owner cannot be reached. What is on disk stays so.
    fileprivate var unreachedAnswer: Event {
        switch self {
        case .sender(let sender, .upstreamReturnFinished(let sequence, _)):
            .upstreamReturnFinished(sender, sequence, hasFailed: true)
        case .group(let sender, .memberAnswered(let member, _)):
            .memberAnswered(sender, member, .refused(.unavailable))
        case .topicLog(let source, .copied(let partition, _)):
            .topicLog(source, .copied(by: partition, through: nil))
        case .installation(_, .requested(let request)):
            if case .vouched(let offer, _) = request.action {
                .installation(request.acting(.vouched(offer, isProved: false)))
            } else {
                self
            }
        case .device, .sender, .group, .topic, .topicLog, .installation, .partition: self
        }
    }
}

extension InstallationRequest {
    fileprivate func acting(_ action: Action) -> InstallationRequest {
        var request = self
        request.action = action
        return request
    }
}
