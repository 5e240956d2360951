import Basics
import Delivery

/// The store's contract implemented with dictionaries, and the counts that an audit would report.
struct FakeStore {
    /// An index of each device's records, built on demand, so that reading one of thousands of devices is fast.
    private final class Index {
        var registrations: [DeviceID: [Registration]] = [:]
        var subscriptions: [DeviceID: [Subscription]] = [:]
    }
    private var index = Index()

    /// The number of partitions.
    var partitions = 1
    var records: [DeviceID: DeviceRecord] = [:]
    var registrations: [RegistrationName: Registration] = [:] {
        didSet { index = Index() }
    }
    var messages: [DeviceID: [StoredMessage]] = [:]
    var upstream: [SenderID: [StoredUpstream]] = [:]
    var subscriptions: [Subscription] = [] {
        didSet { index = Index() }
    }
    var installations: [[UInt8]: Set<RegistrationName>] = [:]
    var installationRecords: [[UInt8]: InstallationRecord] = [:]
    var seen: Set<[UInt8]> = []
    /// Topic messages that not all partitions have yet.
    var topicMessages: [TopicMessage] = []
    /// The logs of the partitions.
    var topicLogs: [Int: [TopicEntry]] = [:]
    var topicMarks: [Int: [Int: SequenceNumber]] = [:]
    var topicPositions: [DeviceID: SequenceNumber] = [:]
    /// The pairs that messages share, by partition.
    var sharedBodies: [Int: [SharedBodyName: SharedBody]] = [:]
    /// Whether those pairs are damaged.
    var hasDamagedBodies = false
    /// Subscriptions of iOS apps.
    var gatewayList: [Subscription] = []
    var groups: [GroupRecord] = []
    /// Devices that are marked for the APNs gateway.
    var gatewayMarks: Set<DeviceID> = []
    /// Scheduled messages that are not due.
    var schedule: Set<ScheduledMessage> = []
    /// The feedback list.
    var feedback: [APNsFeedback] = []
    /// The clock mark for the next process.
    var marksOfProcess: [StoreMark: UInt64] = [:]
    var down = MilestoneCounts()
    var up = MilestoneCounts()
    /// Every message and upstream message ever put, by its submitter's id.
    var put: Set<[UInt8]> = []
    /// Ids of receipts ever put.
    var receipts: Set<[UInt8]> = []
    /// Messages that were removed as delivered without their requested receipt.
    var missingReceipts: [[UInt8]] = []

    /// Batches that overwrote a message; always expected to be empty.
    var collisions = 0

    mutating func apply(_ batch: WriteBatch) -> CommitOutcome {
        var outcome = CommitOutcome(batchNumber: batch.batchNumber)
        let (down, up) = (down, up)
        for mutation in batch.mutations { apply(mutation, &outcome) }
        for milestone in Milestone.allCases {
            outcome.downstream[milestone] = self.down[milestone] - down[milestone]
            outcome.upstream[milestone] = self.up[milestone] - up[milestone]
        }
        return outcome
    }

