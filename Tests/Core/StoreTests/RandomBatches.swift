import Basics
import Delivery
import Store

/// Random batches with many collisions: few keys, few IDs, every kind of mutation.
struct RandomBatches {
    static let owners: ClosedRange<UInt64> = 1...6
    var random: SeededRandom
    private(set) var now = Samples.now
    private var batchNumber: UInt64 = 0

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    mutating func next() -> [WriteBatch] {
        now += Int64.random(in: 0...40_000_000, using: &random)
        return (0..<Int.random(in: 1...4, using: &random)).map { _ in
            batchNumber += 1
            let mutations = (0..<Int.random(in: 0...6, using: &random)).map { _ in mutation() }
            return WriteBatch(
                batchNumber: batchNumber, mutations: mutations,
                isDurable: Int.random(in: 0...3, using: &random) == 0)
        }
    }

    private mutating func mutation() -> Mutation {
        let owner = UInt64.random(in: Self.owners, using: &random)
        let sequence = UInt64.random(in: 1...30, using: &random)
        let end = Self.end(owner, sequence)
        let reasons: [Milestone] = [.delivered, .replaced, .expired, .discarded, .removed, .forwarded]
        let reason = reasons[Int.random(in: 0..<5, using: &random)]
        switch Int.random(in: 0...22, using: &random) {
        case 0...4:
            let kind: StoredMessage.Kind = sequence % 7 == 0 ? .discardedMarker(count: 101) : .message
            var message = Samples.message(
                owner, sequence, ends: end, kind: kind, key: sequence % 2 == 0 ? "k" : nil)
            if sequence % 3 == 0, kind == .message {
                message =
                    sequence % 2 == 0
                    ? Samples.copy(of: Self.topicMessage(sequence), owner, sequence)
                    : Samples.copy(of: Self.requestBody(sequence / 3), owner, sequence)
                message.expiresAt = end
            }
            return .putMessage(message)
        case 5...7:
            return .removeMessage(DeviceID(owner), SequenceNumber(sequence), expiresAt: end, reason: reason)
        case 8...10:
            // The content of a message follows from its key, so that a put under a taken key is a retry, not `occupied`.
            let id = (owner + sequence) % 3 == 0 ? "" : "p\((owner * 7 + sequence) % 21)"
            let kind: StoredUpstream.Kind = sequence % 5 == 0 ? .receipt(sentAt: 4) : .message
            return .putUpstream(
                Samples.upstream(owner, sequence, device: owner % 3, persistentID: id, ends: end, kind: kind),
                now: now)
        case 11:
            return .putMessage(
                Samples.message(
                    owner, 31 + sequence, ends: end, kind: .sendError(of: SequenceNumber(sequence)), body: [])
            )
        case 12:
            return .removeUpstream(SenderID(owner), SequenceNumber(sequence), expiresAt: end, reason: reason)
        case 13...18: return registryMutation(owner, sequence)
        default: return topicMutation(owner, sequence)
        }
    }

    /// Returns the topic message that a sequence stands for: one of four.
    private static func topicMessage(_ sequence: UInt64) -> TopicMessage {
        Samples.topicMessage(42 + sequence % 2, 1 + sequence % 4)
    }

    /// Returns the shared pairs that a sequence stands for: one of three.
    private static func requestBody(_ sequence: UInt64) -> SharedBody {
        Samples.requestBody(1 + sequence % 3)
    }

    private static let bodyEnd = Samples.now + 300_000_000

    private static func entry(_ sequence: UInt64) -> TopicEntry {
        TopicEntry(
            sequence: SequenceNumber(sequence),
            kind: sequence % 5 == 0
                ? .discarded(count: Int(sequence), through: SequenceNumber(sequence / 2)) : .message,
            message: topicMessage(sequence))
    }

    /// Returns the partition of a device in a store with the usual number.
    private static func partition(_ device: UInt64) -> Int {
        PartitionKey.device(DeviceID(device)).partition(of: Limits.Partition.count)
    }

    private mutating func topicMutation(_ owner: UInt64, _ sequence: UInt64) -> Mutation {
        let isRemoval = Int.random(in: 0...2, using: &random) == 0
        let (message, place, partition) = (
            Self.topicMessage(sequence), SequenceNumber(sequence), Self.partition(owner)
        )
        switch Int.random(in: 0...7, using: &random) {
        case 0: return isRemoval ? .removeTopicMessage(message.name) : .putTopicMessage(message)
        case 1, 2:
            return isRemoval
                ? .removeTopicEntry(place, partition: partition)
                : .putTopicEntry(Self.entry(sequence), partition: partition)
        case 3:
            let progress = TopicProgress(reached: UInt64(now), isOffered: isRemoval)
            return .putTopicProgress(place, progress, partition: partition)
        case 4:
            let mark = TopicMark(source: Int(sequence % 16), through: SequenceNumber(UInt64(now)))
            return .putTopicMark(mark, partition: partition)
        case 5:
            let shared = Self.requestBody(sequence)
            switch Int.random(in: 0...3, using: &random) {
            case 0:
                return .removeSharedBody(
                    .topic(message.name), partition: partition, expiresAt: message.bodyEndsAt)
            case 1:
                return .removeSharedBody(shared.reference.name, partition: partition, expiresAt: Self.bodyEnd)
            default: return .putSharedBody(shared, partition: partition, expiresAt: Self.bodyEnd)
            }
        case 6: return .putTopicPosition(DeviceID(owner), SequenceNumber(UInt64(now)))
        default:
            let listed = Samples.subscription(owner, sequence % 3, topic: Int(sequence % 2))
            return isRemoval ? .unlistForGateway(listed) : .listForGateway(listed)
        }
    }

