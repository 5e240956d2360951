import Basics
import Delivery
import Store

/// Turns the batches of one commit into a journal frame, changes of the recent messages, and writes to the engine.
///
/// One value serves all commits of an open store. After a failure its state is undefined, and it must be dropped.
struct Commit: ~Copyable {
    let engine: Engine
    private let memory: SeenFilter
    /// The recent messages: those that are not in the engine yet.
    var index: RecentIndex
    /// The journal frame of the commit.
    var frame = JournalWriter()
    /// The writes to the engine.
    let batch: EngineBatch
    /// The changes of the recent messages.
    private(set) var changes: [RecentChange] = []
    /// The buffer in which records are encoded, one at a time.
    var buffer = ByteBuffer()
    /// The tallies of the partitions, including this commit.
    var tallies: [Tally]
    /// The tallies of the partitions of `counting` before this commit, in the same order.
    private var countedBefore: [Tally] = []
    /// The messages that the current batch adds and ends.
    private var counts = (downstream: MilestoneCounts(), upstream: MilestoneCounts())
    /// The change of the number of pending messages, by the puts and removals of this commit.
    private var pendingChange = 0
    /// The partitions whose tallies this commit changes, and those whose tallies are newer than in the engine.
    private var counting = TouchedPartitions()
    var unrecorded = TouchedPartitions()
    /// The highest sequence in the engine. A message above it needs no lookup.
    var highest: UInt64
    /// Keys that this commit removes and the engine still has.
    private var removedKeys: Set<MessageKey> = []
    /// The number of the commit.
    private var number: UInt64 = 0
    /// The earliest expiry times among the writes to the engine.
    var earliestExpiries: EarliestExpiries
    /// Number of records that could not be removed because they cannot be read.
    private(set) var unreadable = 0
    /// Records put under the key of a recent message of an earlier commit. They must equal the stored record.
    private(set) var repeats: [(messageKey: MessageKey, record: [UInt8])] = []

    /// Creates the state of a store that was just opened and has no recent messages.
    init(_ engine: Engine, _ memory: SeenFilter, tallies: [Tally], highest: UInt64) {
        self.engine = engine
        self.memory = memory
        self.tallies = tallies
        self.highest = highest
        index = RecentIndex(partitions: engine.partitions)
        earliestExpiries = EarliestExpiries(partitions: engine.partitions)
        batch = EngineBatch(engine)
    }

    /// Starts the commit with a number.
    mutating func begin(_ number: UInt64) throws(StoreError) {
        try demand(number > 0 && number >= self.number, "the number of a commit decreases")
        self.number = number
        counting.removeAll()
        countedBefore.removeAll(keepingCapacity: true)
        pendingChange = 0
        frame.begin()
        batch.clear()
        changes.removeAll(keepingCapacity: changes.count <= Limits.Store.writesPerCommit)
        removedKeys.removeAll()
        repeats.removeAll()
        earliestExpiries.removeAll()
        unreadable = 0
    }

    /// Adds a batch.
    mutating func add(_ writes: WriteBatch) throws(StoreError) -> CommitOutcome {
        var outcome = CommitOutcome(batchNumber: writes.batchNumber)
        counts = (MilestoneCounts(), MilestoneCounts())
        var checks = try BatchChecks(writes, among: partitions)
        // Borrowed, since an iterator copies each mutation.
        let mutations = writes.mutations.span
        for index in mutations.indices {
            try checks.owns(mutations[index])
            try add(mutations[index], &outcome, &checks)
        }
        outcome.downstream = counts.downstream
        outcome.upstream = counts.upstream
        return outcome
    }

    /// Adds a setting of the server.
    mutating func put(setting name: String, _ value: [UInt8]) {
        let key = MetaKey.setting(name)
        put(.meta, key.raw, value.raw)
    }

