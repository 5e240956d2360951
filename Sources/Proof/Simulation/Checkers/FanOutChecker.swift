import Basics
import Delivery
import Store

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
    /// When it was first acknowledged.
    var acknowledgedAt: Int64?
    /// The names under which a topic message has been synced to disk or, if it is now-or-never, accepted.
    var topics: Set<TopicMessageName> = []
    /// Parts on disk from the view of the process.
    var puts: [Put: PersistentID] = [:]
    /// Parts that a crash leaves.
    var synced: [Put: PersistentID] = [:]
    var delivered: Set<PersistentID> = []
    var isCalm: Bool

    var isAcknowledged: Bool { acknowledgedAt != nil }
}

/// Each recipient gets the message, and none gets it twice, even if the process crashes meanwhile.
struct FanOutChecker {
    /// An app instance, and the partition of the senders.
    struct Way: Hashable {
        var name: RegistrationName
        var source: Int
    }

    /// A marker that an app was left, and those of the log that it may come from.
    struct Mark {
        var name: RegistrationName
        var places: Set<TopicLogChecker.Place>
        var isSynced = false
    }

    var messages: [Int: FanOut] = [:]
    var subscriptions = Subscriptions()
    var log = TopicLogChecker()
    var unstored = UnstoredTopics()
    /// The newest message that was put on each way.
    var newest: [Way: SequenceNumber] = [:]
    /// When each registration was first made.
    var madeAt: [RegistrationName: Int64] = [:]
    /// The topic messages that senders' partitions have made.
    var made: [TopicMessageName: TopicMessage] = [:]
    /// The markers of discarded topic messages that apps were left.
    var marks: [PersistentID: Mark] = [:]

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
            messages[number]?.acknowledgedAt = message.acknowledgedAt ?? world.clock.nanoseconds
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
        guard message.draft.condition == nil else { return putTopic(number, part, truth, world) }
        let isMember = message.members.contains {
            $0 == part.name || truth.tokens.newer(than: $0).contains { $0.name == part.name }
        }
        if !isMember { world.fail("groups", "m\(number) was stored for another app") }
    }

    /// Records what was synced to disk.
    mutating func didSync(_ batch: WriteBatch, _ world: World) {
        for mutation in batch.mutations {
            switch mutation {
            case .putTopicMessage(let message):
                if let number = Number.of(message.messageID) { messages[number]?.topics.insert(message.name) }
            case .putTopicEntry(let entry, let partition): log.synced(entry, partition)
            case .removeTopicMessage(let name): checkRemoval(of: name, world)
            case .putMessage(let part):
                marks[part.persistentID]?.isSynced = true
                guard let number = Number.of(part.messageID), messages[number] != nil else { continue }
                let put = messages[number]?.puts.first { $0.value == part.persistentID }?.key
                if let put { messages[number]?.synced[put] = part.persistentID }
            default: break
            }
        }
    }

    /// Drops what a crash has lost.
    mutating func rolledBack(to state: MemoryState, _ world: World) {
        newest = [:]
        marks = marks.filter { $0.value.isSynced }
        log.rolledBack(to: state)
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

    /// Checks a part that a device received on a connection that it opened at a time.
    mutating func delivered(
        _ number: Int, _ delivered: DeliveredMessage, _ device: DeviceID?, since: Int64, _ world: World
    ) {
        guard let message = messages[number] else { return }
        let isNow = message.draft.condition != nil && message.draft.lifetimeSeconds == 0
        if isNow {
            unstored.received(number, message, delivered, device, since: since, world)
        } else {
            guard let id = delivered.id, message.puts.values.contains(id) else {
                return world.fail("identity", "m\(number) was received under an unknown persistent ID")
            }
            messages[number]?.delivered.insert(id)
        }
        let path = message.draft.condition?.single.map { Array("/topics/".utf8) + $0.bytes }
        if delivered.from != path ?? Array("\(message.sender.number)".utf8) {
            world.fail("identity", "m\(number) was received with a wrong sender")
        }
        guard message.draft.condition == nil else { return world.reached(.topicDelivered) }
        world.reached(message.author != nil ? .groupUpstreamDelivered : .groupDelivered)
    }
}
