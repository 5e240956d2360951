import Basics
import Delivery
import Store

/// Decides what the batches of one commit change: what stands in its frame of the journal, and from there among the young
/// messages and in the engine. Made once for an open store, and used again for each commit; after a failure it is worth nothing.
struct Commit: ~Copyable {
    private let engine: Engine
    private let memory: SeenMemory
    /// The messages that are not in the engine yet.
    var index = YoungIndex()
    /// The frame of the commit.
    var frame = JournalWriter()
    /// What the engine is to be told.
    let batch: EngineBatch
    /// What changes among the young messages.
    private(set) var changes: [YoungChange] = []
    /// Records are made here, one after the other.
    var buffer = ByteBuffer()
    /// What each partition has counted, this commit included.
    private var tallies: [Tally]
    /// What the partitions of `counting` had counted before this commit, in the same order.
    private var countedBefore: [Tally] = []
    /// How many more messages are pending after this commit, by what it puts and removes.
    private var pendingChange = 0
    /// The partitions that count something in this commit, and those of whose counts the engine has not been told.
    private var counting = TouchedPartitions()
    private var untold = TouchedPartitions()
    /// The highest sequence that the engine has: behind it there is nothing to look up.
    private var highest: UInt64
    /// What the engine has still, and this commit has removed.
    private var gone: Set<Place> = []
    /// The number that the commit will have.
    private var number: UInt64 = 0
    /// The earliest ends among what the engine is told.
    private(set) var earliestEnds: EarliestEnds
    /// Records that were to be removed and could not be read; they stay.
    private(set) var unreadable = 0
    /// Records that were to be put where a message of an earlier commit is young: they must be the same.
    private(set) var repeats: [(place: Place, record: [UInt8])] = []

    /// For a store that was just opened: nothing is young.
    init(_ engine: Engine, _ memory: SeenMemory, tallies: [Tally], highest: UInt64) {
        self.engine = engine
        self.memory = memory
        self.tallies = tallies
        self.highest = highest
        earliestEnds = EarliestEnds(partitions: engine.partitions)
        batch = EngineBatch(engine)
    }

    /// Begins the commit that will have a number.
    mutating func begin(_ number: UInt64) throws(StoreError) {
        try demand(number > 0 && number >= self.number, "the number of a commit goes back")
        self.number = number
        counting.removeAll()
        countedBefore.removeAll(keepingCapacity: true)
        pendingChange = 0
        frame.begin()
        batch.clear()
        changes.removeAll(keepingCapacity: changes.count <= Limits.Store.writesPerCommit)
        gone.removeAll()
        repeats.removeAll()
        earliestEnds.removeAll()
        unreadable = 0
    }

    /// Adds a batch.
    mutating func add(_ writes: WriteBatch) throws(StoreError) -> CommitOutcome {
        var outcome = CommitOutcome(batchNumber: writes.batchNumber)
        var checks = try BatchChecks(writes, among: partitions)
        for mutation in writes.mutations { try add(mutation, &outcome, &checks) }
        return outcome
    }

    /// Adds a setting of the server.
    mutating func put(setting name: String, _ value: [UInt8]) {
        let key = MetaKey.setting(name)
        put(.meta, key.raw, value.raw)
    }

    /// Ends it, with what was counted; whether it changes anything.
    mutating func end() throws(StoreError) -> Bool {
        try checkCounts()
        for partition in counting.list {
            tallies[partition].write(of: partition, to: &buffer)
            frame.tally(partition, buffer)
        }
        return !frame.isEmpty
    }

    /// Checks that the counts of this commit follow from the messages that it puts and removes.
    private func checkCounts() throws(StoreError) {
        try demand(counting.list.count == countedBefore.count, "a partition counts without a count before")
        var change = 0
        for (partition, before) in zip(counting.list, countedBefore) {
            try tallies[partition].demandFollows(before, partition: partition)
            change += tallies[partition].expectedPending - before.expectedPending
        }
        try demand(change == pendingChange, "the counts do not follow from the messages of the commit")
    }

