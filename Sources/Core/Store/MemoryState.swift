public import Basics
public import Delivery

/// The content of a store as a plain value: the reference implementation of the store contract.
public struct MemoryState: Sendable {
    /// What identifies an upstream message that a device repeats.
    private struct SeenKey: Hashable {
        var device: DeviceID
        var category: [UInt8]
        var sender: SenderID
        var persistentID: [UInt8]
        var messageID: [UInt8]
        var body: EncodedAppData

        init(_ message: StoredUpstream) {
            device = message.from.device
            category = message.category
            sender = message.sender
            persistentID = message.persistentID
            messageID = message.messageID
            body = message.body
        }
    }

    private var devices: [DeviceID: DeviceRecord] = [:]
    private var registrations: [DeviceID: [RegistrationNumber: Registration]] = [:]
    private(set) var messages = Mailboxes<StoredMessage>()
    private(set) var upstream = Mailboxes<StoredUpstream>()
    private var senderRecords: [SenderID: SenderRecord] = [:]
    private var seen: [SeenKey: UnixMilliseconds] = [:]
    private var groups = GroupTable()
    /// Number of partitions.
    public let partitions: Int
    /// The expiry index of each partition.
    private var expiry: [SortedKeys]
    private var subscriptions = SubscriptionLists()
    private var topicJobs = TopicJobTable()
    private var installations: [[UInt8]: Set<RegistrationName>] = [:]
    private var installationRecords: [[UInt8]: InstallationRecord] = [:]
    private var gatewayMarks: Set<DeviceID> = []
    private var feedback: [APNsFeedback] = []
    /// Settings of the server, by name.
    public var settings: [String: [UInt8]] = [:]
    /// The counts of each partition.
    public private(set) var tallies: [Tally]

    /// Creates an empty store.
    public init(partitions: Int = Limits.Partition.count) {
        self.partitions = partitions
        expiry = Array(repeating: SortedKeys(), count: partitions)
        tallies = Array(repeating: Tally(), count: partitions)
    }

    private func partition(of key: PartitionKey) -> Int { key.partition(of: partitions) }

    private mutating func insert(_ end: ExpiryKey) { expiry[partition(of: end.key)].insert(end) }

    private mutating func remove(_ end: ExpiryKey) { expiry[partition(of: end.key)].remove(end) }

    private mutating func count(
        _ milestone: Milestone, down device: DeviceID, _ outcome: inout CommitOutcome
    ) {
        tallies[partition(of: .device(device))].downstream[milestone] += 1
        outcome.downstream[milestone] += 1
    }

    private mutating func count(
        _ milestone: Milestone, up sender: SenderID, _ outcome: inout CommitOutcome
    ) {
        tallies[partition(of: .sender(sender))].upstream[milestone] += 1
        outcome.upstream[milestone] += 1
    }

    /// Applies a batch. A batch that breaks an invariant or collides with a stored message fails, and changes nothing.
    public mutating func commit(_ batch: WriteBatch) -> CommitOutcome {
        guard refusal(of: [batch]) == nil else {
            return CommitOutcome(batchNumber: batch.batchNumber, hasFailed: true)
        }
        var outcome = CommitOutcome(batchNumber: batch.batchNumber)
        for mutation in batch.mutations { apply(mutation, &outcome) }
        return outcome
    }

