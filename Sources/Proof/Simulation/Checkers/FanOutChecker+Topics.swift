import Basics
import Delivery
import Store

/// A topic message is for the app instances that its condition holds for when their partition has it, and for no others; those of a sender
/// arrive in order. The position of a device never passes a message that the device has not been given.
extension FanOutChecker {
    func way(of topic: TopicMessageName, to name: RegistrationName, _ world: World) -> Way {
        Way(name: name, source: source(of: topic, world))
    }

    private func source(of topic: TopicMessageName, _ world: World) -> Int {
        PartitionKey.sender(topic.sender).partition(of: world.settings.partitions)
    }

    private func copy(_ message: TopicMessageName, for device: DeviceID, _ world: World)
        -> TopicLogChecker.Copy
    {
        TopicLogChecker.Copy(
            message: message, partition: PartitionKey.device(device).partition(of: world.settings.partitions))
    }

    /// Returns whether a message may be for an app instance, and whether it must be, if its partition got it before `end`.
    func outcome(
        of message: FanOut, for name: RegistrationName, through end: Int64, _ truth: Truth
    ) -> (may: Bool, must: Bool) {
        guard let condition = message.draft.condition else { return (false, false) }
        let start = message.submittedNanoseconds
        var outcome = condition.outcome { topic in
            subscriptions.chances(
                of: name, in: truth.tokens.appName(of: name), message.sender, topic, from: start, through: end
            )
        }
        let app = truth.tokens.app(of: name)
        if condition.holds({ _ in false }) {
            guard app?.audience.contains(message.sender) == true else { return (false, false) }
            let token = app?.tokens.first { $0.name == name }
            if token?.confirmedAt ?? .max > start { outcome.must = false }
            if madeAt[name] ?? .max > end { outcome.may = false }
        }
        let newer = truth.tokens.newer(than: name)
        let isReplaced = newer.contains {
            $0.confirmedAt ?? .max < start && !truth.unregistered.contains($0.name)
        }
        if isReplaced { outcome.may = false }
        if !newer.isEmpty || truth.mayBeGone(name) { outcome.must = false }
        return outcome
    }

    // MARK: Mailboxes

    /// Checks a part that was put.
    mutating func putTopic(
        _ number: Int, _ part: StoredMessage, _ truth: Truth, _ world: World
    ) {
        guard let message = messages[number], let name = part.topicMessage, let topic = made[name] else {
            return world.fail("topics", "m\(number) was stored without its topic message")
        }
        let copy = copy(name, for: part.device, world)
        let end = log.copiedAt[copy] ?? world.clock.nanoseconds
        if !outcome(of: message, for: part.name, through: end, truth).may {
            world.fail("topics", "m\(number) was stored for an app that it is not for")
        }
        if part.expiresAt != topic.expiresAt || part.collapseKey != topic.collapseKey || !topic.isStored {
            world.fail("topics", "m\(number) was stored with another lifetime or collapse key")
        }
        if message.draft.condition?.single == nil { world.reached(.topicConditionMet) }
        let way = way(of: name, to: part.name, world)
        if let last = newest[way], last > name.sequence {
            world.fail("topics", "m\(number) was stored after a later message of its sender")
        }
        newest[way] = name.sequence
    }

    /// Checks a marker of messages that were discarded in the log.
    mutating func putMarker(_ marker: StoredMessage, of count: Int, _ truth: Truth, _ world: World) {
        let partition = PartitionKey.device(marker.device).partition(of: world.settings.partitions)
        let found = log.markers.filter { place, known in
            place.partition == partition && known.count == count
                && mayBe(known.message, for: marker.name, from: known.writtenAt, world)
        }
        marks[marker.persistentID] = Mark(name: marker.name, places: Set(found.keys))
        world.reached(.topicMarkerPut)
        if found.isEmpty { return world.fail("topics", "an app got a marker of \(count) topic messages") }
        let mayMiss = found.values.contains { !isGiven($0.lastMessage, marker.name) }
        if !mayMiss { world.fail("topics", "an app got a marker although it had got all messages") }
    }

