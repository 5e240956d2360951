import Basics

/// The log of topic messages of a partition: additions, reading, and the end of messages (http 5).
extension DeviceHub {
    mutating func handle(_ event: consuming TopicLogEvent, _ turn: inout Turn) {
        switch consume event {
        case .published(let messages, let source):
            feed.receive(TopicFeed.Publication(source: source, messages: messages))
            readLog(&turn)
            addToLog(&turn)
        case .nowOrNever(let message):
            deliverNow(message, &turn)
            feed.receive(unstored: message)
            readLog(&turn)
            addToLog(&turn)
        case .copied: turn.demand(false, "an answer about topic messages reaches the devices")
        }
    }

    /// Writes what was passed on to the log. It is answered, and sent to the connected devices, once it is on disk.
    private mutating func addToLog(_ turn: inout Turn) {
        for message in feed.takeUnstored() { lookForAppleApps(message, &turn) }
        let publications = feed.beginAdding()
        guard !publications.isEmpty else { return }
        var addition = TopicFeed.Addition()
        /// What was passed on twice is not added again.
        var newest: [Int: SequenceNumber] = [:]
        for publication in publications {
            let source = publication.source
            for message in publication.messages {
                guard message.name.sequence > newest[source] ?? feed.mark(of: source) else { continue }
                newest[source] = message.name.sequence
                guard message.expiresAt > turn.now.expiryCutoff, !message.target.passes.isEmpty else {
                    continue
                }
                discardSurplus(for: message, &addition, &turn)
                addition.entries.append(TopicEntry(sequence: turn.nextSequence(), message: message))
            }
        }
        addition.marks = newest.sorted { $0.key < $1.key }.map {
            TopicMark(source: $0.key, through: $0.value)
        }
        guard !addition.marks.isEmpty else {
            feed.endAdding(addition)
            return answer(publications, hasFailed: false, &turn)
        }
        for entry in addition.entries { turn.write(.putTopicEntry(entry, partition: turn.partition)) }
        for mark in addition.marks { turn.write(.putTopicMark(mark, partition: turn.partition)) }
        turn.wait(.topicEntries(addition, publications))
    }

    /// Adds what stands for the messages to a topic that are discarded, if one more is too many.
    private mutating func discardSurplus(
        for message: TopicMessage, _ addition: inout TopicFeed.Addition, _ turn: inout Turn
    ) {
        let surplus = feed.log.surplus(
            with: message, perTopic: turn.settings.liveMessagesPerTopic, liveTopics: turn.shares.liveTopics)
        guard let surplus else { return }
        var marker = surplus.target
        (marker.messageID, marker.body, marker.apns) = ([], [], nil)
        (marker.collapseKey, marker.restrictedPackage) = (nil, nil)
        let isThere = addition.entries.contains {
            $0.kind != .message && $0.message.target == marker.target
                && $0.message.name.sender == marker.name.sender
        }
        guard !isThere else { return }
        marker.expiresAt = turn.now.expiry(after: Int64(Limits.Message.lifetimeSeconds) * 1_000)
        addition.entries.append(
            TopicEntry(
                sequence: turn.nextSequence(),
                kind: .discarded(count: surplus.count, through: surplus.through), message: marker)
        )
    }

    /// Handles the outcome of a batch that adds to the log.
    mutating func entriesCommitted(
        _ addition: TopicFeed.Addition, _ publications: [TopicFeed.Publication], hasFailed: Bool,
        _ turn: inout Turn
    ) {
        if hasFailed { feed.addingFailed() } else { feed.endAdding(addition) }
        answer(publications, hasFailed: hasFailed, &turn)
        if hasFailed { return readLog(&turn) }
        for entry in addition.entries where entry.kind == .message {
            let source = PartitionKey.sender(entry.message.name.sender).partition(of: turn.partitions)
            bodies.add(entry.message, isCopied: source == turn.partition)
        }
        append(addition.entries, &turn)
        addToLog(&turn)
    }

    private func answer(_ publications: [TopicFeed.Publication], hasFailed: Bool, _ turn: inout Turn) {
        for publication in publications {
            let through = hasFailed ? nil : publication.messages.last?.name.sequence
            turn.forward(
                .topicLog(publication.source, .copied(by: turn.partition, through: through)))
        }
    }

    /// Appends messages that are on disk, and has those who are connected sent them.
    private mutating func append(_ entries: [TopicEntry], _ turn: inout Turn) {
        for entry in entries {
            let end: TraceRecord.Step = entry.kind == .message ? .replaced : .discarded
            for place in feed.log.ended(by: entry) { removeFromLog(place, as: end, &turn) }
            feed.log.append(entry, bodyBytes: turn.shares.topicBodyBytes)
            if entry.kind == .message, !entry.progress.isOffered {
                feed.walk.add(entry.message, at: entry.sequence)
            }
            for device in audience(of: entry.message) { makeDue(device, &turn) }
        }
        walk(&turn)
    }

    private mutating func removeFromLog(
        _ place: SequenceNumber, as end: TraceRecord.Step, _ turn: inout Turn
    ) {
        guard let entry = feed.log[place], feed.log.remove(place) else { return }
        if entry.kind == .message {
            turn.recordReach(entry.message, entry.progress.reached, end, .committed)
        }
        turn.write(.removeTopicEntry(place, partition: turn.partition))
        removeBody(bodies.leave(.topic(entry.message.name)), &turn)
    }

