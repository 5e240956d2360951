public import Basics
public import Delivery

extension StoreQuery {
    /// Throws unless an answer belongs to this question: right owner, ascending order, within the limit.
    ///
    /// Rows that cannot be read are left out of an answer. They are damage, not a broken invariant.
    public func demandAnswered(by answer: StoreResult, among partitions: Int) throws(StoreError) {
        switch (self, answer) {
        case (.device(let device), .device(let state)): try check(state, of: device)
        case (.messages(let device, let after, let limit), .messages(let owner, let page, _)):
            try check(page, \.sequence, after, limit, "device \(device.number)")
            let isOwn = owner == device && page.allSatisfy { $0.device == device }
            try demand(isOwn, "a page of another device's mailbox", "device \(device.number)")
        case (.upstream(let sender, let after, let limit), .upstream(let owner, let page, _)):
            try check(page, \.sequence, after, limit, "sender \(sender.number)")
            let isOwn = owner == sender && page.allSatisfy { $0.sender == sender }
            try demand(isOwn, "a page of another sender's mailbox", "sender \(sender.number)")
        case (.group(let name, _), .group(let found, let group, _)):
            try demand(
                found == name && group?.name ?? name == name, "another group than the one in question",
                "sender \(name.sender.number)")
        case (.groupLabelled(let sender, let label), .groupLabelled(_, _, let group?)):
            let isMeant = group.name.sender == sender && group.label == label
            try demand(isMeant, "the group of another label", "sender \(sender.number)")
        case (.groupLabelled, .groupLabelled(_, _, nil)): break
        case (.installation(let id, let limit, _), .installation(let found, let record, let names, _)):
            try demand(found == id && record?.id ?? id == id, "the record of another installation")
            try demand(names.count <= limit, "more registrations of an installation than asked for")
            try demand(names.isStrictlyAscending, "the registrations of an installation are out of order")
        case (.topicPage(let job, _, let after, let limit), .topicPage(let found, let page)):
            try demand(found == job, "a page of another message to topics", "sender \(job.sender.number)")
            try check(page, after, limit, "sender \(job.sender.number)")
        case (.topicJobs(let after, let limit, let partition), .topicJobs(let jobs, _)):
            try check(jobs, after, limit, partition, partitions)
        case (.expired(let time, let limit, let partition), .expired(let entries)):
            try check(entries, time, limit, partition, partitions)
        case (.unseen(_, _, let start, _, let limit, let partition), .unseen(let found, let next)):
            try check(found, next, start, limit, partition, partitions)
        case (
            .unusedInstallations(_, _, let start, _, let limit, let partition),
            .unusedInstallations(let found, let next, _, _)
        ):
            try check(found, next, start, limit, partition, partitions)
        default: try demand(false, "an answer to another question")
        }
    }

    private func check(_ state: DeviceState, of device: DeviceID) throws(StoreError) {
        let owner = device.number
        try demand(
            state.device == device && state.record?.device ?? device == device,
            "the record of another device",
            "device \(owner)")
        try demand(
            state.registrations.allSatisfy { $0.name.device == device }, "a registration of another device",
            "device \(owner)")
        try demand(
            state.registrations.isStrictlyAscending { $0.name.number.number },
            "the registrations of a device are out of order", "device \(owner)")
        try demand(
            state.subscriptions.allSatisfy { $0.name.device == device }, "a subscription of another device",
            "device \(owner)")
        try demand(
            state.mailbox.isStrictlyAscending { $0.sequence.number },
            "a mailbox is out of order, or has a message twice",
            "device \(owner)")
    }

    private func check<Message>(
        _ page: [Message], _ sequence: (Message) -> SequenceNumber, _ after: SequenceNumber, _ limit: Int,
        _ owner: @autoclosure () -> String
    ) throws(StoreError) {
        try demand(page.count <= limit, "a page has more messages than asked for", owner())
        let isBehind = page.first.map { sequence($0) > after } ?? true
        try demand(isBehind, "a page begins before its place", owner())
        try demand(
            page.isStrictlyAscending(by: sequence), "a page is out of order, or has a message twice", owner())
    }

    private func check(
        _ page: TopicPage, _ after: RegistrationName?, _ limit: Int, _ owner: @autoclosure () -> String
    ) throws(StoreError) {
        try demand(page.names.count <= limit, "a page has more subscribers than asked for", owner())
        try demand(
            page.names.isStrictlyAscending && page.marked.isStrictlyAscending,
            "a page of subscribers is out of order", owner())
        if let after {
            let isBehind = [page.names.first, page.marked.first].allSatisfy { $0.map { $0 > after } ?? true }
            try demand(isBehind, "a page of subscribers begins before its place", owner())
            try demand(
                page.next.map { $0 >= after } ?? true, "a page of subscribers leads backwards", owner())
        }
    }

    private func check(
        _ jobs: [TopicJob], _ after: TopicJobName?, _ limit: Int, _ partition: Int, _ partitions: Int
    ) throws(StoreError) {
        try demand(jobs.count <= limit, "more messages to topics than asked for", "partition \(partition)")
        let isBehind = after.map { after in jobs.first.map { $0.name > after } ?? true } ?? true
        try demand(
            isBehind && jobs.isStrictlyAscending(by: \.name),
            "messages to topics are out of order", "partition \(partition)")
        try demand(
            jobs.allSatisfy { PartitionKey.sender($0.name.sender).partition(of: partitions) == partition },
            "a message to topics of another partition", "partition \(partition)")
    }

