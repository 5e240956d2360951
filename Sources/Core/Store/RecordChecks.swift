import Basics
public import Delivery

// Checks of records before they are written. A record that fails them could not be read or found again.

extension StoredMessage {
    /// Throws unless the message can be stored and read back.
    public func demandStorable() throws(StoreError) {
        try demand(sequence.number > 0, "a message has sequence 0", "device \(device.number)")
        if let name = shared?.name {
            // The record holds the sequence of the name alone: the sender is that of the message.
            try demand(
                name.sender == sender && name.sequence.number > 0,
                "a message shares the pairs of another sender, or of none", "device \(device.number)")
        }
        if case .discardedMarker(let count) = kind {
            try demand(count >= 0, "a marker has a negative count", "device \(device.number)")
        }
        if case .sendError(let message) = kind {
            try demand(
                message.number > 0 && sender != nil && shared == nil && body.isEmpty,
                "the report of an expiry names no message, or has pairs", "device \(device.number)")
        }
    }
}

extension SharedBody {
    /// Throws unless messages can name the pairs.
    public func demandStorable() throws(StoreError) {
        let name = reference.name
        try demand(
            name.sequence.number > 0, "shared pairs have sequence 0", "sender \(name.sender.number)")
    }
}

extension StoredUpstream {
    /// Throws unless the message can be stored and read back.
    public func demandStorable() throws(StoreError) {
        try demand(sequence.number > 0, "an upstream message has sequence 0", "sender \(sender.number)")
        try demand(
            lifetimeSeconds >= 0, "an upstream message has a negative lifetime", "sender \(sender.number)")
    }
}

extension Milestone {
    /// Throws unless a stored message can be removed with this milestone: otherwise the conservation law would break.
    public func demandEnding() throws(StoreError) {
        try demand(isTerminal, "a message is removed with a milestone that is not terminal", rawValue)
        try demand(self != .refused, "a message that was accepted is removed as refused")
    }
}

extension DeviceRecord {
    /// Throws unless the record can be read back.
    public func demandStorable() throws(StoreError) {
        try demand(
            token.isWhole, "the digest of a device token has the wrong length", "device \(device.number)")
    }
}

extension Registration {
    /// Throws unless the record can be read back.
    public func demandStorable() throws(StoreError) {
        try demand(
            otherSenders.count <= Limits.Registration.sendersPerRegistration,
            "a registration names too many senders", "device \(name.device.number)")
        if case .only(let text) = scope {
            try demand(!text.isEmpty, "a registration has an empty scope", "device \(name.device.number)")
        }
    }
}

extension SenderRecord {
    /// Throws unless the record can be read back.
    public func demandStorable() throws(StoreError) {
        for key in keys {
            try demand(
                key.digest.isWhole, "the digest of a key has the wrong length", "sender \(sender.number)")
            guard let scram = key.scram else { continue }
            let isWhole =
                scram.storedKey.count == SCRAMVerifier.keyBytes
                && scram.serverKey.count == SCRAMVerifier.keyBytes
            try demand(isWhole, "the SCRAM verifier of a key has the wrong length", "sender \(sender.number)")
            try demand(
                scram.iterations > 0, "the SCRAM verifier of a key has no iterations",
                "sender \(sender.number)")
        }
    }
}

extension InstallationRecord {
    /// Throws unless the record can be found and read back.
    public func demandStorable() throws(StoreError) {
        try Self.demandKey(id)
        try demand(refresh?.isWhole ?? true, "the digest of a refresh token has the wrong length")
    }

    /// Throws unless an ID fills its part of the key.
    public static func demandKey(_ id: [UInt8]) throws(StoreError) {
        try demand(id.count == InstallationToken.idLength, "an installation ID has the wrong length")
    }
}

extension GroupRecord {
    /// Throws unless the record can be read back.
    public func demandStorable() throws(StoreError) {
        try demand(
            members.count <= Limits.Group.members, "a device group has too many members",
            "sender \(name.sender.number)")
    }
}

extension TopicMessage {
    /// Throws unless the message can be read back.
    public func demandStorable() throws(StoreError) {
        let sender = name.sender.number
        try demand(name.sequence.number > 0, "a topic message has sequence 0", "sender \(sender)")
        try demand(
            (1...Limits.Topic.conditionTests).contains(target.topics.count),
            "a topic message has no topic or too many", "sender \(sender)")
        try demand(
            expiresAt >= acceptedAt, "a topic message expires before it was accepted", "sender \(sender)")
    }
}

extension TopicEntry {
    /// Throws unless the entry can be read back. A new entry is stored without progress.
    public func demandStorable() throws(StoreError) {
        let sender = message.name.sender.number
        try demand(sequence.number > 0, "an entry of a topic log has place 0", "sender \(sender)")
        if case .discarded(let count, _) = kind {
            try demand(
                count >= 0, "an entry of a topic log has discarded fewer than no messages", "sender \(sender)"
            )
        }
        try demand(
            progress == TopicProgress(), "a new entry of a topic log has progress", "sender \(sender)")
        try message.demandStorable()
    }
}

extension SecretDigest {
    fileprivate var isWhole: Bool { bytes.count == 32 }
}

