import Basics
import Delivery

/// Short descriptions of events and commands for a trace.
enum Describe {
    static func event(_ event: Event) -> String {
        switch event {
        case .device(_, .submitted(let submission)):
            "submitted \(text(submission.content.messageID)) to \(name(submission.target))"
                + " key \(submission.content.collapseKey ?? []) for \(submission.content.lifetimeSeconds) s"
        case .device(_, .login(let login)):
            "deviceLogin \(login.connection.generation) of \(short(login.device.number)) with"
                + " \(login.received.map { short($0.sequence.number) })"
        case .device(_, .upstreamReceived(let upstream)):
            "upstreamReceived \(text(upstream.messageID)) of \(short(upstream.device.number))"
        case .sender(_, .upstreamResolved(let upstream, let from)):
            "upstreamResolved \(text(upstream.messageID)) of \(name(from.registration))"
        case .device(let device, .acknowledged(let connection, let sequences)):
            "deviceAcknowledged \(connection.generation) of \(short(device.number)): \(sequences.map { short($0.number) })"
        case .device(let device, .closed(let connection)):
            "deviceClosed \(connection.generation) of \(short(device.number))"
        case .device(_, .writable(let connection)): "deviceWritable \(connection.generation)"
        case .device(_, .congested(let connection)): "deviceCongested \(connection.generation)"
        case .sender(_, .upstreamFinished(let connection, let sequence, let outcome)):
            "upstreamFinished \(connection.generation): \(short(sequence.number)) \(outcome)"
        case .device(let device, .upstreamAnswered(let number, _)):
            "upstreamAnswered \(name(RegistrationName(device: device, number: number)))"
        case .sender(_, .receiptDue(let due)):
            "receiptDue \(text(due.messageID)) \(short(due.sequence.number))"
        case .device(let device, .receiptStored(let sequence)):
            "receiptStored \(short(device.number)) \(short(sequence.number))"
        case .device(let device, .receiptRefused(let sequence)):
            "receiptRefused \(short(device.number)) \(short(sequence.number))"
        case .partition(.committed(let outcome)):
            "committed \(outcome.batchNumber)\(outcome.hasFailed ? " FAILED" : "") \(outcome.duplicates.map { short($0.1.number) })"
        case .partition(.loaded(let loaded)): "loaded \(self.loaded(loaded))"
        case .sender(let sender, .login(let connection, _)):
            "appServerLogin \(connection.generation) of \(sender.number)"
        case .sender(_, .bound(let connection)): "appServerBound \(connection.generation)"
        case .sender(let sender, .closed(let connection)):
            "appServerClosed \(connection.generation) of \(sender.number)"
        case .device(_, .register(let request)):
            "register \(text(request.category)) of \(short(request.device.number))"
        case .device(_, .unregister(let request)):
            "unregister \(text(request.category)) of \(short(request.device.number))"
        case .device(_, .checkIn(let request)): "checkIn \(short(request.freshDevice.number))"
        case .device(let device, .forget): "forgetDevice \(short(device.number))"
        case .device(let device, .cancel): "cancel \(short(device.number))"
        case .partition(.senders): "senders"
        case .topicLog(_, .published(let messages, let source)):
            "published by \(source): \(messages.map { text($0.messageID) + " " + short($0.name.sequence.number) })"
        case .topicLog(_, .nowOrNever(let message)):
            "now or never \(text(message.messageID)) \(short(message.name.sequence.number))"
        case .topic(_, .submitted(let submission)):
            "submitted \(text(submission.content.messageID)) to \(submission.target.topics.map { text($0.bytes) })"
                + " key \(submission.content.collapseKey ?? []) for \(submission.content.lifetimeSeconds) s"
        case .topicLog(_, .copied(let partition, let through)):
            "copied by \(partition) through \(through.map { short($0.number) } ?? "none")"
        default: "\(event)"
        }
    }

