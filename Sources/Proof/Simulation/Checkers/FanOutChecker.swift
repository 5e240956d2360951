import Basics
import Delivery

/// A message to several recipients: the subscribers of a topic, or the members of a group.
struct FanOut {
    /// One stored part: per app instance, and per time that the server accepted the message.
    struct Put: Hashable {
        /// Nil for a group.
        var topic: TopicMessageName?
        var name: RegistrationName
        /// Index of the transmission, for a group message that its device sent repeatedly.
        var time = 0
    }

    var draft: DownstreamDraft
    var sender: SenderID
    /// Members of a group, as known when the message was sent.
    var members: [RegistrationName] = []
    /// The app that sent the message; `nil` if an app server did.
    var author: AppName?
    var submittedNanoseconds: Int64
    var submissions = 1
    var answers = 0
    var isAcknowledged = false
    /// The names under which a topic message has been synced to disk.
    var topics: Set<TopicMessageName> = []
    /// Parts on disk from the view of the process.
    var puts: [Put: PersistentID] = [:]
    /// Parts that a crash leaves.
    var synced: [Put: PersistentID] = [:]
    var delivered: Set<PersistentID> = []
    var isCalm: Bool
}

/// Each recipient gets the message, and none gets it twice, even if the process crashes meanwhile. A topic message is for apps that have
/// subscribed before it was sent, and not for those that subscribe when their partition has it; those of a sender arrive in order.
struct FanOutChecker {
    /// A topic message in the log of a partition.
    private struct Copy: Hashable {
        var message: TopicMessageName
        var partition: Int
    }

    /// An app instance, and the partition of the senders.
    private struct Way: Hashable {
        var name: RegistrationName
        var source: Int
    }

    private struct Subscriber: Hashable {
        var name: RegistrationName
        var topic: TopicName
    }

    private struct Subscription {
        var sender: SenderID
        /// Number of requests: only the answer to the last one determines the state.
        var asks = 0
        /// Number of unanswered requests; if there are several, they may be handled in any order.
        var open = 0
        var isUnclear = false
        /// When it was first asked for; anew if its end was confirmed before that.
        var beganAt: Int64?
        var confirmedAt: Int64?
        /// When its end was requested; `nil` if it was not.
        var endAskedAt: Int64?
        var endedAt: Int64?
    }

    var messages: [Int: FanOut] = [:]
    private var subscriptions: [Subscriber: Subscription] = [:]
    /// The logs that have each topic message on disk, and since when their partitions have it in memory.
    private var copies: Set<Copy> = []
    private var copiedAt: [Copy: Int64] = [:]
    /// The newest message that was put on each way.
    private var newest: [Way: SequenceNumber] = [:]

    // MARK: Subscriptions

    /// Records a request to subscribe or unsubscribe. Returns its number.
    mutating func requested(
        _ name: RegistrationName, _ topic: TopicName, of sender: SenderID, isEnd: Bool, _ world: World
    ) -> Int {
        let subscriber = Subscriber(name: name, topic: topic)
        var known = subscriptions[subscriber] ?? Subscription(sender: sender)
        if !isEnd, known.open == 0, known.asks == 0 || known.endedAt != nil {
            known.beganAt = world.clock.nanoseconds
        }
        known.asks += 1
        known.isUnclear = known.open > 0
        known.open += 1
        if isEnd || known.isUnclear { known.endAskedAt = world.clock.nanoseconds }
        if !isEnd || known.isUnclear { known.endedAt = nil }
        subscriptions[subscriber] = known
        return known.asks
    }

    /// Records that a request was answered or will never be.
    mutating func closed(_ name: RegistrationName, _ topic: TopicName) {
        subscriptions[Subscriber(name: name, topic: topic)]?.open -= 1
    }

    /// Records that a request succeeded.
    mutating func confirmed(
        _ name: RegistrationName, _ topic: TopicName, request: Int, isEnd: Bool, _ world: World
    ) {
        let subscriber = Subscriber(name: name, topic: topic)
        guard var known = subscriptions[subscriber], known.asks == request, !known.isUnclear
        else { return }
        if isEnd {
            known.endedAt = world.clock.nanoseconds
        } else {
            known.confirmedAt = world.clock.nanoseconds
            known.endAskedAt = nil
            world.reached(.topicSubscribed)
        }
        subscriptions[subscriber] = known
    }

    /// Records that an app's data was cleared, and its subscriptions with it.
    mutating func cleared(_ names: [RegistrationName], _ world: World) {
        for subscriber in subscriptions.keys where names.contains(subscriber.name) {
            subscriptions[subscriber]?.endAskedAt = world.clock.nanoseconds
            subscriptions[subscriber]?.asks += 1
        }
    }

    // MARK: Sending

