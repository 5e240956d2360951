import Basics
import Delivery
import Store

/// The log of each partition has each topic message once, until a newer one with its collapse key, its expiry, or the discard of too many
/// ends it. What stands for discarded messages counts them.
struct TopicLogChecker {
    /// A topic message in the log of a partition.
    struct Copy: Hashable {
        var message: TopicMessageName
        var partition: Int
    }

    struct Place: Hashable {
        var partition: Int
        var sequence: SequenceNumber
    }

    /// What stands for discarded messages.
    struct Marker {
        let message: TopicMessage
        let count: Int
        let last: SequenceNumber
        let writtenAt: Int64
        /// The last of those messages; `nil` if another marker is at its place.
        let lastMessage: TopicMessageName?
        /// Whether messages have come or gone since it was written, or others are discarded as well, so that its count may differ.
        var isDisturbed: Bool
    }

    private struct Collapse: Hashable {
        var partition: Int
        var sender: SenderID
        var topics: [TopicName]
        var truth: UInt32
        var isCondition: Bool
        var key: [UInt8]

        init?(_ message: TopicMessage, _ partition: Int) {
            guard let key = message.collapseKey else { return nil }
            (self.partition, sender, self.key) = (partition, message.name.sender, key)
            (topics, truth) = (message.target.topics, message.target.truth)
            isCondition = message.target.isCondition
        }
    }

    private struct Batch: Hashable {
        var partition: Int
        var number: UInt64
    }

    /// The live entries, from the view of the process; also those that are on their way to the disk.
    private(set) var entries: [Place: TopicEntry] = [:]
    private(set) var markers: [Place: Marker] = [:]
    /// The messages that were discarded, and what stood for each first.
    private(set) var discarded: [Copy: Place] = [:]
    /// What stands for a marker that was discarded itself.
    private var successors: [Place: Place] = [:]
    /// The logs that have each topic message on disk, and since when their partitions have it in memory.
    private(set) var copies: Set<Copy> = []
    private(set) var copiedAt: [Copy: Int64] = [:]
    /// The newest place of each collapse key.
    private var newest: [Collapse: SequenceNumber] = [:]
    private var batches: [Batch: [SequenceNumber]] = [:]

    /// Records that a batch is on its way to the disk.
    mutating func submitted(_ batch: WriteBatch, _ partition: Int) {
        for case .putTopicEntry(let entry, _) in batch.mutations {
            batches[Batch(partition: partition, number: batch.batchNumber), default: []].append(
                entry.sequence)
        }
    }

    mutating func synced(_ entry: TopicEntry, _ partition: Int) {
        copies.insert(Copy(message: entry.message.name, partition: partition))
    }

    mutating func copied(_ copy: Copy, _ world: World) {
        if copiedAt[copy] == nil { copiedAt[copy] = world.clock.nanoseconds }
    }

    /// Takes over what a crash has left.
    mutating func rolledBack(to state: MemoryState) {
        entries = [:]
        batches = [:]
        for partition in 0..<state.partitions {
            for entry in state.topicLog(partition) {
                entries[Place(partition: partition, sequence: entry.sequence)] = entry
            }
        }
        for place in markers.keys { markers[place]?.isDisturbed = true }
    }

    mutating func check(_ step: CoreStep, _ world: World) {
        if case .partition(.committed(let outcome)) = step.event {
            let batch = Batch(partition: step.partition, number: outcome.batchNumber)
            let places = batches.removeValue(forKey: batch) ?? []
            if outcome.hasFailed { drop(places, step.partition, world) }
        }
        var added: [TopicMessage] = []
        /// How many messages each marker has ended in this step.
        var counts: [Place: Int] = [:]
        for mutation in step.mutations {
            switch mutation {
            case .putTopicEntry(let entry, let partition):
                put(entry, Place(partition: partition, sequence: entry.sequence), after: added, world)
                added.append(entry.message)
            case .removeTopicEntry(let sequence, let partition):
                remove(Place(partition: partition, sequence: sequence), &counts, world)
            default: break
            }
        }
        for (place, count) in counts {
            guard let marker = markers[place], !marker.isDisturbed else { continue }
            markers[place]?.isDisturbed = true
            if marker.count != count {
                world.fail("topics", "a marker counts \(marker.count) messages, but \(count) were discarded")
            }
        }
    }

