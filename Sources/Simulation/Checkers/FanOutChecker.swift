import Basics
import Delivery

/// A message to many: to the subscribers of a topic, or to the members of a group.
struct FanOut {
    /// Where it was put: once for each app instance, and for each time that the server took it.
    struct Put: Hashable {
        /// Nil for a group.
        var job: TopicJobName?
        var name: RegistrationName
        /// Counts those of a message that its device sent to a group again.
        var time = 0
    }

    var draft: DownstreamDraft
    var sender: SenderID
    /// Of a group, as far as they were known when it was sent.
    var members: [RegistrationName] = []
    /// The app that sent it, where no app server did.
    var author: AppName?
    var submittedNanoseconds: Int64
    var submissions = 1
    var answers = 0
    var isAcknowledged = false
    /// Whether the message itself, which its parts share, has been on the disk beyond any crash.
    var isSynced = false
    /// What is on the disk as the process sees it.
    var puts: [Put: PersistentID] = [:]
    /// What is there after a crash.
    var synced: [Put: PersistentID] = [:]
    var heard: Set<PersistentID> = []
    var isCalm: Bool
}

/// A message to many comes to each of them, and to nobody twice, whatever happens to the process in between.
struct FanOutChecker {
    private struct Subscriber: Hashable {
        var name: RegistrationName
        var topic: TopicName
    }

    private struct Subscription {
        var sender: SenderID
        /// How often something was asked for: only the answer to the last question says how it stands.
        var asks = 0
        /// Questions without an answer; those of several may arrive in any order.
        var open = 0
        var isUnclear = false
        var confirmedAt: Int64?
        /// When its end was asked for; nil: it stands.
        var endAskedAt: Int64?
        var endedAt: Int64?
    }

    var messages: [Int: FanOut] = [:]
    private var subscriptions: [Subscriber: Subscription] = [:]

    // MARK: Subscriptions

    /// A device asks to subscribe or to end that; the number of its question.
    mutating func asks(
        _ name: RegistrationName, _ topic: TopicName, of sender: SenderID, isEnd: Bool, _ world: World
    ) -> Int {
        let subscriber = Subscriber(name: name, topic: topic)
        var known = subscriptions[subscriber] ?? Subscription(sender: sender)
        known.asks += 1
        known.isUnclear = known.open > 0
        known.open += 1
        if isEnd || known.isUnclear { known.endAskedAt = world.clock.nanoseconds }
        if !isEnd || known.isUnclear { known.endedAt = nil }
        subscriptions[subscriber] = known
        return known.asks
    }

    /// The answer to a question has come, or will not come any more.
    mutating func closed(_ name: RegistrationName, _ topic: TopicName) {
        subscriptions[Subscriber(name: name, topic: topic)]?.open -= 1
    }

    /// The answer to a question says that it is done.
    mutating func confirmed(
        _ name: RegistrationName, _ topic: TopicName, question: Int, isEnd: Bool, _ world: World
    ) {
        let subscriber = Subscriber(name: name, topic: topic)
        guard var known = subscriptions[subscriber], known.asks == question, !known.isUnclear
        else { return }
        if isEnd {
            known.endedAt = world.clock.nanoseconds
        } else {
            known.confirmedAt = world.clock.nanoseconds
            known.endAskedAt = nil
            world.met(.topicSubscribed)
        }
        subscriptions[subscriber] = known
    }

    /// An app's data is gone, and its subscriptions with it.
    mutating func cleared(_ names: [RegistrationName], _ world: World) {
        for subscriber in subscriptions.keys where names.contains(subscriber.name) {
            subscriptions[subscriber]?.endAskedAt = world.clock.nanoseconds
            subscriptions[subscriber]?.asks += 1
        }
    }

    // MARK: Sending

    /// Submitted, perhaps again; `members` for a group.
    mutating func submitted(
        _ draft: DownstreamDraft, _ sender: SenderID, members: [RegistrationName] = [], _ world: World
    ) {
        guard messages[draft.number] == nil else {
            messages[draft.number]?.submissions += 1
            return world.met(.retried)
        }
        messages[draft.number] = FanOut(
            draft: draft, sender: sender, members: members, submittedNanoseconds: world.clock.nanoseconds,
            isCalm: world.isCalm)
    }

