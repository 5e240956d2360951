import Basics
import Delivery
import Store

/// What a store should hold, kept so simply that it can hardly be wrong.
struct NaiveModel {
    var devices: [DeviceRecord] = []
    var registrations: [Registration] = []
    var senders: [SenderRecord] = []
    var messages: [StoredMessage] = []
    var subscriptions: [Subscription] = []
    var links: [(installation: [UInt8], name: RegistrationName)] = []
    var upstream: [StoredUpstream] = []
    var groups: [GroupRecord] = []
    private var seen: [(StoredUpstream, UnixMilliseconds)] = []
    var down = MilestoneCounts()
    var up = MilestoneCounts()

    mutating func apply(_ batch: WriteBatch) -> CommitOutcome {
        var outcome = CommitOutcome(ticket: batch.ticket)
        for mutation in batch.mutations {
            switch mutation {
            case .putDevice(let record):
                devices.removeAll { $0.device == record.device }
                devices.append(record)
            case .removeDevice(let device): devices.removeAll { $0.device == device }
            case .putRegistration(let registration):
                registrations.removeAll { $0.name == registration.name }
                registrations.append(registration)
            case .removeRegistration(let name): registrations.removeAll { $0.name == name }
            case .putGroup(let group):
                groups.removeAll { $0.name == group.name }
                groups.append(group)
            case .removeGroup(let name, _): groups.removeAll { $0.name == name }
            case .putSubscription(let made):
                subscriptions.removeAll { Self.isSame($0, made) }
                subscriptions.append(made)
            case .removeSubscription(let gone): subscriptions.removeAll { Self.isSame($0, gone) }
            case .linkInstallation(let installation, let name):
                links.removeAll { $0.installation == installation && $0.name == name }
                links.append((installation, name))
            case .unlinkInstallation(let installation, let name):
                links.removeAll { $0.installation == installation && $0.name == name }
            case .putSender(let record):
                senders.removeAll { $0.sender == record.sender }
                senders.append(record)
            case .removeSender(let sender): senders.removeAll { $0.sender == sender }
            case .putMessage(let message):
                if messages.contains(where: { $0.device == message.device && $0.sequence == message.sequence }
                ) {
                    continue
                }
                messages.append(message)
                if message.kind == .message { down.accepted += 1 }
            case .removeMessage(let device, let sequence, _, let reason):
                guard let at = messages.firstIndex(where: { $0.device == device && $0.sequence == sequence })
                else { continue }
                if messages.remove(at: at).kind == .message { down[reason] += 1 }
            // Messages to topics have a suite of their own.
            case .putTopicJob, .advanceTopicJob, .removeTopicJob, .removeTopicBody, .putMark: break
            case .putUpstream(let message, let now): put(message, now, &outcome)
            case .removeUpstream(let sender, let sequence, _, let reason):
                guard let at = upstream.firstIndex(where: { $0.sender == sender && $0.sequence == sequence })
                else { continue }
                if upstream.remove(at: at).kind == .message { up[reason] += 1 }
            case .returnUpstream(let sender, let sequence, _, let report):
                guard let at = upstream.firstIndex(where: { $0.sender == sender && $0.sequence == sequence })
                else {
                    outcome.duplicates.append((sender, sequence))
                    continue
                }
                if upstream.remove(at: at).kind == .message { up.expired += 1 }
                let isThere = messages.contains {
                    $0.device == report?.device && $0.sequence == report?.sequence
                }
                if let report, !isThere { messages.append(report) }
            }
        }
        return outcome
    }

    private mutating func put(
        _ message: StoredUpstream, _ now: UnixMilliseconds, _ outcome: inout CommitOutcome
    ) {
        let isRepeated = seen.contains {
            $0.0.from.device == message.from.device && $0.0.category == message.category
                && $0.0.sender == message.sender && $0.0.persistentID == message.persistentID
                && $0.0.messageID == message.messageID && $0.0.body == message.body && now - $0.1 < 86_400_000
        }
        if !message.persistentID.isEmpty, isRepeated {
            return outcome.duplicates.append((message.sender, message.sequence))
        }
        if upstream.contains(where: { $0.sender == message.sender && $0.sequence == message.sequence }) {
            return
        }
        seen.append((message, now))
        upstream.append(message)
        if message.kind == .message { up.accepted += 1 }
    }

    /// The first thing in which a store differs; nil if in none.
    func difference(from store: any Store, devices range: ClosedRange<UInt64>, at time: UnixMilliseconds)
        throws -> String?
    {
        for device in range {
            let state = try store.state(device)
            let mailbox = messages.filter { $0.device.number == device }.sorted { $0.sequence < $1.sequence }
            if try store.mailbox(device) != mailbox { return "mailbox of \(device)" }
            if state?.mailbox != mailbox.map({ MailboxEntry($0) }) { return "entries of \(device)" }
            if state?.record != devices.first(where: { $0.device.number == device }) {
                return "device \(device)"
            }
            let own = registrations.filter { $0.name.device.number == device }.sorted {
                $0.name.number < $1.name.number
            }
            if state?.registrations != own { return "registrations of \(device)" }
            let topics = subscriptions.filter { $0.name.device.number == device }.sorted {
                ($0.name, $0.sender, $0.topic) < ($1.name, $1.sender, $1.topic)
            }
            if state?.subscriptions != topics { return "subscriptions of \(device)" }
            let outbox = upstream.filter { $0.sender.number == device }.sorted { $0.sequence < $1.sequence }
            if try store.outbox(device) != outbox { return "upstream of \(device)" }
        }
        for sender in Samples.topicSenders {
            for topic in Samples.topics {
                let names = subscriptions.filter { $0.sender == sender && $0.topic == topic }.map(\.name)
                if try store.subscribers(sender, topic, limit: 1_000) != names.sorted() {
                    return "subscribers of \(topic)"
                }
            }
        }
        for installation in Samples.installations {
            let names = links.filter { $0.installation == installation }.map(\.name).sorted()
            if try store.registrations(of: installation) != names { return "installation" }
        }
        if try store.senders() != senders.sorted(by: { $0.sender < $1.sender }) { return "senders" }
        let listed = try store.devices(after: nil, limit: 1_000)
        if listed != devices.sorted(by: { $0.device < $1.device }) { return "devices" }
        let ends = messages.map { ExpiryKey($0) } + upstream.map { ExpiryKey($0) }
        let entries = ends.filter { $0.time <= time }.sorted().map { end in
            let message = upstream.first {
                $0.sender.number == end.owner && $0.sequence.number == end.sequence
            }
            return end.entry(author: message?.author)
        }
        if try store.expired(by: time) != entries { return "ends" }
        let audit = try store.audit()
        if !audit.holds { return "audit \(audit)" }
        if audit.downstream != down || audit.upstream != up || audit.subscriptions != subscriptions.count {
            return "counts \(audit)"
        }
        return nil
    }

    private static func isSame(_ a: Subscription, _ b: Subscription) -> Bool {
        a.name == b.name && a.sender == b.sender && a.topic == b.topic
    }
}
