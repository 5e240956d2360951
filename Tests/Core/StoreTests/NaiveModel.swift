import Basics
import Delivery
import Store

/// The kinds of events in random batches.
enum StoreEvent: String, CaseIterable {
    case messagePut = "message put"
    case markerPut = "marker put"
    case reportPut = "report put"
    case messagePutAgain = "message put again"
    case messageRemoved = "message removed"
    case messageMissing = "message to remove is missing"
    case upstreamPut = "upstream message put"
    case receiptPut = "receipt put"
    case upstreamPutAgain = "upstream message put again"
    case upstreamRepeated = "upstream message repeated"
    case upstreamForgotten = "repeat after a day"
    case upstreamRemoved = "upstream message removed"
    case upstreamMissing = "upstream message to remove is missing"
    case rowPut = "registry row put"
    case rowChanged = "registry row changed"
    case rowRemoved = "registry row removed"
    case rowMissing = "registry row to remove is missing"
    case devicePut = "device put"
    case deviceRemoved = "device removed"
    case registrationPut = "registration put"
    case registrationRemoved = "registration removed"
    case subscriptionPut = "subscription put"
    case subscriptionRemoved = "subscription removed"
    case linkPut = "installation linked"
    case linkRemoved = "installation unlinked"
    case installationPut = "installation put"
    case installationRemoved = "installation removed"
    case groupPut = "group put"
    case groupRemoved = "group removed"
    case senderPut = "sender put"
    case senderRemoved = "sender removed"
    case topicMessagePut = "topic message put"
    case topicMessageRemoved = "topic message removed"
    case entryPut = "entry of a log put"
    case entryRemoved = "entry of a log removed"
    case progressPut = "progress put"
    case progressMissing = "entry of a progress is missing"
    case topicMarkPut = "mark of a log put"
    case bodyPut = "pairs of a request put"
    case bodyRemoved = "shared pairs removed"
    case positionPut = "position put"
    case listed = "subscription listed"
    case unlisted = "subscription no longer listed"
}

/// The expected content of a store, implemented as simply as possible.
struct NaiveModel {
    var devices: [DeviceRecord] = []
    var registrations: [Registration] = []
    var senders: [SenderRecord] = []
    var messages: [StoredMessage] = []
    var subscriptions: [Subscription] = []
    var links: [Link] = []
    var installations: [InstallationRecord] = []
    var upstream: [StoredUpstream] = []
    var groups: [GroupRecord] = []
    var topics = NaiveTopics()
    private var seen: [(StoredUpstream, UnixMilliseconds)] = []
    var down = MilestoneCounts()
    var up = MilestoneCounts()
    /// The events of the batches so far.
    private(set) var reached = ReachTally<StoreEvent>()

    /// A registration of an installation.
    struct Link: Equatable {
        var installation: [UInt8]
        var name: RegistrationName
    }

    mutating func apply(_ batch: WriteBatch) -> CommitOutcome {
        var outcome = CommitOutcome(batchNumber: batch.batchNumber)
        let before = (down: down, up: up)
        for mutation in batch.mutations {
            switch mutation {
            case .putMessage(let message): put(message)
            case .removeMessage(let device, let sequence, _, let reason):
                guard let at = messages.firstIndex(where: { $0.device == device && $0.sequence == sequence })
                else {
                    reached.record(.messageMissing)
                    outcome.absent.append(MailboxPlace(.device(device), sequence))
                    continue
                }
                reached.record(.messageRemoved)
                if messages.remove(at: at).kind == .message { down[reason] += 1 }
            case .putMark, .advanceLog: break
            case .putUpstream(let message, let now): put(message, now, &outcome)
            case .removeUpstream(let sender, let sequence, _, let reason):
                guard let at = upstream.firstIndex(where: { $0.sender == sender && $0.sequence == sequence })
                else {
                    reached.record(.upstreamMissing)
                    outcome.absent.append(MailboxPlace(.sender(sender), sequence))
                    continue
                }
                reached.record(.upstreamRemoved)
                if upstream.remove(at: at).kind == .message { up[reason] += 1 }
            case .removeDevice(let device):
                topics.positions[device] = nil
                applyRegistry(mutation)
            default:
                if let event = topics.apply(mutation) {
                    reached.record(event)
                } else {
                    applyRegistry(mutation)
                }
            }
        }
        for milestone in Milestone.allCases {
            outcome.downstream[milestone] = down[milestone] - before.down[milestone]
            outcome.upstream[milestone] = up[milestone] - before.up[milestone]
        }
        return outcome
    }