    private mutating func apply(_ mutation: Mutation, _ outcome: inout CommitOutcome) {
        switch mutation {
        case .putDevice(let record): records[record.device] = record
        case .putRegistration(let registration): registrations[registration.name] = registration
        case .removeRegistration(let name): registrations[name] = nil
        case .removeDevice(let device):
            records[device] = nil
            topicPositions[device] = nil
        case .putSubscription(let subscription):
            subscriptions.removeAll { $0.isSame(as: subscription) }
            subscriptions.append(subscription)
        case .removeSubscription(let subscription):
            subscriptions.removeAll { $0.isSame(as: subscription) }
        case .linkInstallation(let installation, let name):
            installations[installation, default: []].insert(name)
        case .unlinkInstallation(let installation, let name): installations[installation]?.remove(name)
        case .putInstallation(let record): installationRecords[record.id] = record
        case .removeInstallation(let id): installationRecords[id] = nil
        case .putMessage(let message):
            var list = messages[message.device] ?? []
            if let found = list.first(where: { $0.sequence == message.sequence }) {
                if found != message { collisions += 1 }
                return
            }
            list.append(message)
            list.sort { $0.sequence < $1.sequence }
            messages[message.device] = list
            if message.kind == .message { down.accepted += 1 }
            put.insert(message.messageID)
        case .removeMessage(let device, let sequence, _, let reason):
            guard let at = messages[device]?.firstIndex(where: { $0.sequence == sequence }),
                let gone = messages[device]?.remove(at: at)
            else { return outcome.absent.append(MailboxPlace(.device(device), sequence)) }
            guard gone.kind == .message else { return }
            down[reason] += 1
            if reason == .delivered, gone.wantsReceipt, !receipts.contains(gone.messageID) {
                missingReceipts.append(gone.messageID)
            }
        case .putTopicMessage, .removeTopicMessage, .putTopicEntry, .putTopicProgress, .removeTopicEntry,
            .putTopicMark, .putSharedBody, .removeSharedBody, .putTopicPosition, .listForGateway,
            .unlistForGateway:
            applyTopic(mutation)
        case .putSchedule(let entry): schedule.insert(entry)
        case .removeSchedule(let device, let sequence, let dueAt):
            schedule = schedule.filter { ($0.device, $0.sequence, $0.dueAt) != (device, sequence, dueAt) }
        case .markForGateway(let device): gatewayMarks.insert(device)
        case .unmarkForGateway(let device): gatewayMarks.remove(device)
        case .putFeedback(let entry): feedback.append(entry)
        case .removeFeedback(let entry): feedback.removeAll { $0 == entry }
        case .putMark(let mark, let number): marksOfProcess[mark] = number
        case .advanceLog: break
        case .putGroup(let group):
            groups.removeAll { $0.name == group.name }
            groups.append(group)
        case .removeGroup(let name, _): groups.removeAll { $0.name == name }
        case .putSender, .removeSender: break
        case .putUpstream(let message, _): put(message, &outcome)
        case .removeUpstream(let sender, let sequence, _, let reason):
            guard let at = upstream[sender]?.firstIndex(where: { $0.sequence == sequence }),
                let gone = upstream[sender]?.remove(at: at)
            else { return outcome.absent.append(MailboxPlace(.sender(sender), sequence)) }
            guard gone.kind == .message else { return }
            up[reason] += 1
        }
    }

    private mutating func put(_ message: StoredUpstream, _ outcome: inout CommitOutcome) {
        if !message.persistentID.isEmpty {
            let parts = [message.category, message.persistentID, message.messageID, message.body]
            let key = Array("\(message.from.device.number) \(message.sender.number) \(parts)".utf8)
            guard seen.insert(key).inserted else {
                outcome.duplicates.append((message.sender, message.sequence))
                return
            }
        }
        if (upstream[message.sender] ?? []).contains(where: { $0.sequence == message.sequence }) {
            collisions += 1
        }
        upstream[message.sender, default: []].append(message)
        upstream[message.sender]?.sort { $0.sequence < $1.sequence }
        if message.kind == .message {
            up.accepted += 1
            put.insert(message.messageID)
        } else {
            receipts.insert(message.messageID)
        }
    }

    /// Returns the entries of a partition that have expired by a time, earliest first.
    private func ended(by time: UnixMilliseconds, _ limit: Int, of partition: Int) -> [ExpiredEntry] {
        var found: [(UnixMilliseconds, UInt64, ExpiredEntry)] = []
        for message in messages.values.joined() where message.expiresAt <= time {
            found.append(
                (
                    message.expiresAt, message.sequence.number,
                    .message(message.device, message.sequence, expiresAt: message.expiresAt)
                ))
        }
        for entry in schedule where entry.dueAt <= time {
            found.append(
                (
                    entry.dueAt, entry.sequence.number,
                    .scheduled(entry.device, entry.sequence, dueAt: entry.dueAt)
                ))
        }
        for message in upstream.values.joined() where message.expiresAt <= time {
            found.append(
                (
                    message.expiresAt, message.sequence.number,
                    .upstream(
                        message.sender, message.sequence, expiresAt: message.expiresAt,
                        author: message.author)
                ))
        }
        found.removeAll { $0.2.key.partition(of: partitions) != partition }
        found.sort { ($0.0, $0.1) < ($1.0, $1.1) }
        return found.prefix(limit).map(\.2)
    }

    private func entry(of message: StoredMessage) -> MailboxEntry {
        var entry = MailboxEntry(message)
        if let scheduled = message.scheduled, !schedule.contains(scheduled) { entry.dueAt = nil }
        return entry
    }

    private func schedulePage(_ after: ScheduledMessage?, _ limit: Int, _ partition: Int) -> StoreResult {
        let found = schedule.filter { entry in
            PartitionKey.device(entry.device).partition(of: partitions) == partition
                && after.map { entry > $0 } ?? true
        }.sorted()
        return .schedule(Array(found.prefix(limit)), isLast: found.count <= limit)
    }