    private mutating func apply(_ mutation: Mutation, _ outcome: inout CommitOutcome) {
        switch mutation {
        case .putDevice(let record): devices[record.device] = record
        case .putRegistration(let registration):
            registrations[registration.name.device, default: [:]][registration.name.number] = registration
        case .removeRegistration(let name):
            registrations[name.device]?[name.number] = nil
            if registrations[name.device]?.isEmpty == true { registrations[name.device] = nil }
        case .removeDevice(let device): devices[device] = nil
        case .putSubscription(let subscription): subscriptions.put(subscription)
        case .removeSubscription(let subscription): subscriptions.remove(subscription)
        case .linkInstallation(let installation, let name):
            installations[installation, default: []].insert(name)
        case .unlinkInstallation(let installation, let name):
            installations[installation]?.remove(name)
            if installations[installation]?.isEmpty == true { installations[installation] = nil }
        case .putInstallation(let record): installationRecords[record.id] = record
        case .removeInstallation(let id): installationRecords[id] = nil
        case .putTopicJob(let job):
            topicJobs.put(job)
            insert(ExpiryKey(bodyOf: job.name, endsAt: job.bodyEndsAt))
        case .advanceTopicJob(let job, let cursor, let marked): topicJobs.advance(job, to: cursor, marked)
        case .removeTopicJob(let job, let marked): topicJobs.remove(job, marked)
        case .removeTopicBody(let job, let time):
            if topicJobs.removeBody(of: job) { remove(ExpiryKey(bodyOf: job, endsAt: time)) }
        case .putMessage(let message): put(message, &outcome)
        case .removeMessage(let device, let sequence, _, let reason):
            guard let gone = messages.remove(device.number, sequence.number) else { return }
            remove(ExpiryKey(gone))
            if gone.kind == .message { count(reason, down: device, &outcome) }
        case .markForGateway(let device): gatewayMarks.insert(device)
        case .unmarkForGateway(let device): gatewayMarks.remove(device)
        case .putFeedback(let entry):
            remove(entry)
            feedback.append(entry)
        case .removeFeedback(let entry): remove(entry)
        case .putMark(let mark, let number): settings[mark.rawValue] = StoreMark.bytes(number)
        case .advanceLog(let partition, let progress): tallies[partition].log = progress
        case .putGroup(let group): groups.put(group)
        case .removeGroup(let name, let label): groups.remove(name, label: label)
        case .putSender(let record): senderRecords[record.sender] = record
        case .removeSender(let sender): senderRecords[sender] = nil
        case .putUpstream(let message, let now): put(message, now, &outcome)
        case .removeUpstream(let sender, let sequence, _, let reason):
            guard let gone = upstream.remove(sender.number, sequence.number) else { return }
            remove(ExpiryKey(gone))
            if gone.kind == .message { count(reason, up: sender, &outcome) }
        }
    }

    private mutating func remove(_ entry: APNsFeedback) {
        feedback.removeAll {
            $0.sender == entry.sender && FeedbackPosition($0) == FeedbackPosition(entry)
        }
    }

    private mutating func put(_ message: StoredMessage, _ outcome: inout CommitOutcome) {
        guard messages.put(message, message.device.number, message.sequence.number) else { return }
        if let job = message.topic?.job {
            topicJobs.mark(
                RegistrationName(device: message.device, number: message.registration), of: job)
        }
        insert(ExpiryKey(message))
        if message.kind == .message { count(.accepted, down: message.device, &outcome) }
    }

    private mutating func put(
        _ message: StoredUpstream, _ now: UnixMilliseconds, _ outcome: inout CommitOutcome
    ) {
        if isRepeated(message, at: now) {
            outcome.duplicates.append((message.sender, message.sequence))
            return
        }
        guard upstream.put(message, message.sender.number, message.sequence.number) else { return }
        if !message.persistentID.isEmpty { seen[SeenKey(message)] = now }
        insert(ExpiryKey(message))
        if message.kind == .message { count(.accepted, up: message.sender, &outcome) }
    }

    /// Returns whether a message repeats one that was put within the last day.
    func isRepeated(_ message: StoredUpstream, at now: UnixMilliseconds) -> Bool {
        guard !message.persistentID.isEmpty, let time = seen[SeenKey(message)] else { return false }
        return Upstreams.isRemembered(time, at: now)
    }

    public func topics(from position: SubscriberPosition?, examine: Int) -> TopicCounts {
        subscriptions.counts(from: position, examine: examine)
    }