    private func mayBe(
        _ marker: TopicMessage, for name: RegistrationName, from start: Int64, _ world: World
    ) -> Bool {
        // Only a marker of messages for all apps still has a condition.
        guard let topic = marker.target.topics.first, marker.target.truth & 1 == 0 else { return true }
        return subscriptions.chances(
            of: name, in: world.checkers.truth.tokens.appName(of: name), marker.name.sender, topic,
            from: start, through: world.clock.nanoseconds
        ).isIn
    }

    private func isGiven(_ topic: TopicMessageName?, _ name: RegistrationName) -> Bool {
        guard let topic, let number = made[topic].flatMap({ Number.of($0.messageID) }) else { return false }
        return messages[number]?.puts[FanOut.Put(topic: topic, name: name)] != nil
    }

    // MARK: Logs

    /// Checks the positions in a batch, whose messages have been recorded.
    func didApply(_ batch: WriteBatch, _ truth: Truth, _ world: World) {
        for case .putTopicPosition(let device, let place) in batch.mutations {
            let partition = PartitionKey.device(device).partition(of: world.settings.partitions)
            for (at, entry) in log.entries
            where at.partition == partition && at.sequence <= place && entry.kind == .message {
                check(entry.message, isGivenTo: device, truth, world)
            }
        }
    }

    private func check(
        _ topic: TopicMessage, isGivenTo device: DeviceID, _ truth: Truth, _ world: World
    ) {
        guard let number = Number.of(topic.messageID), let message = messages[number],
            isLasting(message, world)
        else { return }
        for (app, known) in truth.tokens.apps where app.device == device {
            for token in known.tokens
            where message.puts[FanOut.Put(topic: topic.name, name: token.name)] == nil {
                let isFor = outcome(of: message, for: token.name, through: world.clock.nanoseconds, truth)
                    .must
                if isFor { world.fail("topics", "the position of \(device.number) has passed m\(number)") }
            }
        }
    }

    /// Checks that all partitions have a topic message that is removed. One that was refused is removed as well.
    func checkRemoval(of name: TopicMessageName, _ world: World) {
        guard let (number, message) = messages.first(where: { $0.value.topics.contains(name) }),
            message.isAcknowledged, message.submissions == 1, isLasting(message, world),
            // No log has a message to a condition that never holds.
            made[name]?.target.passes.isEmpty == false
        else { return }
        for partition in 0..<world.settings.partitions
        where !log.copies.contains(TopicLogChecker.Copy(message: name, partition: partition)) {
            world.fail("topics", "m\(number) was removed before partition \(partition) had it")
        }
    }

    /// Checks a step of the core, and records which topic messages a partition has in memory.
    mutating func check(_ step: CoreStep, _ world: World) {
        for mutation in step.mutations {
            switch mutation {
            case .putTopicMessage(let message): made[message.name] = message
            case .putRegistration(let registration) where madeAt[registration.name] == nil:
                madeAt[registration.name] = world.clock.nanoseconds
            default: break
            }
        }
        log.check(step, world)
        for case .topicLog(let source, .copied(_, let through?)) in step.forwards {
            for name in messages.values.lazy.flatMap(\.topics)
            where name.sequence <= through && self.source(of: name, world) == source {
                log.copied(TopicLogChecker.Copy(message: name, partition: step.partition), world)
            }
        }
        checkUnstored(step, world)
        switch step.event {
        case .topicLog(_, .published):
            if !step.forwards.isEmpty { world.reached(.topicRepeated) }
        case .device(_, .login), .partition(.loaded(.device)):
            for case .putMessage(let message) in step.mutations where message.topicMessage != nil {
                world.reached(.topicCaughtUp)
            }
        case .partition(.committed):
            for case .removeTopicEntry in step.mutations { world.reached(.topicReplaced) }
        default: break
        }
    }

