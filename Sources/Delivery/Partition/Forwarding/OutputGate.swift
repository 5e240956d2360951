public import Basics

/// What a partition of a cluster lets out: answers, deliveries, refusals, and whatever else was decided from its state.
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
        /// The node owns it no longer: another one may decide.
        case lost
    }

    private var commands: [(ConnectionID, SessionCommand)] = []
    private var forwards: [Event] = []
    private var deliveries: [GatewayDelivery] = []
    private var webhooks: [WebhookOrder] = []
    /// Since when decisions wait. `nil` if none does.
    private var since: Instant?

    /// Creates a gate at which nothing waits.
    public init() {}

    /// Whether decisions wait.
    public var isHolding: Bool { since != nil }

    /// Leaves in the effects of a turn what may go out at this time, with what has waited before it.
    public mutating func pass(_ effects: inout Effects, _ standing: Standing, now: Instant) {
        switch standing {
        case .owned(let end) where now < end:
            if since != nil { release(&effects) }
        case .owned:
            let hasOutput =
                !effects.commands.isEmpty || !effects.forwards.isEmpty || !effects.deliveries.isEmpty
                || !effects.webhooks.isEmpty
            guard hasOutput || since != nil else { return }
            hold(&effects)
            let since = self.since ?? now
            self.since = since
            guard now.milliseconds(since: since) >= Limits.ClusterHost.heldMilliseconds else { return }
            answerOverdue(&effects)
        case .lost: lose(&effects)
        }
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
        switch self {
        // One that is not let in is none of its sessions: it would wait.
        case .device(.loginAccepted), .device(.loginRefused), .appServer(.loginKeys),
            .appServer(.loginAccepted), .appServer(.loginRefused), .appServer(.streamResumed),
            .appServer(.streamNotResumed):
            .connection(.close(.ownerChanged))
        case .connection: self
        case .device, .appServer, .submission, .reply: nil
        }
    }
}

extension RequestReply {
    fileprivate var unreached: RequestReply? {
        switch self {
        case .group, .groupRefused: .groupRefused(.unavailable)
        case .token, .tokenRefused: .tokenRefused(.unavailable)
        case .checkedIn, .checkInRefused, .registered, .unregistered, .registrationRefused, .installation,
            .forgotten, .imported:
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
        case .topic(let sender, .answered(let run, _)): .topicAnswered(sender, run: run, .unavailable)
        case .installation(_, .requested(let request)):
            if case .vouched(let offer, _) = request.action {
                .installation(request.acting(.vouched(offer, isProved: false)))
            } else {
                self
            }
        case .device, .sender, .group, .topic, .installation, .partition: self
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
