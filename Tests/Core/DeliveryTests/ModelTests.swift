import Basics
import Delivery
import Testing

/// A second, simple implementation of the mailbox rules: one list of messages for each registration.
struct MailboxModel {
    struct Item: Equatable {
        var id: [UInt8]
        var key: String?
        var expiresAt: UnixMilliseconds
        /// The number of messages that a marker replaces; 0 for a message.
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
    /// The store's messages of a registration in the form of the model.
    private func content(_ bench: Harness, _ registration: UInt64) -> [MailboxModel.Item] {
        // A crash may restore messages that were removed lazily; they are removed again before they count.
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

    /// Runs both for a number of steps. Returns the first step after which they differ.
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
                // The result must be the same whether the device is in memory or not, and in one turn or several.
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

    @Test("The mailbox of an offline device matches the model", arguments: 0..<40 as Range<UInt64>)
    func sameAsModel(seed: UInt64) {
        #expect(firstDifference(seed: seed, keys: 3, plain: 7, modelKeys: 3) == nil)
    }

    @Test("Canary: a model with one collapse key fewer differs")
    func canary() {
        #expect(firstDifference(seed: 1, keys: 3, plain: 7, modelKeys: 2) != nil)
    }
}