    // MARK: The end

    /// Returns subscribers that were left out, unanswered messages, and what logs should not have.
    func findings(_ truth: Truth, _ world: World) -> [String] {
        var found = log.findings(world) + unstoredFindings(truth, world) + figureFindings(world)
        for (number, message) in messages where message.draft.condition != nil {
            if message.isCalm, message.answers == 0 { found.append("m\(number) was never answered") }
            guard message.isAcknowledged, isLasting(message, world), !isReplaced(message) else { continue }
            let reached = Set(message.puts.keys.map(\.name))
            for token in truth.tokens.apps.values.lazy.flatMap(\.tokens) where !reached.contains(token.name) {
                let name = token.name
                guard outcome(of: message, for: name, through: world.clock.nanoseconds, truth).must,
                    !isDiscarded(message, for: name, world)
                else { continue }
                found.append("m\(number) left out \(name.device.number)")
            }
        }
        return found
    }

    /// Returns which topic messages have pairs that nothing needs, or a wrong count of the apps that were given them, in a process that has
    /// made all of them.
    private func figureFindings(_ world: World) -> [String] {
        guard world.boots == 1, world.settings.faults.hasCommitsAll else { return [] }
        var found: [String] = []
        var needed: [Set<TopicMessageName>] = Array(repeating: [], count: world.settings.partitions)
        world.disk.state.forEachMessage { part in
            let partition = PartitionKey.device(part.device).partition(of: world.settings.partitions)
            if let name = part.topicMessage { needed[partition].insert(name) }
        }
        for partition in needed.indices {
            for entry in world.disk.state.topicLog(partition) where entry.kind == .message {
                needed[partition].insert(entry.message.name)
                let number = Number.of(entry.message.messageID)
                let puts = number.flatMap { messages[$0] }?.puts.keys.count { put in
                    put.topic == entry.message.name
                        && copy(entry.message.name, for: put.name.device, world).partition == partition
                }
                if entry.progress.reached != UInt64(puts ?? 0) {
                    found.append("a log counts \(entry.progress.reached) apps of \(puts ?? 0)")
                }
            }
            let bodies = world.disk.state.sharedBodies(partition).compactMap { name in
                if case .topic(let message) = name { message } else { nil }
            }.filter {
                made[$0].map { $0.expiresAt > world.latestWall && !$0.target.passes.isEmpty } ?? true
            }
            if !needed[partition].isSuperset(of: bodies) { found.append("pairs of topic messages are left") }
        }
        return found
    }

    /// Whether a message was discarded before an app instance was given it, which then has a marker of it.
    private func isDiscarded(_ message: FanOut, for name: RegistrationName, _ world: World) -> Bool {
        let markers = message.topics.flatMap { log.markers(for: copy($0, for: name.device, world)) }
        guard !markers.isEmpty else { return false }
        let isOnApple = world.appleApps.contains { $0.names.contains(name) }
        if isOnApple || message.draft.condition?.single == nil { return true }
        return marks.values.contains { $0.name == name && !$0.places.isDisjoint(with: markers) }
    }

    /// Whether a message cannot have expired.
    private func isLasting(_ message: FanOut, _ world: World) -> Bool {
        // A clock that is set just before the end of the faults is believed some seconds later.
        let isSettled = message.isCalm && message.submittedNanoseconds >= world.calmSince + 10_000_000_000
        return (isSettled || !world.clockWasSet) && message.draft.lifetimeSeconds >= 3_600
    }

    /// Whether a newer message to the same recipients with the same collapse key may have replaced a message before a device was sent it.
    private func isReplaced(_ message: FanOut) -> Bool {
        guard let key = message.draft.collapseKey, let first = message.topics.map(\.sequence).min() else {
            return false
        }
        return messages.values.contains { other in
            other.draft.collapseKey == key && other.sender == message.sender
                && other.draft.condition?.target == message.draft.condition?.target
                && other.topics.contains { $0.sequence > first }
        }
    }
}
