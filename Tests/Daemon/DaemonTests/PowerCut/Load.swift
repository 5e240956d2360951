import Basics
import Delivery
import RocksStore
import Store

/// Generates the batches of one round of a world from its seed, the round and the earlier content.
struct Load {
    static let devices = (1...5).map { DeviceID(UInt64($0)) }
    static let senders = (1...2).map { SenderID(UInt64($0)) }
    /// The device whose mailbox has a marker for each lazy batch.
    ///
    /// A durable batch adds a sender's record, which the engine gets at once; a marker stays in the journal, so that a lazy commit
    /// can be unsynced for long.
    static let ledger = DeviceID(99)
    /// Returns sizes so small that every round writes and compacts sorted files.
    ///
    /// In a third of the worlds messages stay among the recent messages for long, in another third they are flushed to the
    /// engine at once.
    static func sizes(seed: UInt64) -> EngineSizes {
        var sizes = EngineSizes()
        sizes.buffers = 393_216
        sizes.segment = 16_384
        sizes.journal = 65_536
        sizes.recent = [0, 32_768, 1_048_576][Int(seed % 3)]
        return sizes
    }

    private static let day: UnixMilliseconds = 86_400_000
    private static let now: UnixMilliseconds = 1_700_000_000_000

    /// The expected content after all batches so far.
    private(set) var model: StoreModel
    private var random: SeededRandom
    private var place: UInt64
    /// The request ID of the last batch.
    private(set) var batchNumber: UInt64
    /// Number of further lazy batches: more than may wait, so that commits without a durable batch occur.
    private var lazyLeft = 0

    /// The surviving batches of a round: those up to `end`, except the failed ones in `missing`.
    struct Ending: Sendable {
        var end: UInt64
        var missing: [UInt64] = []

        init(end: UInt64, missing: [UInt64]) {
            self.end = end
            self.missing = missing
        }

        init(text: Substring) {
            let numbers = text.split(separator: ".").compactMap { UInt64($0) }
            self.init(end: numbers.first ?? 0, missing: Array(numbers.dropFirst()))
        }

        var text: String { ([end] + missing).map { "\($0)" }.joined(separator: ".") }

        func has(_ batch: WriteBatch) -> Bool {
            batch.batchNumber <= end && !missing.contains(batch.batchNumber)
        }
    }

    init(seed: UInt64, round: Int, model: StoreModel) {
        self.model = model
        random = SeededRandom(seed: seed &* 1_000_003 &+ UInt64(round))
        // Numbers of lost batches are not reused.
        place = UInt64(round + 1) << 24
        batchNumber = place
    }

    /// Returns the expected content of a world after its rounds.
    static func model(seed: UInt64, endings: [Ending]) -> StoreModel {
        var model = StoreModel()
        for (round, ending) in endings.enumerated() {
            var load = Load(seed: seed, round: round, model: model)
            while load.batchNumber < ending.end {
                let batch = load.next()
                if ending.has(batch) { model.apply(batch) }
            }
        }
        return model
    }

    mutating func next() -> WriteBatch {
        var mutations: [Mutation] = []
        var isDurable = true
        if lazyLeft == 0, Int.random(in: 0..<40, using: &random) == 0 { lazyLeft = 20 }
        lazyLeft = max(0, lazyLeft - 1)
        switch lazyLeft > 0 ? 9 : Int.random(in: 0..<10, using: &random) {
        case 0...3:
            for _ in 0...Int.random(in: 0...2, using: &random) { mutations.append(.putMessage(message())) }
        case 4: mutations = replacement()
        case 5, 6: mutations.append(.putUpstream(upstream(), now: Self.now))
        default:
            mutations = removals()
            isDurable = false
        }
        batchNumber += 1
        mutations.append(
            isDurable
                ? .putSender(SenderRecord(sender: SenderID(batchNumber), label: "", keys: [], createdAt: 0))
                : .putMessage(marker()))
        let batch = WriteBatch(batchNumber: batchNumber, mutations: mutations, isDurable: isDurable)
        model.apply(batch)
        return batch
    }

    private mutating func body() -> EncodedAppData {
        let count = Int.random(in: 0...3, using: &random) == 0 ? 4_096 : 600
        return (0..<Int.random(in: 0...count, using: &random)).map { _ in
            UInt8.random(in: 0...255, using: &random)
        }
    }

    private mutating func message() -> StoredMessage {
        place += 1
        let device = Self.devices[Int.random(in: 0..<Self.devices.count, using: &random)]
        return StoredMessage(
            device: device, sequence: SequenceNumber(place), salt: UInt32(truncatingIfNeeded: place),
            registration: RegistrationNumber(1), sender: Self.senders[0],
            messageID: Array("m\(place)".utf8), acceptedAt: Self.now, expiresAt: Self.now + Self.day,
            body: body())
    }

    private func marker() -> StoredMessage {
        StoredMessage(
            device: Self.ledger, sequence: SequenceNumber(batchNumber), salt: 1,
            registration: RegistrationNumber(1),
            sender: nil, kind: .discardedMarker(count: 1), messageID: [], acceptedAt: Self.now,
            expiresAt: Self.now + Self.day, body: [])
    }

    private mutating func upstream() -> StoredUpstream {
        place += 1
        let sender = Self.senders[Int.random(in: 0..<Self.senders.count, using: &random)]
        return StoredUpstream(
            sender: sender, sequence: SequenceNumber(place),
            from: RegistrationName(device: Self.devices[0], number: RegistrationNumber(1)),
            category: Array("com.example".utf8), messageID: Array("u\(place)".utf8),
            persistentID: Array("p\(place)".utf8), expiresAt: Self.now + Self.day, lifetimeSeconds: 3_600,
            body: body())
    }

    /// Returns mutations that replace a message atomically.
    private mutating func replacement() -> [Mutation] {
        let message = message()
        guard let old = model.mailboxes[message.device]?.first else { return [.putMessage(message)] }
        return [
            .removeMessage(old.device, old.sequence, expiresAt: old.expiresAt, reason: .replaced),
            .putMessage(message),
        ]
    }

    /// Returns removals by acknowledgement: lazy, and more than the additions once many messages are stored.
    private mutating func removals() -> [Mutation] {
        var mutations: [Mutation] = []
        let device = Self.devices[Int.random(in: 0..<Self.devices.count, using: &random)]
        for message in (model.mailboxes[device] ?? []).prefix(Int.random(in: 0...8, using: &random)) {
            mutations.append(
                .removeMessage(device, message.sequence, expiresAt: message.expiresAt, reason: .delivered))
        }
        let sender = Self.senders[Int.random(in: 0..<Self.senders.count, using: &random)]
        for message in (model.outboxes[sender] ?? []).prefix(Int.random(in: 0...4, using: &random)) {
            mutations.append(
                .removeUpstream(sender, message.sequence, expiresAt: message.expiresAt, reason: .delivered))
        }
        return mutations
    }
}
