import Basics
import Delivery
import Store

/// Turns the batches of one commit into one batch of the engine.
///
/// The engine's batch cannot be looked into, so what this commit has already changed is remembered beside it.
struct Commit: ~Copyable {
    private let engine: Engine
    private let memory: SeenMemory
    let batch: EngineBatch
    var buffer = ByteBuffer()
    /// What stands at places that this commit, or one not long before it, has changed.
    private(set) var recent: RecentPlaces
    private var seen: [SeenPlace: UnixMilliseconds] = [:]
    /// The tally with what this commit counts.
    private(set) var tally: Tally
    /// The earliest end among what this commit puts.
    private(set) var earliestEnd = UnixMilliseconds.max
    /// Records that were to be removed and could not be read; they stay.
    private(set) var unreadable = 0

    private struct SeenPlace: Hashable {
        var device: DeviceID
        var category: [UInt8]
        var persistentID: [UInt8]
    }

    /// Begins with what was counted before, and what is known of places.
    init(_ engine: Engine, _ memory: SeenMemory, tally: Tally, recent: RecentPlaces) {
        self.recent = recent
        self.engine = engine
        self.memory = memory
        self.tally = tally
        batch = EngineBatch(engine)
    }

    /// Adds a batch.
    mutating func add(_ writes: WriteBatch) throws(StoreError) -> CommitOutcome {
        var outcome = CommitOutcome(ticket: writes.ticket)
        for mutation in writes.mutations { try add(mutation, &outcome) }
        return outcome
    }

    /// Writes everything, and the tally with it.
    mutating func write(sync: Bool, countedBefore: Tally) throws(StoreError) {
        if tally != countedBefore {
            tally.write(to: &buffer)
            let key = MetaKey.tally
            batch.put(.meta, key.raw, buffer.bytes)
        }
        // A durable batch that changes nothing still promises that what came before it is on disk.
        guard sync || !batch.isEmpty else { return }
        try engine.write(batch, sync: sync)
    }

    private mutating func add(_ mutation: Mutation, _ outcome: inout CommitOutcome) throws(StoreError) {
        switch mutation {
        case .putDevice(let record):
            RegistryRecord.write(record, to: &buffer)
            batch.put(.registry, Key.device(record.device).bytes, buffer.bytes)
        case .putRegistration(let registration):
            RegistryRecord.write(registration, to: &buffer)
            batch.put(.registry, Key.registration(registration.name).bytes, buffer.bytes)
        case .removeRegistration(let name): batch.delete(.registry, Key.registration(name).bytes)
        case .removeDevice(let device): batch.delete(.registry, Key.device(device).bytes)
        case .putGroup(let group): put(group)
        case .removeGroup(let name, let label): remove(name, label: label)
        case .putSubscription(let subscription):
            SubscriptionRecord.write(subscription, to: &buffer)
            batch.put(.registry, TopicKey.subscription(subscription).raw, buffer.bytes)
            let key = TopicKey.subscriber(subscription.sender, subscription.topic, subscription.name)
            batch.put(.topics, key.raw, Key().bytes)
        case .removeSubscription(let subscription):
            batch.delete(.registry, TopicKey.subscription(subscription).raw)
            let key = TopicKey.subscriber(subscription.sender, subscription.topic, subscription.name)
            batch.delete(.topics, key.raw)
        case .linkInstallation(let installation, let name):
            batch.put(.installations, Key.installation(installation, name).bytes, Key().bytes)
        case .unlinkInstallation(let installation, let name):
            batch.delete(.installations, Key.installation(installation, name).bytes)
        case .putSender(let record):
            RegistryRecord.write(record, to: &buffer)
            batch.put(.senders, Key(record.sender.number).bytes, buffer.bytes)
        case .removeSender(let sender): batch.delete(.senders, Key(sender.number).bytes)
        case .putTopicJob(let job): put(job)
        case .advanceTopicJob(let job, let cursor, let marked): advance(job, to: cursor, marked)
        case .removeTopicJob(let job, let marked): remove(job, marked)
        case .removeTopicBody(let job, let time): removeBody(of: job, time)
        case .putMessage(let message): try put(message)
        case .removeMessage(let device, let sequence, let end, let reason):
            let place = Place(kind: .message, owner: device.number, sequence: sequence.number)
            if try remove(place, .pending, end) { tally.downstream[reason] += 1 }
        case .putUpstream(let message, let now): try put(message, now, &outcome)
        case .removeUpstream(let sender, let sequence, let end, let reason):
            let place = Place(kind: .upstream, owner: sender.number, sequence: sequence.number)
            if try remove(place, .upstream, end) { tally.upstream[reason] += 1 }
        }
    }