    /// The answer to a message to a topic.
    mutating func answered(_ number: Int, _ answer: Answer, isOutstanding: Bool, _ world: World) {
        guard isOutstanding, let message = messages[number] else {
            return world.fail("answers", "m\(number) was answered, which nobody waits for")
        }
        messages[number]?.answers += 1
        switch answer {
        case .acknowledged:
            messages[number]?.isAcknowledged = true
            if !message.isSynced { world.fail("durability", "m\(number) is acknowledged and not on disk") }
        case .refused(.unavailable), .refused(.draining): break
        case .refused(.repeatedMessageID) where message.submissions > 1: break
        case .refused(let refusal): world.fail("answers", "m\(number) was refused as \(refusal.word)")
        }
    }

    /// The answer to a message to a group, to which no other was sent where `isOnly`.
    mutating func answered(
        _ number: Int, _ answer: GroupAnswer, isOnly: Bool, _ truth: Truth, _ world: World
    ) {
        guard let message = messages[number] else { return }
        world.met(.groupAnswered)
        let told = answer.success + answer.failed.count
        if told > message.members.count || isOnly && told != message.members.count {
            world.fail("groups", "m\(number): an answer for \(told) of \(message.members.count) members")
        }
        if message.synced.count < answer.success {
            world.fail("groups", "m\(number): \(answer.success) reached, \(message.synced.count) on disk")
        }
        for (member, refusal) in answer.failed where refusal != .unavailable {
            if refusal == .notRegistered { world.met(.groupMemberGone) }
            if refusal != .notRegistered || !mayFail(member, truth) {
                world.fail("groups", "m\(number): a member was refused as \(refusal.word)")
            }
        }
    }

    /// A message to a group was refused as a whole.
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

    /// Puts one of its parts.
    mutating func put(_ number: Int, _ part: StoredMessage, _ truth: Truth, _ world: World) {
        guard let message = messages[number] else { return }
        var put = FanOut.Put(job: part.topic?.job, name: part.name)
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
        if subscription?.sender != message.sender || put.job == nil {
            world.fail("topics", "m\(number) was stored for an app that never asked for it")
        }
        if let end = subscription?.endedAt, end < message.submittedNanoseconds {
            world.fail("topics", "m\(number) was stored for an app that had ended its subscription")
        }
    }

    /// What is on the disk beyond any crash.
    mutating func didSync(_ batch: WriteBatch) {
        for mutation in batch.mutations {
            switch mutation {
            case .putTopicJob(let job):
                if let number = Number.of(job.messageID) { messages[number]?.isSynced = true }
            case .putMessage(let part):
                guard let number = Number.of(part.messageID), messages[number] != nil else { continue }
                let put = messages[number]?.puts.first { $0.value == part.persistentID }?.key
                if let put { messages[number]?.synced[put] = part.persistentID }
            default: break
            }
        }
    }

    /// The process has died.
    mutating func rolledBack() {
        messages = messages.mapValues { message in
            var message = message
            message.puts = message.synced
            return message
        }
    }

    /// Whether a part ended for a reason that is true.
    func isTrue(
        _ number: Int, _ part: StoredMessage, _ reason: Milestone, isMarked: Bool, _ truth: Truth,
        _ world: World
    ) -> Bool {
        switch reason {
        case .delivered: messages[number]?.heard.contains(part.persistentID) == true
        case .expired: part.expiresAt <= world.latestWall
        case .discarded: isMarked
        case .removed: truth.mayBeGone(part.name) || !truth.registered.contains(part.name)
        default: false
        }
    }

    // MARK: Devices

    /// A device has one of its parts.
    mutating func heard(_ number: Int, _ heard: HeardMessage, _ world: World) {
        guard let message = messages[number] else { return }
        guard let id = heard.id, message.puts.values.contains(id) else {
            return world.fail("identity", "m\(number) came under an id that it never had")
        }
        let from = message.draft.topic.map { Array("/topics/".utf8) + $0.octets }
        if heard.from != from ?? Array("\(message.sender.number)".utf8) {
            world.fail("identity", "m\(number) came from elsewhere")
        }
        world.met(
            message.author != nil
                ? .groupUpstreamDelivered : from == nil ? .groupDelivered : .topicDelivered)
        messages[number]?.heard.insert(id)
    }

    // MARK: The end

    /// Subscribers that have been left out, and what was never answered.
    func findings(_ truth: Truth, _ world: World) -> [String] {
        var found: [String] = []
        for (number, message) in messages {
            guard let topic = message.draft.topic else { continue }
            if message.isCalm, message.answers == 0 { found.append("m\(number) was never answered") }
            guard message.isAcknowledged, message.isCalm || !world.clockWasSet,
                message.draft.lifetimeSeconds >= 3_600
            else { continue }
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
}