    private func gatewayDevices(from start: DeviceID, _ limit: Int, of partition: Int) -> StoreResult {
        let found = gatewayMarks.filter {
            $0 >= start && PartitionKey.device($0).partition(of: partitions) == partition
        }.sorted()
        return .gatewayDevices(Array(found.prefix(limit)), next: found.count > limit ? found[limit] : nil)
    }

    func answer(_ load: StoreQuery) -> StoreResult {
        switch load {
        case .device(let device):
            if index.registrations.isEmpty {
                index.registrations = Dictionary(grouping: registrations.values, by: \.name.device)
                index.subscriptions = Dictionary(grouping: subscriptions, by: \.name.device)
            }
            let names = index.registrations[device] ?? []
            var state = DeviceState(
                device: device, record: records[device],
                registrations: names.sorted { $0.name.number < $1.name.number },
                mailbox: (messages[device] ?? []).map { entry(of: $0) },
                subscriptions: index.subscriptions[device] ?? [])
            state.topicPosition = topicPositions[device] ?? SequenceNumber(0)
            return .device(state)
        case .installation(let installation, let limit, let isForChange):
            let names = (installations[installation] ?? []).sorted()
            return .installation(
                installation, installationRecords[installation], Array(names.prefix(limit)),
                isForChange: isForChange)
        case .unusedInstallations(let before, let unlinkedBefore, let start, _, let limit, let partition):
            let found = installationRecords.values.filter { record in
                let isLinked = installations[record.id]?.isEmpty == false
                return PartitionKey.installation(record.id).partition(of: partitions) == partition
                    && !record.id.lexicographicallyPrecedes(start)
                    && record.usedAt < (isLinked ? before : unlinkedBefore)
            }.map(\.id).sorted { $0.lexicographicallyPrecedes($1) }
            return .unusedInstallations(
                Array(found.prefix(limit)), next: found.count > limit ? found[limit] : nil, before: before,
                unlinkedBefore: unlinkedBefore)
        case .topicMessages(let after, let limit, let partition):
            let found = topicMessages.filter { message in
                PartitionKey.sender(message.name.sender).partition(of: partitions) == partition
                    && after.map { message.name > $0 } ?? true
            }.sorted { $0.name < $1.name }
            return .topicMessages(Array(found.prefix(limit)), isLast: found.count <= limit)
        case .topicEntries(let after, let limit, let partition):
            return topicEntries(after, limit, partition)
        case .topicDevices(let sender, let topic, let after, let limit, let partition):
            return topicDevices(sender, topic, after, limit, partition)
        case .messages(let device, let after, let limit):
            let found = (messages[device] ?? []).filter { $0.sequence > after }
            return .messages(
                device, found.prefix(limit).map { joined($0) }, isLast: found.count <= limit)
        case .gatewayMessage(let device, let sequence):
            let found = messages[device]?.first { $0.sequence == sequence }
            return .gatewayMessage(device, sequence, found.map { joined($0) })
        case .named(let device, let id, let lookup):
            let found = (messages[device] ?? []).filter { $0.isNamed(id) }
            return .named(device, found.map(\.persistentID), lookup: lookup)
        case .schedule(let after, let limit, let partition):
            return schedulePage(after, limit, partition)
        case .gatewayDevices(let start, let limit, let partition):
            return gatewayDevices(from: start, limit, of: partition)
        case .upstream(let sender, let after, let limit):
            let found = (upstream[sender] ?? []).filter { $0.sequence > after }
            return .upstream(sender, Array(found.prefix(limit)), isLast: found.count <= limit)
        case .expired(let time, let limit, let partition):
            return .expired(ended(by: time, limit, of: partition))
        case .group(let name, let isForChange):
            return .group(name, groups.first { $0.name == name }, isForChange: isForChange)
        case .groupLabelled(let sender, let label):
            return .groupLabelled(
                sender, label, groups.first { $0.name.sender == sender && $0.label == label })
        case .unseen(let time, let unusedBefore, let start, let examine, let limit, let partition):
            return unseen(
                from: start, examine, limit, of: partition,
                where: { $0.isUnseen(before: time, unusedBefore: unusedBefore) })
        }
    }

    private func unseen(
        from start: DeviceID, _ examine: Int, _ limit: Int, of partition: Int,
        where isUnseen: (DeviceRecord) -> Bool
    ) -> StoreResult {
        var found: [DeviceID] = []
        var left = examine
        for record in records.values.sorted(by: { $0.device < $1.device })
        where record.device >= start
            && PartitionKey.device(record.device).partition(of: partitions) == partition
        {
            guard left > 0, found.count < limit else { return .unseen(found, next: record.device) }
            left -= 1
            if isUnseen(record) { found.append(record.device) }
        }
        return .unseen(found, next: nil)
    }

