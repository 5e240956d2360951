import Basics
public import Delivery

// What must hold of a record before it is written: otherwise it could not be read back, or would not be found.

extension StoredMessage {
    /// Throws unless the message can be stored and read back.
    public func demandStorable() throws(StoreError) {
        try demand(sequence.number > 0, "a message has sequence 0", "device \(device.number)")
        if let topic {
            // The record holds the sequence of the job alone: the sender is that of the message.
            try demand(
                topic.job.sender == sender, "a message shares the body of another sender's job",
                "device \(device.number)")
        }
        if case .discardedMarker(let count) = kind {
            try demand(count >= 0, "a marker counts fewer than no messages", "device \(device.number)")
        }
    }

    /// Throws unless the message reports an expired upstream message.
    public func demandReport() throws(StoreError) {
        try demand(kind == .sendError, "an ordinary message reports an expiry", "device \(device.number)")
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
        try demand(isTerminal, "a message is removed at a milestone that does not end it", rawValue)
        try demand(self != .refused, "a message that was accepted is removed as refused")
    }
}

extension DeviceRecord {
    /// Throws unless the record can be read back.
    public func demandStorable() throws(StoreError) {
        try demand(token.isWhole, "the digest of a device's token is cut short", "device \(device.number)")
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
            try demand(key.digest.isWhole, "the digest of a key is cut short", "sender \(sender.number)")
            guard let scram = key.scram else { continue }
            let isWhole =
                scram.storedKey.count == SCRAMVerifier.keyBytes
                && scram.serverKey.count == SCRAMVerifier.keyBytes
            try demand(isWhole, "the verifier of a key is cut short", "sender \(sender.number)")
            try demand(
                scram.iterations > 0, "the verifier of a key has no iterations", "sender \(sender.number)")
        }
    }
}

extension InstallationRecord {
    /// Throws unless the record can be found and read back.
    public func demandStorable() throws(StoreError) {
        try Self.demandKey(id)
        try demand(refresh?.isWhole ?? true, "the digest of a refresh token is cut short")
    }

    /// Throws unless an ID fills its part of the key.
    public static func demandKey(_ id: [UInt8]) throws(StoreError) {
        try demand(id.count == InstallationToken.idLength, "an installation ID has the wrong length")
    }
}

extension GroupRecord {
    /// Throws unless the record can be read back.
    public func demandStorable() throws(StoreError) {
        try demand(!members.isEmpty, "a device group without members", "sender \(name.sender.number)")
        try demand(
            members.count <= Limits.Group.members, "a device group has too many members",
            "sender \(name.sender.number)")
    }
}

extension TopicJob {
    /// Throws unless the job can be read back as it is: a new one has no cursor of its own in the store.
    public func demandStorable() throws(StoreError) {
        let sender = name.sender.number
        try demand(name.sequence.number > 0, "a message to topics has sequence 0", "sender \(sender)")
        try demand(
            (1...Limits.Topic.conditionTests).contains(target.topics.count),
            "a message to topics names no topic or too many", "sender \(sender)")
        try demand(expiresAt >= acceptedAt, "a message to topics expires before it came", "sender \(sender)")
        try demand(cursor == TopicCursor(), "a new message to topics is under way", "sender \(sender)")
    }
}

extension TopicCursor {
    /// Throws unless the cursor can be read back.
    public func demandStorable() throws(StoreError) {
        try demand(pass >= 0, "a message to topics is before its first pass")
    }
}

extension SecretDigest {
    fileprivate var isWhole: Bool { bytes.count == 32 }
}

extension Tally {
    /// Throws if one of the counts is less than before: a commit only adds to them.
    public func demandFollows(_ before: Tally, partition: Int) throws(StoreError) {
        try demand(
            Milestone.allCases.allSatisfy { downstream[$0] >= before.downstream[$0] },
            "a downstream count goes back", "partition \(partition)")
        try demand(
            Milestone.allCases.allSatisfy { upstream[$0] >= before.upstream[$0] },
            "an upstream count goes back", "partition \(partition)")
    }

    /// Messages that are pending by the counts, in both directions.
    public var expectedPending: Int { downstream.expectedPending + upstream.expectedPending }
}

/// Checks that the messages of one batch ascend, and belong to the partition that wrote it.
public struct BatchChecks: Sendable {
    private let partition: Int?
    private let partitions: Int
    private var lastMessage: UInt64 = 0
    private var lastUpstream: UInt64 = 0

    /// Begins a batch. Throws if its partition is not one of the store's.
    public init(_ batch: borrowing WriteBatch, among partitions: Int) throws(StoreError) {
        partition = batch.partition
        self.partitions = partitions
        if let partition {
            try demand(
                partition >= 0 && partition < partitions, "a batch of a partition that does not exist",
                "partition \(partition)")
        }
    }

    /// Checks a message that is put. A batch of the control plane belongs to no partition and is in no order.
    public mutating func put(_ message: borrowing StoredMessage) throws(StoreError) {
        guard let partition else { return }
        let owner = PartitionKey.device(message.device)
        try demand(
            owner.partition(of: partitions) == partition, "a batch puts a message of another partition",
            "\(owner)")
        try demand(message.sequence.number > lastMessage, "messages of a batch are out of order", "\(owner)")
        lastMessage = message.sequence.number
    }

    /// Checks an upstream message that is put.
    public mutating func put(_ message: borrowing StoredUpstream) throws(StoreError) {
        guard let partition else { return }
        let owner = PartitionKey.sender(message.sender)
        try demand(
            owner.partition(of: partitions) == partition,
            "a batch puts an upstream message of another partition", "\(owner)")
        try demand(
            message.sequence.number > lastUpstream, "upstream messages of a batch are out of order",
            "\(owner)")
        lastUpstream = message.sequence.number
    }

    /// Checks a message that is removed.
    public func remove(_ owner: PartitionKey, _ reason: Milestone) throws(StoreError) {
        try reason.demandEnding()
        guard let partition else { return }
        try demand(
            owner.partition(of: partitions) == partition, "a batch removes a message of another partition",
            "\(owner)")
    }
}

extension MemoryState {
    /// Returns the first broken invariant of some batches, or their first collision. Returns `nil` if they can be applied.
    func refusal(of batches: [WriteBatch]) -> StoreError? {
        do throws(StoreError) {
            for batch in batches {
                var checks = try BatchChecks(batch, among: partitions)
                for mutation in batch.mutations { try check(mutation, &checks) }
            }
        } catch { return error }
        return collision(in: batches)
    }

    private func check(_ mutation: Mutation, _ checks: inout BatchChecks) throws(StoreError) {
        switch mutation {
        case .putDevice(let record): try record.demandStorable()
        case .putRegistration(let registration): try registration.demandStorable()
        case .putSender(let record): try record.demandStorable()
        case .putGroup(let group): try group.demandStorable()
        case .putInstallation(let record): try record.demandStorable()
        case .linkInstallation(let id, _): try InstallationRecord.demandKey(id)
        case .putTopicJob(let job): try job.demandStorable()
        case .advanceTopicJob(_, let cursor, _): try cursor.demandStorable()
        case .putMessage(let message):
            try message.demandStorable()
            try checks.put(message)
        case .putUpstream(let message, _):
            try message.demandStorable()
            try checks.put(message)
        case .removeMessage(let device, _, _, let reason): try checks.remove(.device(device), reason)
        case .removeUpstream(let sender, _, _, let reason): try checks.remove(.sender(sender), reason)
        case .returnUpstream(_, _, _, let report?):
            try report.demandReport()
            try report.demandStorable()
            try checks.put(report)
        default: break
        }
    }
}