    /// The number of partitions, and the one that has a key.
    var partitions: Int { engine.partitions }
    func partition(of key: PartitionKey) -> Int { key.partition(of: engine.partitions) }

    /// What the partitions that count something in this commit have counted.
    var counted: [(partition: Int, tally: Tally)] { counting.list.map { ($0, tallies[$0]) } }

    /// Counts a message that has passed a milestone.
    private mutating func count(_ milestone: Milestone, at place: Place) {
        let partition = partition(of: place.key)
        if counting.insert(partition) { countedBefore.append(tallies[partition]) }
        untold.insert(partition)
        if place.kind == .message {
            tallies[partition].downstream[milestone] += 1
        } else {
            tallies[partition].upstream[milestone] += 1
        }
    }

    /// Puts a row into the engine.
    mutating func put(_ family: Family, _ key: borrowing RawSpan, _ value: borrowing RawSpan) {
        frame.put(family, key, value)
        batch.put(family, key, value)
    }

    /// Puts the record in the buffer as a row.
    mutating func putRecord(_ family: Family, _ key: borrowing RawSpan) {
        frame.put(family, key, record: buffer)
        batch.put(family, key, buffer.bytes)
    }

    /// Removes a row from the engine.
    mutating func delete(_ family: Family, _ key: borrowing RawSpan) {
        frame.remove(family, key)
        batch.delete(family, key)
    }

    private mutating func add(
        _ mutation: Mutation, _ outcome: inout CommitOutcome, _ checks: inout BatchChecks
    ) throws(StoreError) {
        switch mutation {
        case .putDevice(let record): try put(record)
        case .putRegistration(let registration):
            try registration.demandStorable()
            RegistryRecord.write(registration, to: &buffer)
            putRecord(.registry, Key.registration(registration.name).bytes)
        case .removeRegistration(let name): delete(.registry, Key.registration(name).bytes)
        case .removeDevice(let device): remove(device)
        case .putMark(let mark, let number): put(setting: mark.rawValue, StoreMark.bytes(number))
        case .putGroup(let group): try put(group)
        case .removeGroup(let name, let label): remove(name, label: label)
        case .putSubscription(let subscription):
            SubscriptionRecord.write(subscription, to: &buffer)
            putRecord(.registry, TopicKey.subscription(subscription).raw)
            let key = TopicKey.subscriber(subscription.sender, subscription.topic, subscription.name)
            put(.topics, key.raw, Key().bytes)
        case .removeSubscription(let subscription):
            delete(.registry, TopicKey.subscription(subscription).raw)
            let key = TopicKey.subscriber(subscription.sender, subscription.topic, subscription.name)
            delete(.topics, key.raw)
        case .linkInstallation(let installation, let name):
            try InstallationRecord.demandKey(installation)
            put(.installations, Key.installation(installation, name).bytes, Key().bytes)
        case .unlinkInstallation(let installation, let name):
            delete(.installations, Key.installation(installation, name).bytes)
        case .putInstallation(let record): try put(record)
        case .removeInstallation(let id): remove(installation: id)
        case .putSender(let record):
            try record.demandStorable()
            RegistryRecord.write(record, to: &buffer)
            putRecord(.senders, Key(record.sender.number).bytes)
        case .removeSender(let sender): delete(.senders, Key(sender.number).bytes)
        case .putTopicJob(let job): try put(job)
        case .advanceTopicJob(let job, let cursor, let marked): try advance(job, to: cursor, marked)
        case .removeTopicJob(let job, let marked): remove(job, marked)
        case .removeTopicBody(let job, let time): removeBody(of: job, time)
        case .putMessage(let message):
            try checks.put(message)
            try put(message)
        case .removeMessage(let device, let sequence, let end, let reason):
            try checks.remove(.device(device), reason)
            let place = Place(kind: .message, owner: device.number, sequence: sequence.number)
            if try remove(place, end) { count(reason, at: place) }
        case .putUpstream(let message, let now):
            try checks.put(message)
            try put(message, now, &outcome)
        case .removeUpstream(let sender, let sequence, let end, let reason):
            try checks.remove(.sender(sender), reason)
            let place = Place(kind: .upstream, owner: sender.number, sequence: sequence.number)
            if try remove(place, end) { count(reason, at: place) }
        case .returnUpstream(let sender, let sequence, let end, let report):
            if let report {
                try report.demandReport()
                try checks.put(report)
            }
            let place = Place(kind: .upstream, owner: sender.number, sequence: sequence.number)
            guard try remove(place, end) else {
                outcome.duplicates.append((sender, sequence))
                return
            }
            count(.expired, at: place)
            if let report { try put(report) }
        }
    }