    /// Returns the answer to a load.
    public func load(_ load: StoreQuery) -> StoreResult {
        switch load {
        case .device(let device):
            let state = DeviceState(
                device: device, record: devices[device],
                registrations: (registrations[device] ?? [:]).values.sorted {
                    $0.name.number < $1.name.number
                },
                mailbox: messages.all(device.number).map { MailboxEntry($0.element) },
                subscriptions: subscriptions.all(of: device))
            return .device(state)
        case .installation(let installation, let limit, let isForChange):
            let names = (installations[installation] ?? []).sorted()
            return .installation(
                installation, installationRecords[installation], Array(names.prefix(limit)),
                isForChange: isForChange)
        case .unusedInstallations(
            let before, let unlinkedBefore, let start, let examine, let limit, let partition):
            return unusedInstallations(before, unlinkedBefore, from: start, examine, limit, of: partition)
        case .topicPage(let job, let topic, let after, let limit):
            return .topicPage(job, topicPage(job, topic, after, limit))
        case .topicJobs(let after, let limit, let partition):
            let (page, isLast) = topicJobs.page(after: after, limit: limit) {
                self.partition(of: .sender($0.sender)) == partition
            }
            return .topicJobs(page, isLast: isLast)
        case .messages(let device, let after, let limit):
            let (page, isLast) = messages.page(device.number, after: after.number, limit: limit)
            return .messages(device, page.map { joined($0.element) }, isLast: isLast)
        case .gatewayMessage(let device, let sequence):
            let message = messages[device.number, sequence.number]
            return .gatewayMessage(device, sequence, message.map { joined($0) })
        case .gatewayDevices(let start, let limit, let partition):
            let found = gatewayMarks.filter {
                $0 >= start && self.partition(of: .device($0)) == partition
            }.sorted()
            return .gatewayDevices(
                Array(found.prefix(limit)), next: found.count > limit ? found[limit] : nil)
        case .upstream(let sender, let after, let limit):
            let (page, isLast) = upstream.page(sender.number, after: after.number, limit: limit)
            return .upstream(sender, page.map(\.element), isLast: isLast)
        case .group(let name, let isForChange):
            return .group(name, groups[name], isForChange: isForChange)
        case .groupLabelled(let sender, let label):
            return .groupLabelled(sender, label, groups.group(of: sender, label: label))
        case .expired(let time, let limit, let partition):
            let ends = expiry[partition].keys.prefix(limit).prefix { $0.time <= time }
            return .expired(ends.map { $0.entry(author: upstream[$0.owner, $0.sequence]?.author) })
        case .unseen(let time, let unusedBefore, let start, let examine, let limit, let partition):
            return unseen(from: start, examine: examine, limit: limit, of: partition) {
                $0.isUnseen(before: time, unusedBefore: unusedBefore)
            }
        }
    }

    /// Returns a message without the body that it shares if the store does not have that.
    private func joined(_ message: StoredMessage) -> StoredMessage {
        guard let job = message.topic?.job, !topicJobs.hasBody(of: job) else { return message }
        var message = message
        message.topic = TopicReference(withoutBodyOf: job)
        message.fields = MessageFields(
            messageID: message.messageID, collapseKey: message.collapseKey, body: [],
            apns: message.apns.map { _ in [] })
        return message
    }

    private func topicPage(
        _ job: TopicJobName, _ topic: TopicName?, _ after: RegistrationName?, _ limit: Int
    ) -> TopicPage {
        var (names, isLast): ([RegistrationName], Bool)
        if let topic {
            (names, isLast) = subscriptions.page(job.sender, topic, after: after, limit: limit)
        } else {
            let all = registrations.values.flatMap(\.values).filter { registration in
                registration.allows(job.sender) && after.map { registration.name > $0 } ?? true
            }.map(\.name).sorted()
            (names, isLast) = (Array(all.prefix(limit)), all.count <= limit)
        }
        let next = isLast ? nil : names.last
        let marked = topicJobs.marked(of: job, after: after, through: next)
        names.removeAll { marked.contains($0) }
        return TopicPage(names: names, marked: marked, next: next)
    }

    private func unseen(
        from start: DeviceID, examine: Int, limit: Int, of partition: Int,
        _ isUnseen: (DeviceRecord) -> Bool
    ) -> StoreResult {
        var found: [DeviceID] = []
        var examined = 0
        let records = devices.values.filter {
            $0.device >= start && self.partition(of: .device($0.device)) == partition
        }
        for record in records.sorted(by: { $0.device < $1.device }) {
            guard examined < examine, found.count < limit else { return .unseen(found, next: record.device) }
            examined += 1
            if isUnseen(record) { found.append(record.device) }
        }
        return .unseen(found, next: nil)
    }

