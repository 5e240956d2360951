import Basics
import Delivery
import Testing

/// The rules of a mailbox, written a second time and as plainly as can be: one list of messages for each registration.
struct MailboxModel {
    struct Item: Equatable {
        var id: [UInt8]
        var key: String?
        var expiresAt: UnixMilliseconds
        /// How many a marker stands for; 0 for a message.
        var discarded = 0
    }

    let keys: Int
    let plain: Int
    var lists: [UInt64: [Item]] = [:]

    mutating func submit(_ item: Item, to registration: UInt64, now: UnixMilliseconds) {
        var list = lists[registration] ?? []
        if let key = item.key {
            list.removeAll { $0.key == key }
            let others = list.filter { $0.key != nil }
            if others.count >= keys, let oldest = others.first { list.removeAll { $0 == oldest } }
        }
        list.append(item)
        let waiting = list.filter { $0.key == nil && $0.discarded == 0 }
        if waiting.count > plain {
            let before = list.reduce(0) { $0 + $1.discarded }
            list.removeAll { $0.key == nil }
            list.append(
                Item(
                    id: [], key: nil, expiresAt: now + Int64(Limits.Message.lifetimeSeconds) * 1_000,
                    discarded: before + waiting.count))
        }
        lists[registration] = list
    }

    mutating func expire(_ now: UnixMilliseconds) {
        for registration in lists.keys { lists[registration]?.removeAll { $0.expiresAt <= now } }
    }
}

@Suite struct ModelTests {
    /// What the store holds for a registration, in the words of the model.
    private func content(_ bench: Harness, _ registration: UInt64) -> [MailboxModel.Item] {
        // A crash may bring back what had been removed lazily; it is removed again before it counts.
        (bench.store.messages[device] ?? []).filter {
            $0.registration.number == registration && $0.expiresAt > bench.now.wall
        }.map {
            var count = 0
            if case .discardedMarker(let discarded) = $0.kind { count = discarded }
            return MailboxModel.Item(
                id: $0.messageID, key: $0.collapseKey.map { String(decoding: $0, as: UTF8.self) },
                expiresAt: $0.expiresAt, discarded: count)
        }
    }

    /// Runs both for so many steps; the first step after which they differ.
    private func firstDifference(seed: UInt64, keys: Int, plain: Int, modelKeys: Int) -> Int? {
        var random = SeededRandom(seed: seed)
        var settings = DeliverySettings()
        settings.collapseKeys = keys
        settings.storedMessages = plain
        settings.idleDevicesInMemory = 0
        let other = RegistrationName(device: device, number: RegistrationNumber(2))
        var store = Harness.withDevice().store
        var second = store.registrations[Harness.target]
        second?.name = other
        store.registrations[other] = second
        let bench = Harness(store: store, settings: settings)
        var model = MailboxModel(keys: modelKeys, plain: plain)
        for step in 0..<400 {
            switch Int.random(in: 0..<20, using: &random) {
            case 0:
                bench.advance(milliseconds: Int64.random(in: 500...9_000, using: &random))
                bench.post(.tick)
                model.expire(bench.now.wall)
            case 1:
                // In memory or not, in one turn or several: the result is the same.
                bench.crash(seed: seed &+ UInt64(step))
            default:
                let key = Bool.random(using: &random) ? "k\(Int.random(in: 0..<6, using: &random))" : nil
                let submission = Harness.submission(
                    UInt32(step), key: key, lifetime: Int.random(in: 1...40, using: &random),
                    to: Bool.random(using: &random) ? other : Harness.target)
                bench.post(.submitted(submission))
                model.submit(
                    MailboxModel.Item(
                        id: submission.content.messageID, key: key,
                        expiresAt: bench.now.wall + Int64(submission.content.lifetimeSeconds) * 1_000),
                    to: submission.target.number.number, now: bench.now.wall)
            }
            if Bool.random(using: &random) { bench.runTurns() }
            guard Int.random(in: 0..<3, using: &random) == 0 else {
                bench.settle()
                continue
            }
            bench.settle()
            for registration in [1, 2] as [UInt64]
            where content(bench, registration) != model.lists[registration] ?? [] { return step }
        }
        return bench.store.holds ? nil : -1
    }

    @Test("An absent device's mailbox is what the plain rules say", arguments: 0..<40 as Range<UInt64>)
    func sameAsModel(seed: UInt64) {
        #expect(firstDifference(seed: seed, keys: 3, plain: 7, modelKeys: 3) == nil)
    }

    @Test("Canary: a model with one collapse key fewer differs soon")
    func canary() {
        #expect(firstDifference(seed: 1, keys: 3, plain: 7, modelKeys: 2) != nil)
    }
}