    private mutating func applyRegistry(_ mutation: Mutation) {
        switch mutation {
        case .putDevice(let record):
            put(record, among: \.devices, .devicePut) { $0.device == record.device }
        case .removeDevice(let device): remove(from: \.devices, .deviceRemoved) { $0.device == device }
        case .putRegistration(let registration):
            put(registration, among: \.registrations, .registrationPut) { $0.name == registration.name }
        case .removeRegistration(let name):
            remove(from: \.registrations, .registrationRemoved) { $0.name == name }
        case .putGroup(let group): put(group, among: \.groups, .groupPut) { $0.name == group.name }
        case .removeGroup(let name, _): remove(from: \.groups, .groupRemoved) { $0.name == name }
        case .putSubscription(let made):
            put(made, among: \.subscriptions, .subscriptionPut) { Self.isSame($0, made) }
        case .removeSubscription(let gone):
            remove(from: \.subscriptions, .subscriptionRemoved) { Self.isSame($0, gone) }
        case .linkInstallation(let installation, let name):
            let link = Link(installation: installation, name: name)
            put(link, among: \.links, .linkPut) { $0 == link }
        case .unlinkInstallation(let installation, let name):
            let link = Link(installation: installation, name: name)
            remove(from: \.links, .linkRemoved) { $0 == link }
        case .putInstallation(let record):
            put(record, among: \.installations, .installationPut) { $0.id == record.id }
        case .removeInstallation(let id): remove(from: \.installations, .installationRemoved) { $0.id == id }
        case .putSender(let record): put(record, among: \.senders, .senderPut) { $0.sender == record.sender }
        case .removeSender(let sender): remove(from: \.senders, .senderRemoved) { $0.sender == sender }
        default: break
        }
    }

    private mutating func put<Row>(
        _ row: Row, among rows: WritableKeyPath<Self, [Row]>, _ event: StoreEvent, _ isIt: (Row) -> Bool
    ) {
        reached.record(self[keyPath: rows].contains(where: isIt) ? .rowChanged : .rowPut)
        reached.record(event)
        self[keyPath: rows].removeAll(where: isIt)
        self[keyPath: rows].append(row)
    }

    private mutating func remove<Row>(
        from rows: WritableKeyPath<Self, [Row]>, _ event: StoreEvent, _ isIt: (Row) -> Bool
    ) {
        guard self[keyPath: rows].contains(where: isIt) else { return reached.record(.rowMissing) }
        reached.record(.rowRemoved)
        reached.record(event)
        self[keyPath: rows].removeAll(where: isIt)
    }

    private mutating func put(_ message: StoredMessage) {
        guard !messages.contains(where: { $0.device == message.device && $0.sequence == message.sequence })
        else { return reached.record(.messagePutAgain) }
        messages.append(message)
        reached.record(
            message.kind == .message ? .messagePut : message.kind.isReport ? .reportPut : .markerPut)
        if message.kind == .message { down.accepted += 1 }
    }

    private mutating func put(
        _ message: StoredUpstream, _ now: UnixMilliseconds, _ outcome: inout CommitOutcome
    ) {
        let earlier = seen.filter {
            $0.0.from.device == message.from.device && $0.0.category == message.category
                && $0.0.sender == message.sender && $0.0.persistentID == message.persistentID
                && $0.0.messageID == message.messageID && $0.0.body == message.body
        }
        if !message.persistentID.isEmpty, earlier.contains(where: { now - $0.1 < 86_400_000 }) {
            reached.record(.upstreamRepeated)
            return outcome.duplicates.append((message.sender, message.sequence))
        }
        if upstream.contains(where: { $0.sender == message.sender && $0.sequence == message.sequence }) {
            return reached.record(.upstreamPutAgain)
        }
        if !message.persistentID.isEmpty, !earlier.isEmpty { reached.record(.upstreamForgotten) }
        seen.append((message, now))
        upstream.append(message)
        reached.record(message.kind == .message ? .upstreamPut : .receiptPut)
        if message.kind == .message { up.accepted += 1 }
    }