    private func check(
        _ entries: [ExpiredEntry], _ time: UnixMilliseconds, _ limit: Int, _ partition: Int, _ partitions: Int
    ) throws(StoreError) {
        try demand(entries.count <= limit, "a sweep returns more than asked for", "partition \(partition)")
        let keys = entries.map { ExpiryKey($0) }
        try demand(
            keys.isStrictlyAscending, "a sweep is out of order, or returns something twice",
            "partition \(partition)")
        try demand(
            keys.last.map { $0.time <= time } ?? true, "a sweep returns what has not expired",
            "partition \(partition)")
        try demand(
            keys.allSatisfy { $0.key.partition(of: partitions) == partition },
            "a sweep returns what another partition owns", "partition \(partition)")
    }

    private func check(
        _ found: [DeviceID], _ next: DeviceID?, _ start: DeviceID, _ limit: Int, _ partition: Int,
        _ partitions: Int
    ) throws(StoreError) {
        try demand(
            found.count <= limit, "a search finds more devices than asked for", "partition \(partition)")
        let first = found.first ?? start
        let last = found.last ?? start
        try demand(
            found.isStrictlyAscending && first >= start && next.map { $0 >= last } ?? true,
            "a search for devices goes back", "partition \(partition)")
        try demand(
            found.allSatisfy { PartitionKey.device($0).partition(of: partitions) == partition },
            "a search finds a device of another partition", "partition \(partition)")
    }

    private func check(
        _ found: [[UInt8]], _ next: [UInt8]?, _ start: [UInt8], _ limit: Int, _ partition: Int,
        _ partitions: Int
    ) throws(StoreError) {
        try demand(
            found.count <= limit, "a search finds more installations than asked for", "partition \(partition)"
        )
        let ids = [start] + found + (next.map { [$0] } ?? [])
        try demand(
            !zip(ids, ids.dropFirst()).contains { $1.lexicographicallyPrecedes($0) },
            "a search for installations goes back", "partition \(partition)")
        try demand(
            found.allSatisfy { PartitionKey.installation($0).partition(of: partitions) == partition },
            "a search finds an installation of another partition", "partition \(partition)")
    }

    /// The partition that the question is about. Returns `nil` if it is about an owner.
    public var partition: Int? {
        switch self {
        case .topicJobs(_, _, let partition), .expired(_, _, let partition): partition
        case .unseen(_, _, _, _, _, let partition), .unusedInstallations(_, _, _, _, _, let partition):
            partition
        default: nil
        }
    }

    /// Throws if the question is about a partition that a store with `partitions` partitions does not have.
    public func demandAnswerable(among partitions: Int) throws(StoreError) {
        guard let partition else { return }
        try demand(
            partition >= 0 && partition < partitions, "a load of a partition that does not exist",
            "partition \(partition)")
    }
}

/// Checks of the lists that a store returns to the control plane.
public enum ListChecks {
    /// Throws unless all senders are there once, by their IDs.
    public static func demandOrdered(_ senders: [SenderRecord]) throws(StoreError) {
        try demand(senders.isStrictlyAscending(by: \.sender), "the list of senders is out of order")
    }

    /// Throws unless devices after one come by their IDs, within the limit.
    public static func demandOrdered(
        _ devices: [DeviceRecord], after: DeviceID?, limit: Int
    ) throws(StoreError) {
        try demand(devices.count <= max(0, limit), "a list has more devices than asked for")
        let isBehind = after.map { after in devices.first.map { $0.device > after } ?? true } ?? true
        try demand(
            isBehind && devices.isStrictlyAscending(by: \.device), "the list of devices is out of order")
    }

    /// Throws unless installations after one come by their IDs, within the limit.
    public static func demandOrdered(
        _ installations: [ListedInstallation], after: [UInt8]?, limit: Int
    ) throws(StoreError) {
        try demand(installations.count <= max(0, limit), "a list has more installations than asked for")
        let ids = (after.map { [$0] } ?? []) + installations.map(\.record.id)
        try demand(
            zip(ids, ids.dropFirst()).allSatisfy { $0.lexicographicallyPrecedes($1) },
            "the list of installations is out of order")
    }

    /// Throws unless a page of topics counts subscribers only, and no more than were looked at.
    public static func demandCounted(_ page: TopicCounts, examined: Int) throws(StoreError) {
        try demand(page.counts.allSatisfy { $0.subscribers > 0 }, "a topic without subscribers is listed")
        let count = page.counts.reduce(0) { $0 + $1.subscribers }
        try demand(count <= max(0, examined), "more subscriptions are counted than were looked at")
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
    /// The place of an expired entry in the order of a sweep.
    init(_ entry: ExpiredEntry) {
        switch entry {
        case .message(let device, let sequence, let time):
            self.init(time: time, kind: .message, owner: device.number, sequence: sequence.number)
        case .upstream(let sender, let sequence, let time, _):
            self.init(time: time, kind: .upstream, owner: sender.number, sequence: sequence.number)
        case .topicBody(let job, let time): self.init(bodyOf: job, endsAt: time)
        }
    }
}
