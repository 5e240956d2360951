public import Basics
public import Delivery

extension StoreQuery {
    /// Throws unless an answer matches this load: the requested owner, ascending order, within the limit.
    ///
    /// Rows that cannot be read are left out of an answer. They are damage, not a broken invariant.
    public func demandAnswered(by answer: StoreResult, among partitions: Int) throws(StoreError) {
        switch (self, answer) {
        case (.device(let device), .device(let state)): try check(state, of: device)
        case (.messages(let device, let after, let limit), .messages(let owner, let page, _)):
            try check(page, \.sequence, after, limit, "device \(device.number)")
            let isOwn = owner == device && page.allSatisfy { $0.device == device }
            try demand(isOwn, "a page belongs to another device", "device \(device.number)")
        case (.gatewayMessage(let device, let sequence), .gatewayMessage(let owner, let number, let message)):
            let isMeant =
                owner == device && number == sequence && message?.device ?? device == device
                && message?.sequence ?? sequence == sequence
            try demand(isMeant, "another message than requested", "device \(device.number)")
        case (.named(let device, _, let lookup), .named(let owner, let found, let number)):
            let isMeant = owner == device && number == lookup && found.isStrictlyAscending(by: \.sequence)
            try demand(isMeant, "other messages than requested", "device \(device.number)")
        case (.schedule(let after, let limit, let partition), .schedule(let page, _)):
            try check(page, after, limit, partition, partitions)
        case (.gatewayDevices(let start, let limit, let partition), .gatewayDevices(let found, let next)):
            try check(found, next, start, limit, partition, partitions)
        case (.upstream(let sender, let after, let limit), .upstream(let owner, let page, _)):
            try check(page, \.sequence, after, limit, "sender \(sender.number)")
            let isOwn = owner == sender && page.allSatisfy { $0.sender == sender }
            try demand(isOwn, "a page belongs to another sender", "sender \(sender.number)")
        case (.group(let name, _), .group(let found, let group, _)):
            try demand(
                found == name && group?.name ?? name == name, "the group has another name than requested",
                "sender \(name.sender.number)")
        case (.groupLabelled(let sender, let label), .groupLabelled(_, _, let group?)):
            let isMeant = group.name.sender == sender && group.label == label
            try demand(isMeant, "the group has another label than requested", "sender \(sender.number)")
        case (.groupLabelled, .groupLabelled(_, _, nil)): break
        case (.installation(let id, let limit, _), .installation(let found, let record, let names, _)):
            try demand(found == id && record?.id ?? id == id, "the record belongs to another installation")
            try demand(names.count <= limit, "the registrations of an installation exceed their limit")
            try demand(names.isStrictlyAscending, "the registrations of an installation are unordered")
        case (.topicMessages(let after, let limit, let partition), .topicMessages(let page, _)):
            try check(page, after, limit, partition, partitions)
        case (.topicEntries(let after, let limit, let partition), .topicEntries(let page, let marks, _)):
            try check(page, \.sequence, after, limit, "partition \(partition)")
            try demand(
                marks.isStrictlyAscending(by: \.source)
                    && marks.allSatisfy { $0.source >= 0 && $0.source < partitions },
                "the marks of a topic log are unordered or invalid", "partition \(partition)")
        case (
            .topicDevices(_, _, let after, let limit, let partition), .topicDevices(let found, let next)
        ):
            try check(found, next, after ?? .lowest, limit, partition, partitions)
            try demand(
                after.map { after in found.first.map { $0 > after } ?? true } ?? true,
                "a search for devices is unordered", "partition \(partition)")
        case (.expired(let time, let limit, let partition), .expired(let entries)):
            try check(entries, time, limit, partition, partitions)
        case (.unseen(_, _, let start, _, let limit, let partition), .unseen(let found, let next)):
            try check(found, next, start, limit, partition, partitions)
        case (
            .unusedInstallations(_, _, let start, _, let limit, let partition),
            .unusedInstallations(let found, let next, _, _)
        ):
            try check(found, next, start, limit, partition, partitions)
        default: try demand(false, "the answer belongs to another load")
        }
    }

    private func check(_ state: DeviceState, of device: DeviceID) throws(StoreError) {
        let owner = device.number
        try demand(
            state.device == device && state.record?.device ?? device == device,
            "the state belongs to another device",
            "device \(owner)")
        try demand(
            state.registrations.allSatisfy { $0.name.device == device },
            "a device has a registration of another one",
            "device \(owner)")
        try demand(
            state.registrations.isStrictlyAscending { $0.name.number.number },
            "the registrations of a device are unordered", "device \(owner)")
        try demand(
            state.subscriptions.allSatisfy { $0.name.device == device },
            "a device has a subscription of another one",
            "device \(owner)")
        try demand(
            state.mailbox.isStrictlyAscending { $0.sequence.number },
            "a mailbox is unordered or has a duplicate",
            "device \(owner)")
    }

