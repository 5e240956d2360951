import Basics

/// Topic messages of the senders of a partition, until all partitions have them in their logs (http 5).
///
/// A message is on disk here before it is acknowledged, and each partition is passed on all messages in the order of their numbers, those
/// of an earlier process first. A partition records the newest that it has (`TopicMark`), and takes no message up to that again. So what is
/// passed on again, because its answer was lost or late or the process was killed, is there once.
struct TopicHub: ~Copyable {
    private var copies: TopicCopies
    /// The search for messages that a stop has left.
    private var resumption = TopicResumption()
    /// Removals of failed batches, to be written at the next tick.
    private var failed: [Mutation] = []

    init(partitions: Int) { copies = TopicCopies(partitions: partitions) }

    /// Number of messages that not all partitions have.
    var open: Int { copies.stored }

    /// What is wrong with the state; `nil` if nothing is wrong.
    var violation: String? { copies.violation }

    mutating func handle(_ event: consuming TopicEvent, of sender: SenderID, _ turn: inout Turn) {
        guard turn.demand(event.isFor(sender), "an event of another sender's topics", owner: .sender(sender))
        else { return refuse(event, &turn) }
        switch consume event {
        case .submitted(let submission): submit(submission, &turn)
        }
    }

    /// Refuses an event that cannot be handled.
    func refuse(_ event: TopicEvent, _ turn: inout Turn) {
        switch event {
        case .submitted(let submission):
            turn.countRefused(.unavailable, of: submission.sender)
            turn.recordSummary(
                .topic, submission.content.messageID, of: submission.sender, .refused,
                detail: Refusal.unavailable.word)
            turn.reply(.refused(.unavailable), to: submission.requester)
        }
    }

    private mutating func submit(_ submission: TopicSubmission, _ turn: inout Turn) {
        let (requester, sender, content) = (submission.requester, submission.sender, submission.content)
        do throws(Refusal) {
            try check(sender, turn)
        } catch {
            turn.countRefused(error, of: sender)
            turn.recordSummary(.topic, content.messageID, of: sender, .refused, detail: error.detail)
            return turn.reply(.refused(error), to: requester)
        }
        guard !content.isDryRun else {
            return turn.reply(.accepted(id: nil, canonical: nil), to: requester)
        }
        turn.messageBuckets.consume(sender, now: turn.now.monotonic)
        let lifetime = Int64(min(max(content.lifetimeSeconds, 0), Limits.Message.lifetimeSeconds))
        let message = TopicMessage(
            name: TopicMessageName(sender: sender, sequence: turn.nextSequence()), salt: turn.salt,
            target: submission.target, messageID: content.messageID, collapseKey: content.collapseKey,
            priority: content.priority, wantsReceipt: content.wantsReceipt,
            delaysWhileIdle: content.delaysWhileIdle, restrictedPackage: content.restrictedPackage,
            acceptedAt: turn.now.wall, expiresAt: turn.now.expiry(after: lifetime * 1_000),
            body: content.body, apns: content.apns(routingDataBy: turn.settings.appleData))
        guard message.isStored else {
            accept(message, requester, &turn)
            for partition in 0..<turn.partitions { turn.forward(.topicLog(partition, .nowOrNever(message))) }
            return
        }
        copies.announce(sender)
        turn.write(.putTopicMessage(message), then: .topicMessage(message, requester))
    }

    /// Throws the refusal if a sender cannot submit another topic message now.
    private func check(_ sender: SenderID, _ turn: borrowing Turn) throws(Refusal) {
        guard turn.messageBuckets.allows(sender, now: turn.now.monotonic) else {
            throw .senderRateExceeded
        }
        guard copies.count(of: sender) < Limits.Topic.openPerSender else { throw .topicRateExceeded }
        guard copies.count < turn.shares.openTopics, !turn.isOverloaded else { throw .unavailable }
    }

    private func accept(_ message: TopicMessage, _ requester: Requester, _ turn: inout Turn) {
        let id = PersistentID(sequence: message.name.sequence, salt: message.salt)
        turn.reply(.accepted(id: id, canonical: nil), to: requester)
        turn.effects.topicJobs += 1
        turn.recordSummary(
            .topic, message.messageID, of: message.name.sender,
            message.isStored ? .stored : .accepted, name: id, detail: message.target.words)
    }

    /// Handles the outcome of a message's batch.
    mutating func messageCommitted(
        _ message: TopicMessage, _ requester: Requester, hasFailed: Bool, _ turn: inout Turn
    ) {
        copies.announced(message.name.sender)
        guard hasFailed else {
            accept(message, requester, &turn)
            add(message, &turn)
            return passOn(&turn)
        }
        turn.countRefused(.unavailable, of: message.name.sender)
        turn.recordSummary(
            .topic, message.messageID, of: message.name.sender, .refused,
            name: PersistentID(sequence: message.name.sequence, salt: message.salt),
            detail: Refusal.unavailable.word)
        turn.reply(.refused(.unavailable), to: requester)
        // It may be on disk nevertheless, although its submitter has been refused.
        failed.append(.removeTopicMessage(message.name))
    }