    private mutating func put(_ message: StoredMessage) throws(StoreError) {
        let end = ExpiryKey(message)
        let place = Place(kind: .message, owner: end.owner, sequence: end.sequence)
        guard case .absent = try presence(at: place, .pending) else { return }
        MessageRecord.write(message, to: &buffer)
        put(place, .pending, end, isCounted: message.kind == .message)
        mark(message)
        if message.kind == .message { tally.downstream.accepted += 1 }
    }

    private mutating func put(
        _ message: StoredUpstream, _ now: UnixMilliseconds, _ outcome: inout CommitOutcome
    ) throws(StoreError) {
        memory.advance(to: now)
        if !message.persistentID.isEmpty, try isRepeated(message, now) {
            outcome.duplicates.append((message.sender, message.sequence))
            return
        }
        let end = ExpiryKey(message)
        let place = Place(kind: .upstream, owner: end.owner, sequence: end.sequence)
        guard case .absent = try presence(at: place, .upstream) else { return }
        if !message.persistentID.isEmpty { remember(message, now) }
        UpstreamRecord.write(message, to: &buffer)
        put(place, .upstream, end, isCounted: message.kind == .message)
        if message.kind == .message { tally.upstream.accepted += 1 }
    }

    /// Puts the record in the buffer and its end.
    private mutating func put(_ place: Place, _ family: Family, _ end: ExpiryKey, isCounted: Bool) {
        batch.put(family, Key(place.owner, place.sequence).bytes, buffer.bytes)
        putEnd(end)
        recent[place] = .present(MessageRecord.Header(isCounted: isCounted, expiresAt: end.time))
    }

    /// Puts an end of something.
    mutating func putEnd(_ end: ExpiryKey) {
        batch.put(.expiry, Key.expiry(end).bytes, Key().bytes)
        earliestEnd = min(earliestEnd, end.time)
    }

    /// Removes a message with its end; whether it is to be counted.
    private mutating func remove(
        _ place: Place, _ family: Family, _ told: UnixMilliseconds
    ) throws(StoreError) -> Bool {
        let presence = try presence(at: place, family)
        var end = ExpiryKey(time: told, kind: place.kind, owner: place.owner, sequence: place.sequence)
        guard case .present(let header) = presence else {
            // The end goes even where the record is gone or cannot be read, so that no sweep meets it for ever.
            if case .unreadable = presence { unreadable += 1 }
            batch.delete(.expiry, Key.expiry(end).bytes)
            return false
        }
        end.time = header.expiresAt
        batch.delete(family, Key(place.owner, place.sequence).bytes)
        batch.delete(.expiry, Key.expiry(end).bytes)
        recent[place] = .absent
        return header.isCounted
    }

    /// What stands at a place, this commit included. The lookup is what makes the tally exact.
    private func presence(at place: Place, _ family: Family) throws(StoreError) -> Place.Presence {
        if let known = recent[place] { return known }
        let key = Key(place.owner, place.sequence)
        let found = try engine.get(family, key.bytes) { (bytes) throws(StoreError) -> Place.Presence in
            do throws(RecordFault) {
                return .present(
                    place.kind == .message
                        ? try MessageRecord.header(
                            bytes, device: DeviceID(place.owner), sequence: Sequence(place.sequence))
                        : try UpstreamRecord.header(
                            bytes, sender: SenderID(place.owner), sequence: Sequence(place.sequence)))
            } catch { return .unreadable }
        }
        return found ?? .absent
    }

    private func isRepeated(_ message: StoredUpstream, _ now: UnixMilliseconds) throws(StoreError) -> Bool {
        if let time = seen[seenPlace(message)] { return Upstreams.isRemembered(time, at: now) }
        let key = Key.seen(message.from.device, message.category, message.persistentID)
        let time = try engine.get(.seen, key.bytes) { (bytes) throws(StoreError) -> Int64 in
            bytes.byteCount == 8 ? Int64(bitPattern: bytes.bigEndian(at: 0)) : .min / 2
        }
        return time.map { Upstreams.isRemembered($0, at: now) } ?? false
    }

    private mutating func remember(_ message: StoredUpstream, _ now: UnixMilliseconds) {
        let key = Key.seen(message.from.device, message.category, message.persistentID)
        batch.put(.seen, key.bytes, Key(UInt64(bitPattern: now)).bytes)
        seen[seenPlace(message)] = now
    }

    private func seenPlace(_ message: StoredUpstream) -> SeenPlace {
        SeenPlace(
            device: message.from.device, category: message.category, persistentID: message.persistentID)
    }
}