    private func check<Message>(
        _ page: [Message], _ sequence: (Message) -> SequenceNumber, _ after: SequenceNumber, _ limit: Int,
        _ owner: @autoclosure () -> String
    ) throws(StoreError) {
        try demand(page.count <= limit, "a page of messages exceeds its limit", owner())
        let isBehind = page.first.map { sequence($0) > after } ?? true
        try demand(isBehind, "a page starts before its position", owner())
        try demand(
            page.isStrictlyAscending(by: sequence), "a page of messages is unordered or has a duplicate",
            owner())
    }

    private func check(
        _ page: [TopicMessage], _ after: TopicMessageName?, _ limit: Int, _ partition: Int, _ partitions: Int
    ) throws(StoreError) {
        try demand(
            page.count <= limit, "a page of topic messages exceeds its limit", "partition \(partition)")
        let isBehind = after.map { after in page.first.map { $0.name > after } ?? true } ?? true
        try demand(
            isBehind && page.isStrictlyAscending(by: \.name),
            "a page of topic messages is unordered or has a duplicate", "partition \(partition)")
        try demand(
            page.allSatisfy { PartitionKey.sender($0.name.sender).partition(of: partitions) == partition },
            "a page has a topic message that another partition owns", "partition \(partition)")
    }

    private func check(
        _ page: [ScheduledMessage], _ after: ScheduledMessage?, _ limit: Int, _ partition: Int,
        _ partitions: Int
    ) throws(StoreError) {
        let isBehind = after.map { after in page.first.map { $0 > after } ?? true } ?? true
        try demand(
            page.count <= limit && isBehind && page.isStrictlyAscending(by: \.self),
            "a part of the schedule is too long or unordered", "partition \(partition)")
        try demand(
            page.allSatisfy { PartitionKey.device($0.device).partition(of: partitions) == partition },
            "the schedule has a message that another partition owns", "partition \(partition)")
    }

    private func check(
        _ entries: [ExpiredEntry], _ time: UnixMilliseconds, _ limit: Int, _ partition: Int, _ partitions: Int
    ) throws(StoreError) {
        try demand(entries.count <= limit, "a sweep exceeds its limit", "partition \(partition)")
        let keys = entries.map { ExpiryKey($0) }
        try demand(
            keys.isStrictlyAscending, "a sweep is unordered or has a duplicate",
            "partition \(partition)")
        try demand(
            keys.last.map { $0.time <= time } ?? true, "a sweep returns an entry that has not expired",
            "partition \(partition)")
        try demand(
            entries.allSatisfy { $0.key.partition(of: partitions) == partition },
            "a sweep returns an entry that another partition owns", "partition \(partition)")
    }

    private func check(
        _ found: [DeviceID], _ next: DeviceID?, _ start: DeviceID, _ limit: Int, _ partition: Int,
        _ partitions: Int
    ) throws(StoreError) {
        try demand(
            found.count <= limit, "a search for devices exceeds its limit", "partition \(partition)")
        let first = found.first ?? start
        let last = found.last ?? start
        try demand(
            found.isStrictlyAscending && first >= start && next.map { $0 >= last } ?? true,
            "a search for devices is unordered", "partition \(partition)")
        try demand(
            found.allSatisfy { PartitionKey.device($0).partition(of: partitions) == partition },
            "a search returns a device that another partition owns", "partition \(partition)")
    }

    private func check(
        _ found: [[UInt8]], _ next: [UInt8]?, _ start: [UInt8], _ limit: Int, _ partition: Int,
        _ partitions: Int
    ) throws(StoreError) {
        try demand(
            found.count <= limit, "a search for installations exceeds its limit", "partition \(partition)"
        )
        let ids = [start] + found + (next.map { [$0] } ?? [])
        try demand(
            !zip(ids, ids.dropFirst()).contains { $1.lexicographicallyPrecedes($0) },
            "a search for installations is unordered", "partition \(partition)")
        try demand(
            found.allSatisfy { PartitionKey.installation($0).partition(of: partitions) == partition },
            "a search returns an installation that another partition owns", "partition \(partition)")
    }

    /// The partition that the load searches. `nil` if the load is about an owner.
    public var partition: Int? {
        switch self {
        case .topicMessages(_, _, let partition), .topicEntries(_, _, let partition),
            .topicDevices(_, _, _, _, let partition), .expired(_, _, let partition),
            .gatewayDevices(_, _, let partition), .schedule(_, _, let partition):
            partition
        case .unseen(_, _, _, _, _, let partition), .unusedInstallations(_, _, _, _, _, let partition):
            partition
        default: nil
        }
    }