    private mutating func add(_ message: TopicMessage, _ turn: inout Turn) {
        let isNewest = turn.demand(
            copies.add(message), "a topic message is not the newest", owner: .sender(message.name.sender))
        if isNewest { turn.effects.topicJobsOpen += 1 }
    }

    // MARK: Copies

    /// Passes on what the partitions do not have yet, to each one answer at a time.
    private mutating func passOn(_ turn: inout Turn) {
        // Older messages of an earlier process come first: no partition takes them after a newer one.
        guard resumption.isDone else { return search(&turn) }
        for partition in 0..<turn.partitions {
            let next = copies.next(for: partition)
            if !next.isEmpty { turn.forward(.topicLog(partition, .published(next, from: turn.partition))) }
        }
    }

    /// A partition has all messages up to a number on disk; `nil` if it could not store what it was passed on. Returns the messages
    /// that all partitions have now.
    mutating func copied(
        by partition: Int, through last: SequenceNumber?, _ turn: inout Turn
    ) -> [TopicMessageName] {
        let isExpected = copies.answered(
            by: partition, through: last,
            retryAt: turn.now.monotonic.advanced(milliseconds: Int64(Limits.Topic.retryMilliseconds)))
        guard isExpected else { return [] }
        let finished = copies.takeFinished()
        for name in finished { turn.write(.removeTopicMessage(name)) }
        turn.effects.topicJobsOpen -= finished.count
        passOn(&turn)
        return finished
    }

    /// Has the removals of a failed batch written again.
    mutating func changesFailed(_ record: borrowing BatchRecord) {
        for mutation in record.mutations {
            if case .removeTopicMessage = mutation { failed.append(mutation) }
        }
    }

    // MARK: Time

    mutating func tick(_ turn: inout Turn) {
        turn.effects.mutations += failed
        failed = []
        copies.retry(turn.now.monotonic)
        passOn(&turn)
    }

    /// Searches for messages of an earlier process.
    private mutating func search(_ turn: inout Turn) {
        guard !resumption.isAsking else { return }
        resumption.isAsking = true
        turn.load(
            .topicMessages(
                after: resumption.after, limit: Limits.Topic.messagesRead, partition: turn.partition))
    }

    /// Takes over messages of an earlier process.
    mutating func messagesLoaded(_ messages: [TopicMessage], isLast: Bool, _ turn: inout Turn) {
        turn.demand(resumption.isAsking, "an answer to a search for topic messages without a query")
        turn.demand(
            messages.count <= Limits.Topic.messagesRead,
            "a search returned more topic messages than its limit")
        turn.demand(
            isLast || !messages.isEmpty, "a search for topic messages is empty but not at its end")
        let advances =
            messages.first.map { first in resumption.after.map { $0 < first.name } ?? true } ?? true
        turn.demand(advances, "a search for topic messages did not advance")
        resumption.isAsking = false
        resumption.after = messages.last?.name ?? resumption.after
        for message in messages where message.salt != turn.salt {
            turn.sequences.observe(message.name.sequence)
            resumption.found.append(message)
        }
        guard isLast else { return search(&turn) }
        resumption.isDone = true
        let found = resumption.found.sorted { $0.name.sequence < $1.name.sequence }
        resumption.found = []
        turn.effects.topicJobsOpen += copies.resume(found)
        passOn(&turn)
    }

    /// The search for messages of an earlier process has failed; the next tick repeats it.
    mutating func messagesLoadFailed(_ turn: inout Turn) {
        turn.demand(resumption.isAsking, "a search for topic messages failed that was not requested")
        resumption.isAsking = false
    }
}

/// The search for messages of this partition that a stop has left.
private struct TopicResumption {
    /// The last message found.
    var after: TopicMessageName?
    /// Whether a query is unanswered.
    var isAsking = false
    /// Whether all messages have been found.
    var isDone = false
    /// Those found so far, by name.
    var found: [TopicMessage] = []
}

extension TopicEvent {
    /// Returns whether the content of the event belongs to a sender.
    func isFor(_ sender: SenderID) -> Bool {
        switch self {
        case .submitted(let submission): submission.sender == sender
        }
    }
}

extension Partition {
    /// What has been counted as open is not any more, because the partition leaves this node.
    mutating func topicsLeft() {
        turn.effects.topicJobsOpen -= topics.open + (devices.feed.sending == .done ? 0 : 1)
    }
}