    /// Records a submission, perhaps a repeated one; `members` for a group message.
    mutating func submitted(
        _ draft: DownstreamDraft, _ sender: SenderID, members: [RegistrationName] = [], _ world: World
    ) {
        guard messages[draft.number] == nil else {
            messages[draft.number]?.submissions += 1
            return world.reached(.retried)
        }
        messages[draft.number] = FanOut(
            draft: draft, sender: sender, members: members, submittedNanoseconds: world.clock.nanoseconds,
            isCalm: world.isCalm)
    }

    /// Checks the answer to a topic message.
    mutating func answered(_ number: Int, _ answer: Answer, isOutstanding: Bool, _ world: World) {
        guard isOutstanding, let message = messages[number] else {
            return world.fail("answers", "m\(number) was answered but is not outstanding")
        }
        messages[number]?.answers += 1
        switch answer {
        case .acknowledged:
            messages[number]?.isAcknowledged = true
            if message.topics.isEmpty {
                world.fail("durability", "m\(number) was acknowledged but is not on disk")
            }
        case .refused(.unavailable), .refused(.draining): break
        case .refused(.repeatedMessageID) where message.submissions > 1: break
        case .refused(let refusal): world.fail("answers", "m\(number) was refused as \(refusal.word)")
        }
    }

    /// Checks the answer to a group message; with `isOnly`, no other message was sent to the group.
    mutating func answered(
        _ number: Int, _ answer: GroupAnswer, isOnly: Bool, _ truth: Truth, _ world: World
    ) {
        guard let message = messages[number] else { return }
        world.reached(.groupAnswered)
        let counted = answer.success + answer.failed.count
        let mayBeEmpty = counted == 0 && message.members.allSatisfy { mayFail($0, truth) }
        if mayBeEmpty { world.reached(.groupMemberGone) }
        if counted > message.members.count || isOnly && counted != message.members.count && !mayBeEmpty {
            world.fail(
                "groups", "m\(number): an answer counts \(counted) of \(message.members.count) members")
        }
        if message.synced.count < answer.success {
            world.fail("groups", "m\(number): \(answer.success) reached, \(message.synced.count) on disk")
        }
        for (member, refusal) in answer.failed where refusal != .unavailable {
            if refusal == .notRegistered { world.reached(.groupMemberGone) }
            if refusal != .notRegistered || !mayFail(member.registration, truth) {
                world.fail("groups", "m\(number): a member was refused as \(refusal.word)")
            }
        }
    }

    /// Checks the refusal of a whole group message.
    func refused(_ number: Int, _ refusal: Refusal, _ truth: Truth, _ world: World) {
        guard let message = messages[number], refusal != .unavailable else { return }
        if refusal != .notRegistered || !message.members.allSatisfy({ mayFail($0, truth) }) {
            world.fail("groups", "m\(number) was refused as \(refusal.word)")
        }
    }

    func mayFail(_ member: RegistrationName, _ truth: Truth) -> Bool {
        truth.mayBeGone(member) || !truth.tokens.newer(than: member).isEmpty
            || truth.tokens.app(of: member) == nil
    }

    // MARK: Disk

    /// Records that one part was put.
    mutating func put(_ number: Int, _ part: StoredMessage, _ truth: Truth, _ world: World) {
        guard let message = messages[number] else { return }
        var put = FanOut.Put(topic: part.topicMessage, name: part.name)
        if message.author != nil {
            put.time = checkUpstream(number, message, part, truth, world)
        }
        if message.puts[put] != nil { world.fail("topics", "m\(number) was stored twice for one app") }
        messages[number]?.puts[put] = part.persistentID
        guard let topic = message.draft.topic else {
            let isMember = message.members.contains {
                $0 == part.name || truth.tokens.newer(than: $0).contains { $0.name == part.name }
            }
            if !isMember { world.fail("groups", "m\(number) was stored for another app") }
            return
        }
        let subscription = subscriptions[Subscriber(name: part.name, topic: topic)]
        guard let name = put.topic, subscription?.sender == message.sender else {
            return world.fail("topics", "m\(number) was stored for an app that never subscribed")
        }
        if let end = subscription?.endedAt, end < message.submittedNanoseconds {
            world.fail("topics", "m\(number) was stored for an app that had unsubscribed")
        }
        let copy = Copy(
            message: name,
            partition: PartitionKey.device(part.device).partition(of: world.settings.partitions))
        if let began = subscription?.beganAt, let since = copiedAt[copy], since < began {
            world.fail("topics", "m\(number) was stored for an app that subscribed later")
        }
        let way = way(of: name, to: part.name, world)
        if let last = newest[way], last > name.sequence {
            world.fail("topics", "m\(number) was stored after a later message of its sender")
        }
        newest[way] = name.sequence
    }

    private func way(of topic: TopicMessageName, to name: RegistrationName, _ world: World) -> Way {
        Way(name: name, source: source(of: topic, world))
    }

    private func source(of topic: TopicMessageName, _ world: World) -> Int {
        PartitionKey.sender(topic.sender).partition(of: world.settings.partitions)
    }