    /// Puts and removals are drawn independently of the row, so that rows are removed and put again.
    private mutating func registryMutation(_ owner: UInt64, _ sequence: UInt64) -> Mutation {
        let isRemoval = Int.random(in: 0...2, using: &random) == 0
        switch Int.random(in: 0...6, using: &random) {
        case 0:
            return isRemoval ? .removeDevice(DeviceID(owner)) : .putDevice(Samples.device(owner, seenAt: now))
        case 1:
            var registration = Samples.registration(owner, sequence % 5)
            if sequence % 5 == 1 { registration.apnsToken = [1] }
            return isRemoval ? .removeRegistration(registration.name) : .putRegistration(registration)
        case 2:
            let topic = Int.random(in: 0...2, using: &random)
            let made = Samples.subscription(owner, sequence % 3, topic: topic, since: now)
            return isRemoval ? .removeSubscription(made) : .putSubscription(made)
        case 3:
            let name = Samples.registration(owner, sequence % 3).name
            let installation = Samples.installations[Int.random(in: 0...1, using: &random)]
            return isRemoval ? .unlinkInstallation(installation, name) : .linkInstallation(installation, name)
        case 4:
            let group = Samples.group(owner, sequence % 4, members: 1 + sequence % 3)
            return isRemoval ? .removeGroup(group.name, label: group.label) : .putGroup(group)
        case 5:
            let installation = Samples.installations[Int.random(in: 0...1, using: &random)]
            return isRemoval
                ? .removeInstallation(installation)
                : .putInstallation(Samples.installation(installation, usedAt: now))
        default: return isRemoval ? .removeSender(SenderID(owner)) : .putSender(Samples.sender(owner))
        }
    }

    /// Returns mutations that remove everything that these batches may have put.
    static func removals() -> [Mutation] {
        var mutations: [Mutation] = []
        for owner in owners {
            for sequence in 1...30 as ClosedRange<UInt64> {
                mutations.append(
                    .removeMessage(
                        DeviceID(owner), SequenceNumber(sequence), expiresAt: end(owner, sequence),
                        reason: .removed
                    ))
                mutations.append(
                    .removeUpstream(
                        SenderID(owner), SequenceNumber(sequence), expiresAt: end(owner, sequence),
                        reason: .removed
                    ))
                mutations.append(
                    .removeMessage(
                        DeviceID(owner), SequenceNumber(31 + sequence), expiresAt: end(owner, sequence),
                        reason: .removed))
            }
            mutations += [.removeDevice(DeviceID(owner)), .removeSender(SenderID(owner))]
            mutations += topicRemovals(partition(owner))
            for number in 0...4 as ClosedRange<UInt64> {
                let name = Samples.registration(owner, number).name
                mutations.append(.removeRegistration(name))
                mutations += Samples.installations.map { .unlinkInstallation($0, name) }
                for topic in Samples.topics.indices {
                    let subscription = Samples.subscription(owner, number, topic: topic)
                    mutations += [.removeSubscription(subscription), .unlistForGateway(subscription)]
                }
                let group = Samples.group(owner, number)
                mutations.append(.removeGroup(group.name, label: group.label))
            }
        }
        mutations += Samples.installations.map { .removeInstallation($0) }
        return mutations
    }

    private static func topicRemovals(_ partition: Int) -> [Mutation] {
        (1...30 as ClosedRange<UInt64>).flatMap { sequence -> [Mutation] in
            let message = topicMessage(sequence)
            let own = PartitionKey.sender(message.name.sender).partition(of: Limits.Partition.count)
            return [
                .removeTopicMessage(message.name),
                .removeTopicEntry(SequenceNumber(sequence), partition: partition),
                .removeSharedBody(.topic(message.name), partition: partition, expiresAt: message.bodyEndsAt),
                .removeSharedBody(.topic(message.name), partition: own, expiresAt: message.bodyEndsAt),
                .removeSharedBody(
                    requestBody(sequence).reference.name, partition: partition, expiresAt: bodyEnd),
            ]
        }
    }

    /// Returns an expiry time that follows from the key, as for real messages.
    private static func end(_ owner: UInt64, _ sequence: UInt64) -> UnixMilliseconds {
        Samples.now + Int64((owner * 31 + sequence) % 17) * 60_000_000
    }
}

/// Runs random batches against a store and the model. Returns the first difference, or `nil` if there is none.
func firstDifference(
    _ store: any Store, seed: UInt64, commits: Int, _ reached: inout ReachTally<StoreEvent>
) throws -> String? {
    var batches = RandomBatches(seed: seed)
    var model = NaiveModel()
    defer { reached.add(model.reached) }
    for round in 1...commits {
        let next = batches.next()
        let outcomes = try store.commit(next)
        let expected = next.map { model.apply($0) }
        if outcomes != expected {
            return "seed \(seed), commit \(round): outcomes \(outcomes), not \(expected)"
        }
        if round % 50 == 0 || round == commits,
            let difference = try model.difference(from: store, devices: RandomBatches.owners, at: batches.now)
        {
            return "seed \(seed), commit \(round): \(difference)"
        }
    }
    return nil
}

/// Does the same without counting events.
func firstDifference(_ store: any Store, seed: UInt64, commits: Int) throws -> String? {
    var reached = ReachTally<StoreEvent>()
    return try firstDifference(store, seed: seed, commits: commits, &reached)
}
