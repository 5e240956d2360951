import Basics

/// The watchers of a device, and the IDs of the messages seen so far: removals name only the sequence number.
struct Trace {
    /// The requests to which each step is reported.
    var watchers: [Requester] = []
    /// By direction and sequence number.
    private var messages: [Key: MessageInfo] = [:]

    struct Key: Hashable {
        var isUpstream: Bool
        var sequence: SequenceNumber
    }

    /// What is known of a message.
    struct MessageInfo {
        var messageID: [UInt8]
        var registration: RegistrationNumber?
        var sender: SenderID?
    }

    /// Stores what a step reveals of its message, or adds what earlier steps revealed. Terminal steps remove the message.
    mutating func complete(_ record: inout TraceRecord) {
        guard let sequence = record.persistentID?.sequence else { return }
        let key = Key(isUpstream: record.direction == .upstream, sequence: sequence)
        if record.messageID.isEmpty {
            guard let known = messages[key] else { return }
            record.messageID = known.messageID
            record.registration = record.registration ?? known.registration
            if record.sender == nil { record.sender = known.sender }
        } else {
            if messages.count >= Limits.Operator.tracedMessages { messages.removeAll(keepingCapacity: true) }
            messages[key] = MessageInfo(
                messageID: record.messageID, registration: record.registration, sender: record.sender)
        }
        switch record.step {
        case .delivered, .replaced, .expired, .discarded, .removed, .forwarded, .cancelled:
            messages[key] = nil
        default: break
        }
    }

    /// Returns whether an upstream message of the device has been seen.
    func containsUpstream(_ sequence: SequenceNumber) -> Bool {
        messages[Key(isUpstream: true, sequence: sequence)] != nil
    }
}

/// Reports steps of messages to the operators who trace their device (`ccsctl devices trace`), and to the message history.
///
/// Each function checks `isTracing` first, so that it costs one comparison while no device is traced.
extension Turn {
    /// Whether any device is traced.
    var isTracing: Bool { !traces.isEmpty }

    /// Starts to report the steps of a device.
    mutating func trace(_ device: DeviceID, _ watcher: Requester) {
        traces[device, default: Trace()].watchers.append(watcher)
    }

    /// Stops the reports of a request.
    mutating func untrace(_ watcher: Requester) {
        for device in Array(traces.keys) {
            traces[device]?.watchers.removeAll { $0 == watcher }
            if traces[device]?.watchers.isEmpty == true { traces[device] = nil }
        }
    }

    /// Reports a step of the batch that is on disk.
    mutating func report(_ step: BatchRecord.TracedStep) {
        switch step {
        case .ofDevice(let device, let record): report(record, of: device)
        case .ofSender(let record): reportUpstreamEnd(record)
        }
    }

    /// Reports a step when it has happened.
    private mutating func report(_ record: TraceRecord, of device: DeviceID, _ moment: StepMoment) {
        switch moment {
        case .now: report(record, of: device)
        case .committed: batch.traces.append(.ofDevice(device, record))
        }
    }

    /// Reports a step to the watchers of a device.
    private mutating func report(_ record: TraceRecord, of device: DeviceID) {
        guard traces[device] != nil else { return }
        var record = record
        traces[device]?.complete(&record)
        for watcher in traces[device]?.watchers ?? [] {
            reply(.traced(record), to: watcher)
        }
    }

    // MARK: Downstream

    /// Reports a step of a submission.
    mutating func traceSubmission(
        _ submission: borrowing Submission, _ step: TraceRecord.Step, detail: String = ""
    ) {
        recordSubmission(submission, step, detail: detail)
        guard isTracing else { return }
        var record = TraceRecord(.downstream, step)
        record.messageID = submission.content.messageID
        record.registration = submission.target.number
        record.sender = submission.sender
        record.detail = detail
        report(record, of: submission.target.device)
    }

    /// Reports a step of a stored message.
    mutating func traceMessage(
        _ message: borrowing StoredMessage, _ step: TraceRecord.Step, on connection: ConnectionID? = nil,
        detail: String = ""
    ) {
        recordMessage(message, step, on: connection, detail: message.kind.detail ?? detail)
        guard isTracing else { return }
        var record = TraceRecord(.downstream, step)
        record.messageID = message.messageID
        record.persistentID = message.persistentID
        record.registration = message.registration
        record.sender = message.sender
        record.detail = message.kind.detail ?? detail
        report(record, of: message.device)
    }