    private static func loaded(_ loaded: StoreResult) -> String {
        switch loaded {
        case .device(let state):
            "device \(short(state.device.number)): \(state.registrations.map(\.name.number.number)),"
                + " \(state.mailbox.map { short($0.sequence.number) })"
        case .messages(let device, let page, let isLast):
            "messages \(short(device.number)): \(page.map { text($0.messageID) }) last \(isLast)"
        case .upstream(let sender, let page, let isLast):
            "upstream \(sender.number): \(page.map { text($0.messageID) + " " + short($0.sequence.number) }) last \(isLast)"
        case .gatewayMessage(let device, let sequence, let message):
            "gateway message \(short(device.number)) \(short(sequence.number))\(message == nil ? " is gone" : "")"
        case .named(let device, let found, _):
            "named \(short(device.number)): \(found.map { short($0.sequence.number) })"
        case .schedule(let entries, let isLast):
            "schedule \(entries.map { short($0.sequence.number) }) last \(isLast)"
        case .gatewayDevices(let devices, let next):
            "gateway devices \(devices.map { short($0.number) }), next \(next.map { short($0.number) } ?? "none")"
        case .expired(let entries): "expired \(entries.count)\(entries.map { " \($0)" }.joined())"
        case .unseen(let devices, let next):
            "unseen \(devices.map { short($0.number) }), next \(next.map { short($0.number) } ?? "none")"
        case .group(_, let record, _), .groupLabelled(_, _, let record): "group \(record?.members.count ?? 0)"
        case .unusedInstallations(let found, _, _, _): "unused installations \(found.count)"
        case .installation(_, _, let names, _): "installation \(names.map { name($0) })"
        case .topicMessages(let messages, let isLast):
            "topic messages \(messages.map { text($0.messageID) }) last \(isLast)"
        case .topicEntries(let entries, let marks, let isLast):
            "topic log \(entries.map { self.entry($0) }), \(marks.map { "\($0.source): \(short($0.through.number))" }) last \(isLast)"
        case .topicDevices(let devices, let next):
            "topic devices \(devices.map { short($0.number) }), next \(next.map { short($0.number) } ?? "none")"
        case .failed(let load, _): "FAILED \(load)"
        }
    }

    static func command(_ command: SessionCommand) -> String {
        switch command {
        case .device(.deliver(let delivery)):
            "deliver \(text(delivery.message.body)) \(short(delivery.message.sequence.number))\(delivery.isStored ? "" : " unstored")"
        case .appServer(.deliver(let upstream)):
            "deliverUpstream \(text(upstream.messageID)) \(short(upstream.sequence.number))\(upstream.kind == .message ? "" : " receipt")"
        case .device(.loginAccepted): "deviceLoginAccepted"
        default: "\(command)"
        }
    }

    static func mutation(_ mutation: Mutation) -> String {
        switch mutation {
        case .putMessage(let message):
            "put \(subject(message)) \(short(message.sequence.number))"
        case .removeMessage(_, let sequence, _, let reason): "remove \(short(sequence.number)) \(reason)"
        case .putUpstream(let upstream, _):
            "put \(text(upstream.messageID)) \(short(upstream.sequence.number))"
        case .removeUpstream(_, let sequence, _, let reason): "remove \(short(sequence.number)) \(reason)"
        case .putDevice(let record): "put device \(short(record.device.number))"
        case .putRegistration(let registration): "put registration \(name(registration.name))"
        case .removeRegistration(let gone): "remove registration \(name(gone))"
        case .removeDevice(let device): "remove device \(short(device.number))"
        case .putSubscription(let made): "subscribe \(name(made.name)) \(text(made.topic.bytes))"
        case .removeSubscription(let gone): "unsubscribe \(name(gone.name)) \(text(gone.topic.bytes))"
        case .putMark(let mark, let number): "\(mark) \(number)"
        case .advanceLog(let partition, let progress): "log \(partition) to \(progress.position)"
        case .putSchedule(let entry): "schedule \(short(entry.sequence.number)) at \(entry.dueAt)"
        case .removeSchedule(_, let sequence, _): "take \(short(sequence.number)) off the schedule"
        case .markForGateway(let device): "mark device \(short(device.number)) for the gateway"
        case .unmarkForGateway(let device): "unmark device \(short(device.number)) for the gateway"
        case .putTopicMessage(let message):
            "topic \(text(message.messageID)) \(short(message.name.sequence.number))"
        case .removeTopicMessage(let name): "all have topic \(short(name.sequence.number))"
        case .putTopicEntry(let entry, let partition): "log \(partition): \(self.entry(entry))"
        case .removeTopicEntry(let sequence, let partition): "log \(partition) ends \(short(sequence.number))"
        case .putTopicMark(let mark, let partition):
            "log \(partition) has \(mark.source) to \(short(mark.through.number))"
        case .putTopicPosition(let device, let sequence):
            "position of \(short(device.number)) \(short(sequence.number))"
        case .putTopicProgress, .putSharedBody, .removeSharedBody, .listForGateway, .unlistForGateway,
            .putSender, .removeSender, .linkInstallation, .unlinkInstallation, .putInstallation,
            .removeInstallation, .putGroup, .removeGroup, .putFeedback, .removeFeedback:
            "\(mutation)"
        }
    }

    private static func entry(_ entry: TopicEntry) -> String {
        "\(text(entry.message.messageID)) \(short(entry.sequence.number))"
    }

    private static func subject(_ message: StoredMessage) -> String {
        switch message.kind {
        case .message: text(message.messageID)
        case .discardedMarker: "marker"
        case .sendError(let sequence): "report of \(text(message.messageID)) \(short(sequence.number)) as"
        }
    }

    private static func name(_ name: RegistrationName) -> String {
        "\(short(name.device.number))/\(name.number.number)"
    }

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    /// The last digits of a number, which are those that differ.
    private static func short(_ number: UInt64) -> String { "\(number % 1_000_000_000_000)" }
}