    /// Returns the first difference from a store. Returns `nil` if there is none.
    func difference(from store: any Store, devices range: ClosedRange<UInt64>, at time: UnixMilliseconds)
        throws -> String?
    {
        for device in range {
            if let difference = try difference(of: device, from: store) { return difference }
        }
        let counts = Samples.topicSenders.flatMap { sender in
            Samples.topics.map { topic in
                TopicCount(
                    sender: sender, topic: topic,
                    subscribers: subscriptions.count { $0.sender == sender && $0.topic == topic })
            }
        }.filter { $0.subscribers > 0 }
        if try store.topics(from: nil, examine: 1_000).counts != counts { return "subscribers" }
        let apps = registrations.filter { $0.usesAPNs && $0.allows(SenderID(42)) }.map(\.name.device)
        let known = Set(apps.filter { app in devices.contains { $0.device == app } })
        if let difference = try topics.difference(from: store, apps: known) { return difference }
        for installation in Samples.installations {
            let names = links.filter { $0.installation == installation }.map(\.name).sorted()
            if try store.registrations(of: installation) != names { return "installation" }
            let record = installations.first { $0.id == installation }
            if try store.record(of: installation) != record { return "record of an installation" }
        }
        for sender in range {
            for number in 0...3 as ClosedRange<UInt64> {
                let group = Samples.group(sender, number)
                let own = groups.first { $0.name == group.name }
                guard case .group(_, let found, _) = try store.load(.group(group.name, isForChange: false)),
                    case .groupLabelled(_, _, let labelled) = try store.load(
                        .groupLabelled(group.name.sender, group.label)), found == own, labelled == own
                else { return "group \(number) of \(sender)" }
            }
        }
        if try store.senders() != senders.sorted(by: { $0.sender < $1.sender }) { return "senders" }
        let listed = try store.devices(after: nil, limit: 1_000)
        if listed != devices.sorted(by: { $0.device < $1.device }) { return "devices" }
        let expected = installations.sorted { $0.id.lexicographicallyPrecedes($1.id) }.map { record in
            ListedInstallation(
                record: record, registrations: links.count { $0.installation == record.id })
        }
        if try store.installations(after: nil, limit: 1_000) != expected { return "installations" }
        let ends = messages.map { ExpiryKey($0) } + upstream.map { ExpiryKey($0) }
        let entries = ends.filter { $0.time <= time }.map { end in
            let message = upstream.first {
                $0.sender.number == end.owner && $0.sequence.number == end.sequence
            }
            return end.entry(in: 0, author: message?.author)
        }
        let all = (entries + topics.ends(by: time)).sorted { ($0.end, $0.partition) < ($1.end, $1.partition) }
        if try store.expired(by: time) != all { return "ends" }
        let audit = try store.audit()
        if !audit.holds { return "audit \(audit)" }
        if audit.downstream != down || audit.upstream != up || audit.subscriptions != subscriptions.count
            || audit.topicJobs != topics.messages.count
        {
            return "counts \(audit)"
        }
        return nil
    }

    private func difference(of device: UInt64, from store: any Store) throws -> String? {
        let state = try store.state(device)
        let mailbox = messages.filter { $0.device.number == device }.sorted { $0.sequence < $1.sequence }
        if try store.mailbox(device) != mailbox.map({ topics.joined($0) }) {
            return "mailbox of \(device)"
        }
        let entries = mailbox.map { MailboxEntry(NaiveTopics.bare($0)) }
        if state?.mailbox != entries { return "entries of \(device)" }
        if state?.record != devices.first(where: { $0.device.number == device }) {
            return "device \(device)"
        }
        let own = registrations.filter { $0.name.device.number == device }.sorted {
            $0.name.number < $1.name.number
        }
        if state?.registrations != own { return "registrations of \(device)" }
        let made = subscriptions.filter { $0.name.device.number == device }.sorted {
            ($0.name, $0.sender, $0.topic) < ($1.name, $1.sender, $1.topic)
        }
        if state?.subscriptions != made { return "subscriptions of \(device)" }
        if state?.topicPosition != topics.positions[DeviceID(device), default: SequenceNumber(0)] {
            return "position of \(device)"
        }
        let outbox = upstream.filter { $0.sender.number == device }.sorted { $0.sequence < $1.sequence }
        if try store.outbox(device) != outbox { return "upstream of \(device)" }
        return nil
    }

    private static func isSame(_ a: Subscription, _ b: Subscription) -> Bool {
        a.name == b.name && a.sender == b.sender && a.topic == b.topic
    }
}
