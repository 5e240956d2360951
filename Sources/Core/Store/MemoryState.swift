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

    private(set) var devices: [DeviceID: DeviceRecord] = [:]
    private(set) var registrations: [DeviceID: [RegistrationNumber: Registration]] = [:]
    private(set) var messages = Mailboxes<StoredMessage>()
    private(set) var upstream = Mailboxes<StoredUpstream>()
    private(set) var senderRecords: [SenderID: SenderRecord] = [:]
    private var seen: [SeenKey: UnixMilliseconds] = [:]
    private(set) var groups = GroupTable()
    /// Number of partitions.
    public let partitions: Int
    /// The expiry index of each partition.
    private var expiry: [SortedKeys]
    private(set) var subscriptions = SubscriptionLists()
    private(set) var positions: [DeviceID: SequenceNumber] = [:]
    /// The topic messages of each partition.
    private(set) var topics: [TopicTable]
    private(set) var installations: [[UInt8]: Set<RegistrationName>] = [:]
    private(set) var installationRecords: [[UInt8]: InstallationRecord] = [:]
    private var gatewayMarks: Set<DeviceID> = []
    private var feedback: [APNsFeedback] = []
    private(set) var schedule = ScheduleTable()
    /// Settings of the server, by name.
    public var settings: [String: [UInt8]] = [:]
    /// The counts of each partition.
    public private(set) var tallies: [Tally]

    /// Creates an empty store.
    public init(partitions: Int = Limits.Partition.count) {
        self.partitions = partitions
        expiry = Array(repeating: SortedKeys(), count: partitions)
        topics = Array(repeating: TopicTable(), count: partitions)
        tallies = Array(repeating: Tally(), count: partitions)
    }

    private func partition(of key: PartitionKey) -> Int { key.partition(of: partitions) }

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
        case .removeDevice(let device):
            devices[device] = nil
            positions[device] = nil
        case .putSubscription(let subscription): subscriptions.put(subscription)
        case .removeSubscription(let subscription): subscriptions.remove(subscription)
        case .linkInstallation(let installation, let name):
            installations[installation, default: []].insert(name)
        case .unlinkInstallation(let installation, let name):
            installations[installation]?.remove(name)
            if installations[installation]?.isEmpty == true { installations[installation] = nil }
        case .putInstallation(let record): installationRecords[record.id] = record
        case .removeInstallation(let id): installationRecords[id] = nil
        case .putTopicMessage(let message):
            let partition = partition(of: .sender(message.name.sender))
            topics[partition].messages[message.name] = message
            put(message.shared, partition, message.bodyEndsAt)
        case .removeTopicMessage(let name): topics[partition(of: .sender(name.sender))].messages[name] = nil
        case .putTopicEntry(let entry, let partition):
            topics[partition].put(entry)
            if entry.kind == .message { put(entry.message.shared, partition, entry.message.bodyEndsAt) }
        case .putTopicProgress(let place, let progress, let partition):
            topics[partition].put(progress, at: place)
        case .removeTopicEntry(let place, let partition): topics[partition].removeEntry(at: place)
        case .putTopicMark(let mark, let partition): topics[partition].put(mark)
        case .putSharedBody(let shared, let partition, let end): put(shared, partition, end)
        case .removeSharedBody(let name, let partition, let time):
            topics[partition].removeBody(name)
            expiry[partition].remove(ExpiryKey(bodyOf: name, endsAt: time))
        case .putTopicPosition(let device, let place): positions[device] = place
        case .listForGateway(let subscription):
            topics[partition(of: .device(subscription.name.device))].list(subscription)
        case .unlistForGateway(let subscription):
            topics[partition(of: .device(subscription.name.device))].unlist(subscription)
        case .putMessage(let message): put(message, &outcome)
        case .removeMessage(let device, let sequence, _, let reason):
            remove(sequence, of: device, reason, &outcome)
        case .putSchedule(let entry): put(entry)
        case .removeSchedule(let device, let sequence, let dueAt):
            guard let entry = schedule.remove(device, sequence, dueAt) else { return }
            expiry[partition(of: .device(device))].remove(entry.due)
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
            remove(sequence, of: sender, reason, &outcome)
        }
    }

    private mutating func remove(
        _ sequence: SequenceNumber, of device: DeviceID, _ reason: Milestone, _ outcome: inout CommitOutcome
    ) {
        guard let gone = messages.remove(device.number, sequence.number) else {
            return outcome.absent.append(MailboxPlace(.device(device), sequence))
        }
        expiry[partition(of: .device(device))].remove(ExpiryKey(gone))
        if gone.kind == .message { count(reason, down: device, &outcome) }
    }

    private mutating func remove(
        _ sequence: SequenceNumber, of sender: SenderID, _ reason: Milestone, _ outcome: inout CommitOutcome
    ) {
        guard let gone = upstream.remove(sender.number, sequence.number) else {
            return outcome.absent.append(MailboxPlace(.sender(sender), sequence))
        }
        expiry[partition(of: .sender(sender))].remove(ExpiryKey(gone))
        if gone.kind == .message { count(reason, up: sender, &outcome) }
    }

    private mutating func put(_ entry: ScheduledMessage) {
        if schedule.put(entry) { expiry[partition(of: .device(entry.device))].insert(entry.due) }
    }

    private mutating func remove(_ entry: APNsFeedback) {
        feedback.removeAll {
            $0.sender == entry.sender && FeedbackPosition($0) == FeedbackPosition(entry)
        }
    }

    private mutating func put(_ message: StoredMessage, _ outcome: inout CommitOutcome) {
        guard messages.put(message.recorded, message.device.number, message.sequence.number) else { return }
        expiry[partition(of: .device(message.device))].insert(ExpiryKey(message))
        if message.kind == .message { count(.accepted, down: message.device, &outcome) }
    }

    private mutating func put(_ shared: SharedBody, _ partition: Int, _ end: UnixMilliseconds) {
        guard topics[partition].put(shared) else { return }
        expiry[partition].insert(ExpiryKey(bodyOf: shared.reference.name, endsAt: end))
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
        expiry[partition(of: .sender(message.sender))].insert(ExpiryKey(message))
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

    public func subscribers(from position: SubscriberPosition, limit: Int) -> [TokenName] {
        let found = subscriptions.subscribers(from: position).lazy.compactMap {
            registrations[$0.device]?[$0.number]?.tokenName
        }
        return Array(found.prefix(limit))
    }

    /// Returns the answer to a load.
    public func load(_ load: StoreQuery) -> StoreResult {
        switch load {
        case .device(let device):
            var state = DeviceState(
                device: device, record: devices[device],
                registrations: (registrations[device] ?? [:]).values.sorted {
                    $0.name.number < $1.name.number
                },
                mailbox: messages.all(device.number).map { schedule.entry(of: $0.element) },
                subscriptions: subscriptions.all(of: device))
            state.topicPosition = positions[device] ?? state.topicPosition
            return .device(state)
        case .installation(let installation, let limit, let isForChange):
            let names = (installations[installation] ?? []).sorted()
            return .installation(
                installation, installationRecords[installation], Array(names.prefix(limit)),
                isForChange: isForChange)
        case .unusedInstallations(
            let before, let unlinkedBefore, let start, let examine, let limit, let partition):
            return unusedInstallations(before, unlinkedBefore, from: start, examine, limit, of: partition)
        case .topicMessages(let after, let limit, let partition):
            let (page, isLast) = topics[partition].messages(after: after, limit: limit)
            return .topicMessages(page, isLast: isLast)
        case .topicEntries(let after, let limit, let partition):
            let (page, isLast) = topics[partition].entries(after: after, limit: limit)
            return .topicEntries(page, marks: topics[partition].marks, isLast: isLast)
        case .topicDevices(let sender, let topic, let after, let limit, let partition):
            return topicDevices(sender, topic, after, limit, partition)
        case .messages(let device, let after, let limit):
            let (page, isLast) = messages.page(device.number, after: after.number, limit: limit)
            return .messages(device, page.map { joined($0.element) }, isLast: isLast)
        case .gatewayMessage(let device, let sequence):
            let message = messages[device.number, sequence.number]
            return .gatewayMessage(device, sequence, message.map { joined($0) })
        case .named(let device, let id, let lookup):
            let found = messages.all(device.number).map(\.element).filter { $0.isNamed(id) }
            return .named(device, found.map(\.persistentID), lookup: lookup)
        case .schedule(let after, let limit, let partition):
            return schedule.page(after: after, limit: limit) { self.partition(of: .device($0)) == partition }
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
            return .expired(
                ends.map { $0.entry(in: partition, author: upstream[$0.owner, $0.sequence]?.author) })
        case .unseen(let time, let unusedBefore, let start, let examine, let limit, let partition):
            return unseen(from: start, examine: examine, limit: limit, of: partition) {
                $0.isUnseen(before: time, unusedBefore: unusedBefore)
            }
        }
    }

    /// Returns a message with the pairs that it shares, if its partition has them.
    private func joined(_ message: StoredMessage) -> StoredMessage {
        guard let name = message.shared?.name,
            let shared = topics[partition(of: .device(message.device))].bodies[name]
        else { return message }
        var message = message
        message.shared = shared.reference
        message.fields = shared.joined(to: message.fields)
        return message
    }

    private func topicDevices(
        _ sender: SenderID, _ topic: TopicName?, _ after: DeviceID?, _ limit: Int, _ partition: Int
    ) -> StoreResult {
        var found: Set<DeviceID>
        if let topic {
            found = topics[partition].devices(sender, topic)
        } else {
            let own = devices.keys.filter { self.partition(of: .device($0)) == partition }
            found = Set(own).filter { device in
                registrations[device]?.values.contains { $0.usesAPNs && $0.allows(sender) } ?? false
            }
        }
        if let after { found = found.filter { $0 > after } }
        let page = Array(found.sorted().prefix(limit))
        return .topicDevices(page, next: found.count > limit ? page.last : nil)
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

    /// Whether there are topic messages that not all partitions have.
    public var hasTopicMessages: Bool { topics.contains { !$0.messages.isEmpty } }

    /// The log of a partition, without pairs, in order.
    public func topicLog(_ partition: Int) -> [TopicEntry] {
        topics[partition].entries(after: SequenceNumber(0), limit: .max).0
    }
}