    /// Forgets what a failed batch has not put.
    private mutating func drop(_ places: [SequenceNumber], _ partition: Int, _ world: World) {
        let found = Set(world.disk.state.topicLog(partition).map(\.sequence))
        for sequence in places where !found.contains(sequence) {
            entries[Place(partition: partition, sequence: sequence)] = nil
        }
    }

    private mutating func put(
        _ entry: TopicEntry, _ place: Place, after added: [TopicMessage], _ world: World
    ) {
        if case .discarded(let count, let last) = entry.kind {
            world.reached(.topicDiscarded)
            let ended = entries[Place(partition: place.partition, sequence: last)]
            markers[place] = Marker(
                message: entry.message, count: count, last: last, writtenAt: world.clock.nanoseconds,
                lastMessage: ended.flatMap { $0.kind == .message ? $0.message.name : nil },
                isDisturbed: added.contains { $0.messageID.isEmpty || Self.leads($0, to: entry.message) })
        } else {
            let name = entry.message.name
            let isThere = entries.contains {
                $0.key.partition == place.partition && $0.value.message.name == name
                    && $0.value.kind == .message
            }
            if isThere { world.fail("topics", "\(name.sequence.number) is in a log twice") }
            if let key = Collapse(entry.message, place.partition) {
                newest[key] = max(newest[key] ?? place.sequence, place.sequence)
            }
        }
        entries[place] = entry
    }

    private mutating func remove(_ place: Place, _ counts: inout [Place: Int], _ world: World) {
        guard let gone = entries.removeValue(forKey: place) else { return }
        let copy = Copy(message: gone.message.name, partition: place.partition)
        let marker = markers.filter {
            $0.key.partition == place.partition && $0.value.last >= place.sequence && entries[$0.key] != nil
                && Self.leads(gone.message, to: $0.value.message)
        }.keys.min { $0.sequence < $1.sequence }
        if case .discarded(let count, _) = gone.kind {
            if let marker {
                successors[place] = marker
                counts[marker, default: 0] += count
            } else if gone.message.expiresAt > world.latestWall {
                world.fail("topics", "a marker left a log for no reason")
            }
            return
        }
        if gone.message.expiresAt <= world.latestWall { return disturb(place.partition) }
        if let marker {
            discarded[copy] = marker
            counts[marker, default: 0] += 1
            return
        }
        let newer = Collapse(gone.message, place.partition).flatMap { newest[$0] } ?? place.sequence
        if newer <= place.sequence {
            world.fail("topics", "\(gone.message.name.sequence.number) left a log for no reason")
        }
        disturb(place.partition)
    }

    /// The count of what is about to be discarded may differ.
    private mutating func disturb(_ partition: Int) {
        for place in markers.keys where place.partition == partition { markers[place]?.isDisturbed = true }
    }

    /// Whether a message is one of those that a marker ends.
    static func leads(_ message: TopicMessage, to marker: TopicMessage) -> Bool {
        guard message.name.sender == marker.name.sender, let first = marker.target.passes.first else {
            return false
        }
        return message.target.passes.contains { pass in
            switch (pass, first) {
            case (.everyone, .everyone): true
            case (.topic(let a), .topic(let b)): message.target.topics[a] == marker.target.topics[b]
            default: false
            }
        }
    }

    /// Returns all markers that have stood for a message; none if it was not discarded.
    func markers(for copy: Copy) -> [Place] {
        var found: [Place] = []
        var next = discarded[copy]
        while let place = next, !found.contains(place) {
            found.append(place)
            next = successors[place]
        }
        return found
    }

    /// Returns how the log of a partition on disk differs from what the process has.
    func findings(_ world: World) -> [String] {
        var found: [String] = []
        for partition in 0..<world.settings.partitions {
            let rows = Set(world.disk.state.topicLog(partition).map(\.sequence))
            let live = Set(entries.keys.lazy.filter { $0.partition == partition }.map(\.sequence))
            if rows != live {
                found.append(
                    "the log of partition \(partition) has \(rows.count) rows of \(live.count) entries")
            }
        }
        return found
    }
}