    /// Throws if the load searches a partition that a store with `partitions` partitions does not have.
    public func demandAnswerable(among partitions: Int) throws(StoreError) {
        guard let partition else { return }
        try demand(
            partition >= 0 && partition < partitions, "a load has an invalid partition",
            "partition \(partition)")
    }
}

/// Checks of the lists that a store returns to the control plane.
public enum ListChecks {
    /// Throws unless senders are unique and in order of their IDs.
    public static func demandOrdered(_ senders: [SenderRecord]) throws(StoreError) {
        try demand(senders.isStrictlyAscending(by: \.sender), "the list of senders is unordered")
    }

    /// Throws unless devices are after a given one, in order of their IDs and within the limit.
    public static func demandOrdered(
        _ devices: [DeviceRecord], after: DeviceID?, limit: Int
    ) throws(StoreError) {
        try demand(devices.count <= max(0, limit), "a list of devices exceeds its limit")
        let isBehind = after.map { after in devices.first.map { $0.device > after } ?? true } ?? true
        try demand(
            isBehind && devices.isStrictlyAscending(by: \.device), "the list of devices is unordered")
    }

    /// Throws unless installations are after a given one, in order of their IDs and within the limit.
    public static func demandOrdered(
        _ installations: [ListedInstallation], after: [UInt8]?, limit: Int
    ) throws(StoreError) {
        try demand(installations.count <= max(0, limit), "a list of installations exceeds its limit")
        let ids = (after.map { [$0] } ?? []) + installations.map(\.record.id)
        try demand(
            zip(ids, ids.dropFirst()).allSatisfy { $0.lexicographicallyPrecedes($1) },
            "the list of installations is unordered")
    }

    /// Throws unless groups are after a given one, in order of their names and within the limit.
    public static func demandOrdered(
        _ groups: [GroupRecord], after: GroupName?, limit: Int
    ) throws(StoreError) {
        try demand(groups.count <= max(0, limit), "a list of groups exceeds its limit")
        let names = (after.map { [$0] } ?? []) + groups.map(\.name)
        try demand(
            zip(names, names.dropFirst()).allSatisfy { $0.precedes($1) }, "the list of groups is unordered")
    }

    /// Throws unless entries of the feedback list are of one sender, after a position, in order and within the limit.
    public static func demandOrdered(
        _ entries: [APNsFeedback], of sender: SenderID, after: FeedbackPosition, limit: Int
    ) throws(StoreError) {
        try demand(entries.count <= max(0, limit), "a feedback list exceeds its limit")
        try demand(
            entries.allSatisfy { $0.sender == sender }, "a feedback list has an entry of another sender",
            "sender \(sender.number)")
        let positions = [after] + entries.map { FeedbackPosition($0) }
        try demand(
            zip(positions, positions.dropFirst()).allSatisfy { $0 < $1 }, "a feedback list is unordered",
            "sender \(sender.number)")
    }

    /// Throws unless tokens are in order of their registrations, after one, and within the limit.
    public static func demandOrdered(
        _ tokens: [TokenName], after: RegistrationName?, limit: Int
    ) throws(StoreError) {
        try demand(tokens.count <= max(0, limit), "a list of subscribers exceeds its limit")
        let names = (after.map { [$0] } ?? []) + tokens.map(\.registration)
        try demand(names.isStrictlyAscending(by: \.self), "a list of subscribers is unordered")
    }

    /// Throws unless every topic of a page has subscribers, and no more are counted than were read.
    public static func demandCounted(_ page: TopicCounts, examined: Int) throws(StoreError) {
        try demand(page.counts.allSatisfy { $0.subscribers > 0 }, "a topic without subscribers is listed")
        let count = page.counts.reduce(0) { $0 + $1.subscribers }
        try demand(count <= max(0, examined), "more subscriptions are counted than were read")
    }
}

extension Array {
    fileprivate func isStrictlyAscending<Key: Comparable>(by key: (Element) -> Key) -> Bool {
        var at = 1
        while at < count {
            guard key(self[at - 1]) < key(self[at]) else { return false }
            at += 1
        }
        return true
    }
}

extension Array where Element: Comparable {
    fileprivate var isStrictlyAscending: Bool { isStrictlyAscending { $0 } }
}

extension ExpiryKey {
    /// Creates the key of an expired entry.
    init(_ entry: ExpiredEntry) {
        switch entry {
        case .message(let device, let sequence, let time):
            self.init(time: time, kind: .message, owner: device.number, sequence: sequence.number)
        case .upstream(let sender, let sequence, let time, _):
            self.init(time: time, kind: .upstream, owner: sender.number, sequence: sequence.number)
        case .sharedBody(let name, _, let time): self.init(bodyOf: name, endsAt: time)
        case .scheduled(let device, let sequence, let time):
            self.init(scheduled: device, sequence, dueAt: time)
        }
    }
}