    private mutating func put(_ message: StoredMessage) throws(StoreError) {
        try message.demandStorable()
        let end = ExpiryKey(message)
        let place = Place(kind: .message, owner: end.owner, sequence: end.sequence)
        MessageRecord.write(message, to: &buffer)
        guard try isFree(place) else { return }
        try put(place, end, isCounted: message.kind == .message)
        mark(message)
        if message.kind == .message { count(.accepted, at: place) }
    }

    private mutating func put(
        _ message: StoredUpstream, _ now: UnixMilliseconds, _ outcome: inout CommitOutcome
    ) throws(StoreError) {
        try message.demandStorable()
        memory.advance(to: now)
        let key = message.persistentID.isEmpty ? nil : SeenKey(message)
        if let key, try isRepeated(key, now) {
            outcome.duplicates.append((message.sender, message.sequence))
            return
        }
        let end = ExpiryKey(message)
        let place = Place(kind: .upstream, owner: end.owner, sequence: end.sequence)
        UpstreamRecord.write(message, to: &buffer)
        guard try isFree(place) else { return }
        if let key {
            index.put(key, at: now, commit: number)
            frame.seen(key.key.bytes, time: Key(UInt64(bitPattern: now)).bytes)
        }
        try put(place, end, isCounted: message.kind == .message)
        if message.kind == .message { count(.accepted, at: place) }
    }

    /// Puts the record in the buffer.
    private mutating func put(_ place: Place, _ end: ExpiryKey, isCounted: Bool) throws(StoreError) {
        try demand(
            end.owner == place.owner && end.sequence == place.sequence, "an expiry of another message",
            "\(place)")
        let header = MessageRecord.Header(isCounted: isCounted, expiresAt: end.time)
        let record = frame.put(place, record: buffer)
        try demand(
            record.lowerBound >= JournalFrame.head && record.upperBound == frame.frame.count,
            "a record is not at the end of its frame", "\(place)")
        changes.append(.put(place, record: record, header))
        try index.put(place, header, commit: number)
        if isCounted { pendingChange += 1 }
    }

    /// Puts an end of something that is no message.
    mutating func putEnd(_ end: ExpiryKey) {
        put(.expiry, Key.expiry(end, among: partitions).bytes, Key().bytes)
        earliestEnds.add(end.time, of: partition(of: end.key))
    }

    /// Removes such an end.
    mutating func deleteEnd(_ end: ExpiryKey) {
        delete(.expiry, Key.expiry(end, among: partitions).bytes)
    }

    /// Removes a message with its end; whether it is to be counted.
    private mutating func remove(_ place: Place, _ told: UnixMilliseconds) throws(StoreError) -> Bool {
        if let young = index.remove(place) {
            try demand(young.commit <= number, "a message was put by a commit to come", "\(place)")
            if young.header.isCounted { pendingChange -= 1 }
            frame.remove(place, end: young.header.expiresAt)
            changes.append(.remove(place))
            return young.header.isCounted
        }
        guard place.sequence <= highest else { return false }
        let presence = try settledPresence(at: place)
        guard case .present(let header) = presence else {
            // The end goes even where the record is gone or cannot be read, so that no sweep meets it for ever.
            if case .unreadable = presence { unreadable += 1 }
            deleteEnd(ExpiryKey(place, end: told))
            return false
        }
        frame.remove(place, end: header.expiresAt)
        batch.remove(place, end: header.expiresAt)
        gone.insert(place)
        if header.isCounted { pendingChange -= 1 }
        return header.isCounted
    }