    private func unusedInstallations(
        _ before: UnixMilliseconds, _ unlinkedBefore: UnixMilliseconds, from start: [UInt8], _ examine: Int,
        _ limit: Int, of partition: Int
    ) -> StoreResult {
        var found: [[UInt8]] = []
        var examined = 0
        var next: [UInt8]?
        let records = installationRecords.values.filter {
            !$0.id.lexicographicallyPrecedes(start)
                && self.partition(of: .installation($0.id)) == partition
        }
        for record in records.sorted(by: { $0.id.lexicographicallyPrecedes($1.id) }) {
            guard examined < examine, found.count < limit else {
                next = record.id
                break
            }
            examined += 1
            let isLinked = installations[record.id] != nil
            if record.usedAt < (isLinked ? before : unlinkedBefore) { found.append(record.id) }
        }
        return .unusedInstallations(found, next: next, before: before, unlinkedBefore: unlinkedBefore)
    }

    /// All senders, in order of their IDs.
    public var senders: [SenderRecord] { senderRecords.values.sorted { $0.sender < $1.sender } }

    /// Returns up to `limit` devices after one, in order of their IDs.
    public func devices(after: DeviceID?, limit: Int) -> [DeviceRecord] {
        let records = devices.values.filter { record in after.map { record.device > $0 } ?? true }
        return Array(records.sorted { $0.device < $1.device }.prefix(limit))
    }

    /// Returns up to `limit` installations after one, in order of their IDs.
    public func installations(after: [UInt8]?, limit: Int) -> [ListedInstallation] {
        let records = installationRecords.values.filter { after?.lexicographicallyPrecedes($0.id) ?? true }
        return records.sorted { $0.id.lexicographicallyPrecedes($1.id) }.prefix(limit).map {
            ListedInstallation(record: $0, registrations: installations[$0.id]?.count ?? 0)
        }
    }

    /// Returns up to `limit` groups after one, in order of their names.
    public func groups(after: GroupName?, limit: Int) -> [GroupRecord] {
        groups.list(after: after, limit: limit)
    }

    /// Returns up to `limit` entries of a sender's feedback list after a position.
    public func feedback(of sender: SenderID, after: FeedbackPosition, limit: Int) -> [APNsFeedback] {
        let entries = feedback.filter { $0.sender == sender && FeedbackPosition($0) > after }
        return Array(entries.sorted { FeedbackPosition($0) < FeedbackPosition($1) }.prefix(limit))
    }

    /// Visits every downstream message and marker, in no particular order.
    public func forEachMessage(_ body: (StoredMessage) -> Void) { messages.forEach { body($2) } }

    /// Visits every upstream message and receipt, in no particular order.
    public func forEachUpstream(_ body: (StoredUpstream) -> Void) { upstream.forEach { body($2) } }

    /// Whether there are unfinished topic jobs.
    public var hasTopicJobs: Bool { topicJobs.count > 0 }

    /// Rows that the registry would have on a disk, where a device, an installation and a subscription have two each.
    public var registryRows: Int {
        let ofDevices = 2 * devices.count + registrations.values.map(\.count).reduce(0, +)
        let ofInstallations = 2 * installationRecords.count + installations.values.map(\.count).reduce(0, +)
        return ofDevices + ofInstallations + 2 * subscriptions.count + senderRecords.count + groups.count
    }

    /// Counts all devices after one, and their registrations.
    public func census(after: DeviceID?) -> RegistryCensus {
        var census = RegistryCensus()
        let counted = devices.keys.filter { device in after.map { device > $0 } ?? true }
        census.devices = counted.count
        census.registrations = counted.reduce(0) { $0 + (registrations[$1]?.count ?? 0) }
        return census
    }

    /// Counts all records.
    public func audit() -> StoreAudit {
        var audit = StoreAudit()
        audit.add(tallies)
        messages.forEach { if $2.kind == .message { audit.downstreamPending += 1 } }
        upstream.forEach { if $2.kind == .message { audit.upstreamPending += 1 } }
        audit.devices = devices.count
        audit.registrations = registrations.values.reduce(0) { $0 + $1.count }
        audit.senders = senderRecords.count
        audit.groups = groups.count
        audit.installations = installationRecords.count
        audit.subscriptions = subscriptions.count
        audit.topicJobs = topicJobs.count
        return audit
    }
}

/// Rules about upstream messages that all stores share.
public enum Upstreams {
    /// Returns whether a message that was put at a time still suppresses its repeats.
    public static func isRemembered(_ time: UnixMilliseconds, at now: UnixMilliseconds) -> Bool {
        now - time < Int64(Limits.Message.upstreamMemorySeconds) * 1_000
    }
}