    /// The number of downstream messages in all mailboxes, markers not counted.
    var downPending: Int { messages.values.joined().count { $0.kind == .message } }
    /// The number of upstream messages in all mailboxes, receipts not counted.
    var upPending: Int { upstream.values.joined().count { $0.kind == .message } }
    /// The conservation law (docs/concepts.md, Milestones).
    var holds: Bool { down.expectedPending == downPending && up.expectedPending == upPending }
}

extension Subscription {
    /// Whether it is equal apart from its time of creation.
    func isSame(as other: Subscription) -> Bool {
        name == other.name && sender == other.sender && topic == other.topic
    }
}

/// Topic messages.
extension FakeStore {
    private func partition(of sender: SenderID) -> Int {
        PartitionKey.sender(sender).partition(of: partitions)
    }

    private mutating func applyTopic(_ mutation: Mutation) {
        switch mutation {
        case .putTopicMessage(let message):
            topicMessages.append(message)
            sharedBodies[partition(of: message.name.sender), default: [:]][.topic(message.name)] =
                message.shared
        case .removeTopicMessage(let name): topicMessages.removeAll { $0.name == name }
        case .putTopicEntry(var entry, let partition):
            if entry.kind == .message {
                sharedBodies[partition, default: [:]][.topic(entry.message.name)] = entry.message.shared
            }
            entry.message.body = []
            entry.message.apns = entry.message.apns.map { _ in [] }
            topicLogs[partition, default: []].append(entry)
        case .putTopicProgress(let place, let progress, let partition):
            guard let at = topicLogs[partition]?.firstIndex(where: { $0.sequence == place }) else { return }
            topicLogs[partition]?[at].progress = progress
        case .removeTopicEntry(let place, let partition):
            topicLogs[partition]?.removeAll { $0.sequence == place }
        case .putTopicMark(let mark, let partition):
            topicMarks[partition, default: [:]][mark.source] = mark.through
        case .putSharedBody(let shared, let partition, _):
            sharedBodies[partition, default: [:]][shared.reference.name] = shared
        case .removeSharedBody(let name, let partition, _): sharedBodies[partition]?[name] = nil
        case .putTopicPosition(let device, let place): topicPositions[device] = place
        case .listForGateway(let subscription): gatewayList.append(subscription)
        case .unlistForGateway(let subscription): gatewayList.removeAll { $0.isSame(as: subscription) }
        default: break
        }
    }

    fileprivate func joined(_ message: StoredMessage) -> StoredMessage {
        guard let name = message.shared?.name else { return message }
        let partition = PartitionKey.device(message.device).partition(of: partitions)
        var message = message
        guard let shared = sharedBodies[partition]?[name], !hasDamagedBodies else {
            message.shared = SharedReference(withoutBodyOf: name)
            message.body = []
            return message
        }
        message.shared = shared.reference
        message.fields = shared.joined(to: message.fields)
        return message
    }

    private func topicEntries(_ after: SequenceNumber, _ limit: Int, _ partition: Int) -> StoreResult {
        let found = (topicLogs[partition] ?? []).filter { $0.sequence > after }.sorted {
            $0.sequence < $1.sequence
        }
        let marks = (topicMarks[partition] ?? [:]).map { TopicMark(source: $0.key, through: $0.value) }
        return .topicEntries(Array(found.prefix(limit)), marks: marks, isLast: found.count <= limit)
    }

    private func topicDevices(
        _ sender: SenderID, _ topic: TopicName?, _ after: DeviceID?, _ limit: Int, _ partition: Int
    ) -> StoreResult {
        var found: Set<DeviceID> = []
        if let topic {
            for known in subscriptions where known.sender == sender && known.topic == topic {
                if registrations[known.name]?.usesAPNs == true { found.insert(known.name.device) }
            }
        } else {
            for known in registrations.values where known.usesAPNs && known.allows(sender) {
                found.insert(known.name.device)
            }
        }
        let page = found.filter { device in
            PartitionKey.device(device).partition(of: partitions) == partition
                && after.map { device > $0 } ?? true
        }.sorted()
        return .topicDevices(
            Array(page.prefix(limit)), next: page.count > limit ? page[limit - 1] : nil)
    }
}
