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
    var topicJobs: [TopicJob] = []
    var topicBodies: [TopicJobName] = []
    /// Whether the bodies that topic messages share are not there yet.
    var hasLateBodies = false
    var marks: [TopicJobName: Set<RegistrationName>] = [:]
    var groups: [GroupRecord] = []
    /// Devices that are marked for the APNs gateway.
    var gatewayMarks: Set<DeviceID> = []
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
        case .removeDevice(let device): records[device] = nil
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
            if let job = message.topic?.job {
                marks[job, default: []].insert(
                    RegistrationName(device: message.device, number: message.registration))
            }
            if message.kind == .message { down.accepted += 1 }
            put.insert(message.messageID)
        case .removeMessage(let device, let sequence, _, let reason):
            guard let at = messages[device]?.firstIndex(where: { $0.sequence == sequence }),
                let gone = messages[device]?.remove(at: at), gone.kind == .message
            else { return }
            down[reason] += 1
            if reason == .delivered, gone.wantsReceipt, !receipts.contains(gone.messageID) {
                missingReceipts.append(gone.messageID)
            }
        case .putTopicJob, .advanceTopicJob, .removeTopicJob, .removeTopicBody: applyTopic(mutation)
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
                let gone = upstream[sender]?.remove(at: at), gone.kind == .message
            else { return }
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
            return .device(
                DeviceState(
                    device: device, record: records[device],
                    registrations: names.sorted { $0.name.number < $1.name.number },
                    mailbox: (messages[device] ?? []).map { MailboxEntry($0) },
                    subscriptions: index.subscriptions[device] ?? []))
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
        case .topicPage(let job, let topic, let after, let limit):
            return .topicPage(job, topicPage(job, topic, after, limit))
        case .topicJobs(let after, let limit, let partition):
            let found = topicJobs.filter { job in
                PartitionKey.sender(job.name.sender).partition(of: partitions) == partition
                    && after.map { job.name > $0 } ?? true
            }.sorted { $0.name < $1.name }
            return .topicJobs(Array(found.prefix(limit)), isLast: found.count <= limit)
        case .messages(let device, let after, let limit):
            let found = (messages[device] ?? []).filter { $0.sequence > after }
            return .messages(
                device, found.prefix(limit).map { joined($0) }, isLast: found.count <= limit)
        case .gatewayMessage(let device, let sequence):
            let found = messages[device]?.first { $0.sequence == sequence }
            return .gatewayMessage(device, sequence, found.map { joined($0) })
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
            var found: [DeviceID] = []
            var left = examine
            for record in records.values.sorted(by: { $0.device < $1.device })
            where record.device >= start
                && PartitionKey.device(record.device).partition(of: partitions) == partition
            {
                guard left > 0, found.count < limit else { return .unseen(found, next: record.device) }
                left -= 1
                if record.isUnseen(before: time, unusedBefore: unusedBefore) { found.append(record.device) }
            }
            return .unseen(found, next: nil)
        }
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
    private mutating func applyTopic(_ mutation: Mutation) {
        switch mutation {
        case .putTopicJob(let job):
            topicJobs.append(job)
            topicBodies.append(job.name)
        case .advanceTopicJob(let name, let cursor, let marked):
            for at in topicJobs.indices where topicJobs[at].name == name { topicJobs[at].cursor = cursor }
            marks[name]?.subtract(marked)
        case .removeTopicJob(let name, let marked):
            topicJobs.removeAll { $0.name == name }
            marks[name]?.subtract(marked)
        case .removeTopicBody(let name, _): topicBodies.removeAll { $0 == name }
        default: break
        }
    }

    fileprivate func joined(_ message: StoredMessage) -> StoredMessage {
        guard hasLateBodies, let job = message.topic?.job else { return message }
        var message = message
        message.topic = TopicReference(withoutBodyOf: job)
        message.body = []
        return message
    }

    private func topicPage(
        _ job: TopicJobName, _ topic: TopicName?, _ after: RegistrationName?, _ limit: Int
    ) -> TopicPage {
        var found: [RegistrationName]
        if let topic {
            found = subscriptions.filter { $0.sender == job.sender && $0.topic == topic }.map(\.name)
        } else {
            found = registrations.values.filter { $0.allows(job.sender) }.map(\.name)
        }
        found = found.filter { name in after.map { name > $0 } ?? true }.sorted()
        let page = found.prefix(limit)
        let next = found.count > limit ? page.last : nil
        let marked = (marks[job] ?? []).filter { name in
            after.map { name > $0 } ?? true && next.map { name <= $0 } ?? true
        }.sorted()
        return TopicPage(names: page.filter { !marked.contains($0) }, marked: marked, next: next)
    }
}