    /// Reports a step of a message in a mailbox, of which only the entry is known.
    mutating func traceEntry(
        _ entry: borrowing MailboxEntry, of device: DeviceID, _ step: TraceRecord.Step, detail: String = "",
        _ moment: StepMoment = .now
    ) {
        recordEntry(entry, of: device, step, detail: entry.kind.detail ?? detail, moment)
        guard isTracing else { return }
        var record = TraceRecord(.downstream, step)
        record.persistentID = PersistentID(sequence: entry.sequence, salt: entry.salt)
        record.registration = entry.registration
        record.detail = entry.kind.detail ?? detail
        report(record, of: device, moment)
    }

    // MARK: Upstream

    /// Reports a step of an upstream message before it is stored.
    mutating func traceUpstream(
        _ upstream: borrowing UpstreamSubmission, _ step: TraceRecord.Step, detail: String = ""
    ) {
        recordUpstream(upstream, step, detail: detail)
        guard isTracing else { return }
        var record = TraceRecord(.upstream, step)
        record.messageID = upstream.messageID
        record.sender = upstream.sender
        record.detail = detail
        report(record, of: upstream.device)
    }

    /// Reports a step of a stored upstream message. Receipts are not traced.
    mutating func traceUpstream(
        _ upstream: borrowing StoredUpstream, _ step: TraceRecord.Step, on connection: ConnectionID? = nil,
        detail: String = ""
    ) {
        recordUpstream(upstream, step, on: connection, detail: detail)
        guard isTracing, upstream.kind == .message else { return }
        var record = TraceRecord(.upstream, step)
        record.messageID = upstream.messageID
        record.persistentID = PersistentID(sequence: upstream.sequence, salt: 0)
        record.registration = upstream.from.number
        record.sender = upstream.sender
        record.detail = detail
        report(record, of: upstream.from.device)
    }

    /// Reports that an upstream message has expired and is returned to its device, once the batch of this turn is on disk.
    mutating func traceReturned(_ gone: UpstreamReturn) {
        guard isTracing else { return }
        var record = TraceRecord(.upstream, .expired)
        record.messageID = gone.author.messageID
        record.persistentID = PersistentID(sequence: gone.sequence, salt: 0)
        record.registration = gone.author.from.number
        record.sender = gone.sender
        report(record, of: gone.author.from.device, .committed)
    }

    /// Reports that a message left a sender's mailbox. Only its sequence number is known; the device is the one whose trace
    /// contains it.
    mutating func traceUpstreamEnd(
        _ sequence: SequenceNumber, of sender: SenderID, isReceipt: Bool, _ reason: Milestone,
        _ moment: StepMoment
    ) {
        recordUpstreamEnd(sequence, of: sender, isReceipt: isReceipt, reason, moment)
        guard isTracing, !isReceipt else { return }
        var record = TraceRecord(.upstream, TraceRecord.Step(reason))
        record.persistentID = PersistentID(sequence: sequence, salt: 0)
        switch moment {
        case .now: reportUpstreamEnd(record)
        case .committed: batch.traces.append(.ofSender(record))
        }
    }

    private mutating func reportUpstreamEnd(_ record: TraceRecord) {
        guard let sequence = record.persistentID?.sequence,
            let device = traces.first(where: { $0.value.containsUpstream(sequence) })?.key
        else { return }
        report(record, of: device)
    }

    // MARK: Connection

    /// Reports a step of the device's connection.
    mutating func traceConnection(
        _ device: DeviceID, _ step: TraceRecord.Step, detail: String = "", _ moment: StepMoment = .now
    ) {
        guard isTracing else { return }
        var record = TraceRecord(.connection, step)
        record.detail = detail
        report(record, of: device, moment)
    }
}

extension StoredMessage.Kind {
    /// The detail for anything but a message; `nil` for a message.
    fileprivate var detail: String? {
        switch self {
        case .message: nil
        case .discardedMarker: "deleted_messages"
        case .sendError: "send_error"
        }
    }
}