    /// All partitions have messages of this partition's senders.
    mutating func copied(_ names: [TopicMessageName], _ turn: inout Turn) {
        for name in names { removeBody(bodies.release(.topic(name)), &turn) }
    }

    // MARK: Reading

    /// Reads the log, or what is new in it, if that is due.
    mutating func readLog(_ turn: inout Turn) {
        guard let after = feed.beginReading(turn.now.monotonic) else { return }
        turn.load(
            .topicEntries(after: after, limit: Limits.Topic.entriesRead, partition: turn.partition))
    }

    mutating func logLoaded(_ entries: [TopicEntry], _ marks: [TopicMark], isLast: Bool, _ turn: inout Turn) {
        turn.demand(
            entries.count <= Limits.Topic.entriesRead, "a page of topic messages exceeds its limit")
        turn.demand(isLast || !entries.isEmpty, "a page of topic messages is empty but not the last one")
        let added = turn.demand(
            feed.read(entries, marks, isLast: isLast), "a page of topic messages that was not asked for")
        for entry in added ?? [] { turn.sequences.observe(entry.sequence) }
        append(added ?? [], &turn)
        guard isLast else { return readLog(&turn) }
        for state in feed.takeHeld() { loaded(state, &turn) }
        addToLog(&turn)
    }

    mutating func logLoadFailed(isDamage: Bool, _ turn: inout Turn) {
        for state in feed.readingFailed(retryAt: retryTime(turn)) {
            loadFailed(state.device, isDamage: isDamage, &turn)
        }
    }

    private func retryTime(_ turn: borrowing Turn) -> Instant {
        turn.now.monotonic.advanced(milliseconds: Int64(Limits.Topic.retryMilliseconds))
    }

    /// Has the removals of a failed batch written again.
    mutating func topicChangesFailed(_ record: borrowing BatchRecord) {
        for mutation in record.mutations {
            switch mutation {
            case .removeTopicEntry, .removeSharedBody: feed.failed.append(mutation)
            default: break
            }
        }
    }

    mutating func tickTopics(_ turn: inout Turn) {
        turn.effects.mutations += feed.failed
        feed.failed = []
        readLog(&turn)
        if turn.clock.knowsTime {
            for place in feed.log.over(by: turn.now.expiryCutoff) {
                removeFromLog(place, as: .expired, &turn)
            }
        }
        for (place, progress) in feed.log.takeNoted() {
            turn.write(.putTopicProgress(place, progress, partition: turn.partition))
        }
        addToLog(&turn)
        walk(&turn)
    }

    // MARK: iOS apps

    /// Continues the search for iOS apps.
    mutating func walk(_ turn: inout Turn) {
        perform(feed.walk.next(now: turn.now.monotonic), &turn)
    }

    private mutating func perform(_ step: TopicWalk.Step, _ turn: inout Turn) {
        switch step {
        case .none: break
        case .ask(let key, let after):
            turn.load(
                .topicDevices(
                    key.sender, of: key.topic, after: after, limit: turn.settings.topicPage,
                    partition: turn.partition))
        case .offered(let places):
            for place in places {
                if let entry = feed.log[place], !entry.message.isStored {
                    turn.recordReach(entry.message, entry.progress.reached, .sent, .now)
                    feed.log.remove(place)
                }
                feed.log.offered(place)
            }
            walk(&turn)
        }
    }

    /// Has iOS apps looked for that a now-or-never message is for: it is in the log meanwhile, which no other device notices.
    private mutating func lookForAppleApps(_ message: TopicMessage, _ turn: inout Turn) {
        guard !message.target.passes.isEmpty, feed.log.count < turn.shares.liveTopics else { return }
        let entry = TopicEntry(sequence: turn.nextSequence(), message: message)
        feed.log.append(entry, bodyBytes: turn.shares.topicBodyBytes)
        feed.walk.add(message, at: entry.sequence)
        walk(&turn)
    }

    /// Has all iOS apps looked for again: one may have lost what it was sent, since a batch failed and it could not be read afterwards.
    mutating func offerTopicsAgain(_ turn: inout Turn) {
        for entry in feed.log.messages { feed.walk.add(entry.message, at: entry.sequence) }
        walk(&turn)
    }

    mutating func topicDevicesLoaded(_ devices: [DeviceID], next: DeviceID?, _ turn: inout Turn) {
        guard
            turn.demand(
                feed.walk.found(devices.count, next: next), "a page of iOS apps that was not asked for")
        else { return }
        for device in devices { handle(.topicsDue, of: device, &turn) }
        perform(feed.walk.endPage(retryAt: retryTime(turn)), &turn)
    }

    mutating func topicDevicesFailed(_ turn: inout Turn) { feed.walk.failed(until: retryTime(turn)) }

    /// A device of the search has been sent what is new to it, or could not be read.
    mutating func topicDeviceVisited(hasFailed: Bool, _ turn: inout Turn) {
        feed.walk.visited(hasFailed: hasFailed)
        perform(feed.walk.endPage(retryAt: retryTime(turn)), &turn)
    }
}