    /// Adds the changed tallies and ends the commit. Returns whether it changes anything.
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
        try demand(counting.list.count == countedBefore.count, "a changed tally has no earlier value")
        var change = 0
        for (partition, before) in zip(counting.list, countedBefore) {
            try tallies[partition].demandFollows(before, partition: partition)
            change += tallies[partition].expectedPending - before.expectedPending
        }
        try demand(change == pendingChange, "the tallies do not match the messages of the commit")
    }

    /// Number of partitions.
    var partitions: Int { engine.partitions }
    func partition(of key: PartitionKey) -> Int { key.partition(of: engine.partitions) }
    func partition(of messageKey: MessageKey) -> Int { messageKey.partition(of: engine.partitions) }

    /// The tallies that this commit changes.
    var counted: [(partition: Int, tally: Tally)] { counting.list.map { ($0, tallies[$0]) } }

    /// Counts a message that passes a milestone.
    private mutating func count(_ milestone: Milestone, at messageKey: MessageKey, in partition: Int) {
        touchTally(of: partition)
        if messageKey.kind == .message {
            tallies[partition].downstream[milestone] += 1
            counts.downstream[milestone] += 1
        } else {
            tallies[partition].upstream[milestone] += 1
            counts.upstream[milestone] += 1
        }
    }

    private mutating func advanceLog(
        of partition: Int, to progress: LogProgress, _ checks: BatchChecks
    ) throws(StoreError) {
        try checks.advanceLog(of: partition)
        touchTally(of: partition)
        tallies[partition].log = progress
    }

    /// Has the commit write the tally of a partition.
    private mutating func touchTally(of partition: Int) {
        if counting.insert(partition) {
            countedBefore.append(tallies[partition])
            unrecorded.insert(partition)
        }
    }

    /// Adds a row to the engine.
    mutating func put(_ family: Family, _ key: borrowing RawSpan, _ value: borrowing RawSpan) {
        frame.put(family, key, value)
        batch.put(family, key, value)
    }

    /// Adds the record in the buffer to the engine.
    mutating func putRecord(_ family: Family, _ key: borrowing RawSpan) {
        frame.put(family, key, record: buffer)
        batch.put(family, key, buffer.bytes)
    }

    /// Removes a row from the engine.
    mutating func delete(_ family: Family, _ key: borrowing RawSpan) {
        frame.remove(family, key)
        batch.delete(family, key)
    }

    /// Inlined into the loop over a batch, since a call of its own would copy the mutation; each part is passed alone for the same reason.
    @inline(__always)
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
        case .putSchedule(let entry): put(entry)
        case .removeSchedule(let device, let sequence, let dueAt): unschedule(device, sequence, dueAt)
        case .markForGateway(let device): markForGateway(device)
        case .unmarkForGateway(let device): unmarkForGateway(device)
        case .putFeedback(let entry): put(entry)
        case .removeFeedback(let entry): remove(entry)
        case .putMark(let mark, let number): put(setting: mark.rawValue, StoreMark.bytes(number))
        case .advanceLog(let partition, let progress): try advanceLog(of: partition, to: progress, checks)
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
        case .putTopicMessage(let message): try put(message)
        case .removeTopicMessage(let name): remove(name)
        case .putTopicEntry(let entry, let partition): try put(entry, partition)
        case .putTopicProgress(let place, let progress, let partition): put(progress, at: place, partition)
        case .removeTopicEntry(let place, let partition): removeEntry(at: place, partition)
        case .putTopicMark(let mark, let partition):
            try checks.put(mark)
            put(mark, partition)
        case .putSharedBody(let shared, let partition, let time): try put(shared, partition, time)
        case .removeSharedBody(let name, let partition, let time): removeBody(name, partition, time)
        case .putTopicPosition(let device, let place):
            put(.registry, Key.position(device).bytes, Key(place.number).bytes)
        case .listForGateway(let subscription): list(subscription)
        case .unlistForGateway(let subscription): unlist(subscription)
        case .putMessage(let message):
            try checks.put(message)
            try put(message)
        case .removeMessage(let device, let sequence, let end, let reason):
            let place = MailboxPlace(.device(device), sequence)
            try remove(place, MessageKey(device, sequence), end, reason, &outcome, &checks)
        case .putUpstream(let message, let now):
            try checks.put(message)
            try put(message, now, &outcome)
        case .removeUpstream(let sender, let sequence, let end, let reason):
            let place = MailboxPlace(.sender(sender), sequence)
            try remove(place, MessageKey(sender, sequence), end, reason, &outcome, &checks)
        }
    }

    private mutating func put(_ message: StoredMessage) throws(StoreError) {
        try message.demandStorable()
        let (end, messageKey) = (ExpiryKey(message), MessageKey(message.device, message.sequence))
        let partition = partition(of: messageKey)
        MessageRecord.write(message, to: &buffer)
        guard try isFree(messageKey, in: partition) else { return }
        try put(messageKey, in: partition, end, isCounted: message.kind == .message)
        if message.kind == .message { count(.accepted, at: messageKey, in: partition) }
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
        let (end, messageKey) = (ExpiryKey(message), MessageKey(message.sender, message.sequence))
        let partition = partition(of: messageKey)
        UpstreamRecord.write(message, to: &buffer)
        guard try isFree(messageKey, in: partition) else { return }
        if let key {
            index.put(key, at: now, commit: number)
            frame.seen(key.key.bytes, time: Key(UInt64(bitPattern: now)).bytes)
        }
        try put(messageKey, in: partition, end, isCounted: message.kind == .message)
        if message.kind == .message { count(.accepted, at: messageKey, in: partition) }
    }

    /// Adds the record in the buffer as a recent message.
    private mutating func put(
        _ messageKey: MessageKey, in partition: Int, _ end: ExpiryKey, isCounted: Bool
    ) throws(StoreError) {
        try demand(
            end.owner == messageKey.owner && end.sequence == messageKey.sequence,
            "the expiry entry belongs to another message",
            "\(messageKey)")
        let header = MessageRecord.Header(isCounted: isCounted, expiresAt: end.time)
        let record = frame.put(messageKey, record: buffer)
        try demand(
            record.lowerBound >= JournalFrame.head && record.upperBound == frame.frame.count,
            "a record is not at the end of its frame", "\(messageKey)")
        changes.append(.put(messageKey, record: record, header))
        try index.put(messageKey, in: partition, header, commit: number)
        if isCounted { pendingChange += 1 }
    }

    /// Adds an entry to the expiry index for something other than a message.
    mutating func putExpiry(_ end: ExpiryKey, of partition: Int) {
        put(.expiry, Key.expiry(end, of: partition).bytes, Key().bytes)
        earliestExpiries.add(end.time, of: partition)
    }

    /// Removes an entry from the expiry index.
    mutating func deleteExpiry(_ end: ExpiryKey, of partition: Int) {
        delete(.expiry, Key.expiry(end, of: partition).bytes)
    }

    /// Removes a message with its expiry entry, and counts it if it counts. Returns whether there was one, readable or not.
    mutating func remove(
        _ messageKey: MessageKey, _ requestedEnd: UnixMilliseconds, _ reason: Milestone
    ) throws(StoreError) -> Bool {
        if let recent = index.remove(messageKey) {
            try demand(recent.commit <= number, "a recent message belongs to a later commit", "\(messageKey)")
            if recent.header.isCounted { countRemoval(reason, at: messageKey) }
            frame.remove(messageKey, end: recent.header.expiresAt)
            changes.append(.remove(messageKey))
            return true
        }
        guard messageKey.sequence <= highest else { return false }
        let presence = try enginePresence(at: messageKey)
        guard case .present(let header) = presence else {
            // The expiry entry is removed even if the record is gone or unreadable: otherwise every sweep would return it.
            if case .unreadable = presence { unreadable += 1 }
            deleteExpiry(ExpiryKey(messageKey, end: requestedEnd), of: partition(of: messageKey))
            return if case .unreadable = presence { true } else { false }
        }
        frame.remove(messageKey, end: header.expiresAt)
        batch.remove(messageKey, end: header.expiresAt)
        removedKeys.insert(messageKey)
        if header.isCounted { countRemoval(reason, at: messageKey) }
        return true
    }

    private mutating func countRemoval(_ reason: Milestone, at messageKey: MessageKey) {
        pendingChange -= 1
        count(reason, at: messageKey, in: partition(of: messageKey))
    }

    /// Returns whether a key is free for the record in the buffer. Throws `occupied` if the key has a different record.
    ///
    /// The lookup makes the tally exact: a message that is put again is not counted again.
    private mutating func isFree(_ messageKey: MessageKey, in partition: Int) throws(StoreError) -> Bool {
        // Sequences grow, so that hardly any put needs a lookup.
        if index.mayContain(messageKey.sequence, in: partition), let recent = index[messageKey] {
            if recent.commit < number {
                repeats.append((messageKey, buffer.copied()))
            } else {
                try demandSame(recordMade(at: messageKey), at: messageKey)
            }
            return false
        }
        if messageKey.sequence > highest || removedKeys.contains(messageKey) { return true }
        let key = Key(messageKey.owner, messageKey.sequence)
        let isSame = try engine.get(messageKey.family, key.bytes) { (bytes) throws(StoreError) in
            bytes.equals(buffer.bytes)
        }
        guard let isSame else { return true }
        try demandSame(isSame, at: messageKey)
        return false
    }

    /// Returns whether this commit has put the record in the buffer under a key.
    private func recordMade(at messageKey: MessageKey) -> Bool {
        for case .put(messageKey, let record, _) in changes.reversed() {
            return frame.frame.bytes.extracting(record).equals(buffer.bytes)
        }
        return false
    }

    /// Compares records that were put again with the recent messages. Throws `occupied` if one is different.
    func demandSame(as recent: borrowing RecentMessages) throws(StoreError) {
        for (messageKey, record) in repeats {
            guard let found = recent.row(at: messageKey)?.row else {
                return try demandSame(false, at: messageKey)
            }
            try demandSame(found.record.equals(record.raw), at: messageKey)
        }
    }

    private func demandSame(_ isSame: Bool, at messageKey: MessageKey) throws(StoreError) {
        guard !isSame else { return }
        throw StoreError(.occupied, "\(messageKey): the key already has another message")
    }

    /// Looks up a key in the engine, without what this commit removes.
    private func enginePresence(at messageKey: MessageKey) throws(StoreError) -> MessageKey.Presence {
        if messageKey.sequence > highest || removedKeys.contains(messageKey) { return .absent }
        let key = Key(messageKey.owner, messageKey.sequence)
        let found = try engine.get(messageKey.family, key.bytes) {
            (bytes) throws(StoreError) -> MessageKey.Presence in
            do throws(RecordFault) {
                return .present(try messageKey.header(bytes))
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
