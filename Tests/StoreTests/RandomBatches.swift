import Basics
import Delivery
import Store

/// Batches that collide as often as they can: few places, few ids, every kind of change.
struct RandomBatches {
    static let owners: ClosedRange<UInt64> = 1...6
    var random: SeededRandom
    private(set) var now = Samples.now
    private var ticket: UInt64 = 0

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    mutating func next() -> [WriteBatch] {
        now += Int64.random(in: 0...40_000_000, using: &random)
        return (0..<Int.random(in: 1...4, using: &random)).map { _ in
            ticket += 1
            let mutations = (0..<Int.random(in: 0...6, using: &random)).map { _ in mutation() }
            return WriteBatch(
                ticket: ticket, mutations: mutations, isDurable: Int.random(in: 0...3, using: &random) == 0)
        }
    }

    private mutating func mutation() -> Mutation {
        let owner = UInt64.random(in: Self.owners, using: &random)
        let sequence = UInt64.random(in: 1...30, using: &random)
        // Ends follow from the place, as they do for real messages.
        let end = Samples.now + Int64((owner * 31 + sequence) % 17) * 60_000_000
        let reasons: [Milestone] = [.delivered, .replaced, .expired, .discarded, .removed]
        let reason = reasons[Int.random(in: 0..<5, using: &random)]
        switch Int.random(in: 0...17, using: &random) {
        case 0...4:
            let kind: StoredMessage.Kind = sequence % 7 == 0 ? .discardedMarker(count: 101) : .message
            return .putMessage(
                Samples.message(owner, sequence, ends: end, kind: kind, key: sequence % 2 == 0 ? "k" : nil))
        case 5...7: return .removeMessage(DeviceID(owner), Sequence(sequence), expiresAt: end, reason: reason)
        case 8...10:
            let id = sequence % 3 == 0 ? "" : "p\(Int.random(in: 0...20, using: &random))"
            let kind: StoredUpstream.Kind = sequence % 5 == 0 ? .receipt(sentAt: 4) : .message
            return .putUpstream(
                Samples.upstream(owner, sequence, device: owner % 3, persistentID: id, ends: end, kind: kind),
                now: now)
        case 11:
            let kind: StoredMessage.Kind = .sendError
            let report = Samples.message(owner, 31 + sequence, ends: end, kind: kind)
            return .returnUpstream(
                SenderID(owner), Sequence(sequence), expiresAt: end,
                report: sequence % 4 == 0 ? nil : report)
        case 12:
            return .removeUpstream(SenderID(owner), Sequence(sequence), expiresAt: end, reason: reason)
        case 13:
            return sequence % 4 == 0
                ? .removeDevice(DeviceID(owner)) : .putDevice(Samples.device(owner, seenAt: now))
        case 14:
            let registration = Samples.registration(owner, sequence % 5)
            return sequence % 3 == 0 ? .removeRegistration(registration.name) : .putRegistration(registration)
        case 15:
            let made = Samples.subscription(
                owner, sequence % 3, topic: Int.random(in: 0...2, using: &random), since: now)
            return sequence % 3 == 0 ? .removeSubscription(made) : .putSubscription(made)
        case 16:
            let name = Samples.registration(owner, sequence % 3).name
            let installation = Samples.installations[Int.random(in: 0...1, using: &random)]
            return sequence % 3 == 0
                ? .unlinkInstallation(installation, name) : .linkInstallation(installation, name)
        default: return sequence % 4 == 0 ? .removeSender(SenderID(owner)) : .putSender(Samples.sender(owner))
        }
    }
}

/// Runs random batches against a store and the model; the first difference, nil if there is none.
func firstDifference(_ store: any Store, seed: UInt64, commits: Int) throws -> String? {
    var batches = RandomBatches(seed: seed)
    var model = NaiveModel()
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