    /// Whether nothing stands at a place, this commit included, for the record in the buffer. The lookup is what makes the tally
    /// exact. Throws `occupied` where anything but the same record stands there.
    private mutating func isFree(_ place: Place) throws(StoreError) -> Bool {
        // Sequences grow: hardly any message is put where another one may stand.
        if place.sequence <= index.highest, let young = index[place] {
            if young.commit < number {
                repeats.append((place, buffer.copied()))
            } else {
                try demandSame(recordMade(at: place), at: place)
            }
            return false
        }
        if place.sequence > highest || gone.contains(place) { return true }
        let key = Key(place.owner, place.sequence)
        let isSame = try engine.get(place.family, key.bytes) { (bytes) throws(StoreError) in
            bytes.equals(buffer.bytes)
        }
        guard let isSame else { return true }
        try demandSame(isSame, at: place)
        return false
    }

    /// Whether this commit has put the record in the buffer at a place.
    private func recordMade(at place: Place) -> Bool {
        for case .put(place, let record, _) in changes.reversed() {
            return frame.frame.bytes.extracting(record).equals(buffer.bytes)
        }
        return false
    }

    /// Compares what was to be put at places of young messages with what stands there. Throws `occupied` where it is not the same.
    func demandSame(as young: borrowing Young) throws(StoreError) {
        for (place, record) in repeats {
            guard let found = young.row(at: place)?.row else { return try demandSame(false, at: place) }
            try demandSame(found.record.equals(record.raw), at: place)
        }
    }

    private func demandSame(_ isSame: Bool, at place: Place) throws(StoreError) {
        guard !isSame else { return }
        throw StoreError(.occupied, "\(place): another message is there already")
    }

    /// What stands at a place in the engine, and will still when this commit is done.
    private func settledPresence(at place: Place) throws(StoreError) -> Place.Presence {
        if place.sequence > highest || gone.contains(place) { return .absent }
        let key = Key(place.owner, place.sequence)
        let found = try engine.get(place.family, key.bytes) { (bytes) throws(StoreError) -> Place.Presence in
            do throws(RecordFault) {
                return .present(try place.header(bytes))
            } catch { return .unreadable }
        }
        return found ?? .absent
    }

    private func isRepeated(_ key: SeenKey, _ now: UnixMilliseconds) throws(StoreError) -> Bool {
        if let time = index[key] { return Upstreams.isRemembered(time, at: now) }
        let time = try engine.get(.seen, key.key.bytes, onDisk: true) { (bytes) throws(StoreError) -> Int64 in
            bytes.byteCount == 8 ? Int64(bitPattern: bytes.bigEndian(at: 0)) : .min / 2
        }
        return time.map { Upstreams.isRemembered($0, at: now) } ?? false
    }
}

// MARK: Settling

extension Commit {
    /// Adds the messages that have outlived their time in memory to what the engine is told.
    mutating func settle(
        _ survivors: YoungIndex.Survivors, from young: borrowing Young
    ) throws(StoreError) {
        for place in survivors.places {
            let (row, end) = try demand(
                young.row(at: place), "a message goes to the engine that is not in memory", "\(place)")
            try demand(place.sequence <= index.highest, "a sequence is above the highest", "\(place)")
            batch.put(place, row.record, end: end)
            earliestEnds.add(end, of: partition(of: place.key))
            highest = max(highest, place.sequence)
        }
        for (key, time) in survivors.seen {
            batch.put(.seen, key.key.bytes, Key(UInt64(bitPattern: time)).bytes)
        }
    }

    /// Notes that the engine has all up to a commit, and what was counted.
    mutating func note(settled commit: UInt64) {
        for partition in untold.list {
            tallies[partition].write(of: partition, to: &buffer)
            let key = MetaKey.tally(partition)
            batch.put(.meta, key.raw, buffer.bytes)
        }
        untold.removeAll()
        engine.note(settled: commit, highest: highest, in: batch)
    }
}