extension Tally {
    /// Throws if a count is less than before: commits only add to counts.
    public func demandFollows(_ before: Tally, partition: Int) throws(StoreError) {
        try demand(
            Milestone.allCases.allSatisfy { downstream[$0] >= before.downstream[$0] },
            "a downstream count decreases", "partition \(partition)")
        try demand(
            Milestone.allCases.allSatisfy { upstream[$0] >= before.upstream[$0] },
            "an upstream count decreases", "partition \(partition)")
        try demand(
            log?.follows(before.log) ?? (before.log == nil), "the progress in a log decreases",
            "partition \(partition)")
    }

    /// Number of pending messages in both directions, by the counts.
    public var expectedPending: Int { downstream.expectedPending + upstream.expectedPending }
}

extension LogProgress {
    /// Whether a store can advance to this progress from another one, or from none.
    func follows(_ before: LogProgress?) -> Bool {
        guard let before else { return true }
        return (epoch, position, batches) >= (before.epoch, before.position, before.batches)
            && position >= before.position
    }
}

/// Checks that the messages of one batch ascend and belong to the partition that wrote the batch.
public struct BatchChecks: Sendable {
    let partition: Int?
    let partitions: Int
    private var lastMessage: UInt64 = 0
    private var lastUpstream: UInt64 = 0

    /// Starts the checks of a batch. Throws if the store does not have its partition.
    public init(_ batch: borrowing WriteBatch, among partitions: Int) throws(StoreError) {
        partition = batch.partition
        self.partitions = partitions
        if let partition {
            try demand(
                partition >= 0 && partition < partitions, "a batch has an invalid partition",
                "partition \(partition)")
        }
    }

    /// Checks a message that is put. Batches of the control plane have no partition and no order.
    public mutating func put(_ message: borrowing StoredMessage) throws(StoreError) {
        guard let partition else { return }
        let owner = PartitionKey.device(message.device)
        try demand(
            owner.partition(of: partitions) == partition,
            "a batch puts a message that another partition owns",
            "device \(message.device.number)")
        try demand(
            message.sequence.number > lastMessage, "the messages of a batch are unordered",
            "device \(message.device.number)")
        lastMessage = message.sequence.number
    }

    /// Checks an upstream message that is put.
    public mutating func put(_ message: borrowing StoredUpstream) throws(StoreError) {
        guard let partition else { return }
        let owner = PartitionKey.sender(message.sender)
        try demand(
            owner.partition(of: partitions) == partition,
            "a batch puts an upstream message that another partition owns", "sender \(message.sender.number)")
        try demand(
            message.sequence.number > lastUpstream, "the upstream messages of a batch are unordered",
            "sender \(message.sender.number)")
        lastUpstream = message.sequence.number
    }

    /// Checks a message that is removed.
    public func remove(_ owner: PartitionKey, _ reason: Milestone) throws(StoreError) {
        try reason.demandEnding()
        guard let partition else { return }
        try demand(
            owner.partition(of: partitions) == partition,
            "a batch removes a message that another partition owns",
            "\(owner)")
    }

    /// Checks the source of a mark of a topic log.
    public func put(_ mark: TopicMark) throws(StoreError) {
        try demand(
            mark.source >= 0 && mark.source < partitions, "the mark of a topic log has an invalid source",
            "partition \(mark.source)")
    }

    /// Checks the partition whose log the batch comes from.
    public func advanceLog(of log: Int) throws(StoreError) {
        try demand(
            log >= 0 && log < partitions && log == partition ?? log,
            "a batch advances the log of another partition", "partition \(log)")
    }

    /// Throws unless a mutation can be stored and read back, and is in its place.
    public mutating func check(_ mutation: borrowing Mutation) throws(StoreError) {
        try owns(mutation)
        switch mutation {
        case .putDevice(let record): try record.demandStorable()
        case .putRegistration(let registration): try registration.demandStorable()
        case .putSender(let record): try record.demandStorable()
        case .putGroup(let group): try group.demandStorable()
        case .putInstallation(let record): try record.demandStorable()
        case .linkInstallation(let id, _): try InstallationRecord.demandKey(id)
        case .putTopicMessage(let message): try message.demandStorable()
        case .putTopicEntry(let entry, _): try entry.demandStorable()
        case .putTopicMark(let mark, _): try put(mark)
        case .putSharedBody(let shared, _, _): try shared.demandStorable()
        case .putMessage(let message):
            try message.demandStorable()
            try put(message)
        case .putUpstream(let message, _):
            try message.demandStorable()
            try put(message)
        case .advanceLog(let partition, _): try advanceLog(of: partition)
        case .removeMessage(let device, _, _, let reason): try remove(.device(device), reason)
        case .removeUpstream(let sender, _, _, let reason): try remove(.sender(sender), reason)
        default: break
        }
    }
}

extension MemoryState {
    /// Returns the first broken invariant of some batches, or their first collision. Returns `nil` if they can be applied.
    public func refusal(of batches: [WriteBatch]) -> StoreError? {
        do throws(StoreError) {
            for batch in batches {
                var checks = try BatchChecks(batch, among: partitions)
                for mutation in batch.mutations {
                    try checks.check(mutation)
                    guard case .advanceLog(let log, let progress) = mutation else { continue }
                    try demand(
                        progress.follows(tallies[log].log), "the progress in a log decreases",
                        "partition \(log)")
                }
            }
        } catch { return error }
        return collision(in: batches)
    }
}