    /// Records what was synced to disk.
    mutating func didSync(_ batch: WriteBatch, _ world: World) {
        for mutation in batch.mutations {
            switch mutation {
            case .putTopicMessage(let message):
                if let number = Number.of(message.messageID) { messages[number]?.topics.insert(message.name) }
            case .putTopicEntry(let entry, let partition):
                copies.insert(Copy(message: entry.message.name, partition: partition))
            case .removeTopicMessage(let name): checkRemoval(of: name, world)
            case .putMessage(let part):
                guard let number = Number.of(part.messageID), messages[number] != nil else { continue }
                let put = messages[number]?.puts.first { $0.value == part.persistentID }?.key
                if let put { messages[number]?.synced[put] = part.persistentID }
            default: break
            }
        }
    }

    /// Checks that all partitions have a topic message that is removed. One that was refused is removed as well.
    private func checkRemoval(of name: TopicMessageName, _ world: World) {
        guard let (number, message) = messages.first(where: { $0.value.topics.contains(name) }),
            message.isAcknowledged, message.submissions == 1, isLasting(message, world)
        else { return }
        for partition in 0..<world.settings.partitions
        where !copies.contains(Copy(message: name, partition: partition)) {
            world.fail("topics", "m\(number) was removed before partition \(partition) had it")
        }
    }

    /// Records which topic messages a partition has in memory.
    mutating func check(_ step: CoreStep, _ world: World) {
        for case .topicLog(let source, .copied(_, let through?)) in step.forwards {
            for name in messages.values.lazy.flatMap(\.topics) where name.sequence <= through {
                let copy = Copy(message: name, partition: step.partition)
                guard copiedAt[copy] == nil, self.source(of: name, world) == source else { continue }
                copiedAt[copy] = world.clock.nanoseconds
            }
        }
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

    /// Drops what a crash has lost.
    mutating func rolledBack(_ world: World) {
        newest = [:]
        messages = messages.mapValues { message in
            var message = message
            message.puts = message.synced
            return message
        }
        for put in messages.values.lazy.flatMap(\.puts.keys) {
            guard let topic = put.topic else { continue }
            let way = way(of: topic, to: put.name, world)
            newest[way] = max(newest[way] ?? topic.sequence, topic.sequence)
        }
    }

    /// Returns whether a part ended for a valid reason.
    func isTrue(
        _ number: Int, _ part: StoredMessage, _ reason: Milestone, _ truth: Truth, _ world: World
    ) -> Bool {
        switch reason {
        case .delivered: messages[number]?.delivered.contains(part.persistentID) == true
        case .expired: part.expiresAt <= world.latestWall
        case .removed: truth.mayBeGone(part.name) || !truth.registered.contains(part.name)
        default: false
        }
    }

    // MARK: Devices

    /// Checks a part that a device received.
    mutating func delivered(_ number: Int, _ delivered: DeliveredMessage, _ world: World) {
        guard let message = messages[number] else { return }
        guard let id = delivered.id, message.puts.values.contains(id) else {
            return world.fail("identity", "m\(number) was received under an unknown persistent ID")
        }
        let from = message.draft.topic.map { Array("/topics/".utf8) + $0.bytes }
        if delivered.from != from ?? Array("\(message.sender.number)".utf8) {
            world.fail("identity", "m\(number) was received with a wrong sender")
        }
        world.reached(
            message.author != nil
                ? .groupUpstreamDelivered : from == nil ? .groupDelivered : .topicDelivered)
        messages[number]?.delivered.insert(id)
    }

    // MARK: The end

    /// Returns subscribers that were left out, and unanswered messages.
    func findings(_ truth: Truth, _ world: World) -> [String] {
        var found: [String] = []
        for (number, message) in messages {
            guard let topic = message.draft.topic else { continue }
            if message.isCalm, message.answers == 0 { found.append("m\(number) was never answered") }
            guard message.isAcknowledged, isLasting(message, world), !isReplaced(message) else { continue }
            let reached = Set(message.puts.keys.map(\.name))
            for (subscriber, subscription) in subscriptions
            where subscriber.topic == topic && subscription.sender == message.sender
                && subscription.endAskedAt == nil
                && subscription.confirmedAt ?? .max <= message.submittedNanoseconds
                && !reached.contains(subscriber.name) && !truth.mayBeGone(subscriber.name)
            {
                found.append("m\(number) left out \(subscriber.name.device.number)")
            }
        }
        return found
    }

    /// Whether a message cannot have expired.
    private func isLasting(_ message: FanOut, _ world: World) -> Bool {
        (message.isCalm || !world.clockWasSet) && message.draft.lifetimeSeconds >= 3_600
    }

    /// Whether a newer message to the topic with the same collapse key may have replaced a message before a device was sent it.
    private func isReplaced(_ message: FanOut) -> Bool {
        guard let key = message.draft.collapseKey, let first = message.topics.map(\.sequence).min() else {
            return false
        }
        return messages.values.contains { other in
            other.draft.collapseKey == key && other.draft.topic == message.draft.topic
                && other.sender == message.sender && other.topics.contains { $0.sequence > first }
        }
    }
}
