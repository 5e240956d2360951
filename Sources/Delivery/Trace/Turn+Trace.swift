import Basics

/// The watchers of a device, and the IDs of the messages seen so far: removals name only the sequence number.
struct Trace {
    /// The requests to which each step is reported.
    var watchers: [Origin] = []
    /// By direction and sequence number.
    private var names: [Place: Named] = [:]

    struct Place: Hashable {
        var isUpstream: Bool
        var sequence: Sequence
    }

    /// What is known of a message.
    struct Named {
        var messageID: [UInt8]
        var registration: RegistrationNumber?
        var sender: SenderID?
    }

    /// Stores what a step reveals of its message, or adds what earlier steps revealed. Terminal steps remove the message.
    mutating func complete(_ note: inout TraceNote) {
        guard let sequence = note.place?.sequence else { return }
        let place = Place(isUpstream: note.direction == .upstream, sequence: sequence)
        if note.messageID.isEmpty {
            guard let known = names[place] else { return }
            note.messageID = known.messageID
            note.registration = note.registration ?? known.registration
            if note.sender == nil { note.sender = known.sender }
        } else {
            if names.count >= Limits.Operator.tracedMessages { names.removeAll(keepingCapacity: true) }
            names[place] = Named(
                messageID: note.messageID, registration: note.registration, sender: note.sender)
        }
        switch note.step {
        case .delivered, .replaced, .expired, .discarded, .removed: names[place] = nil
        default: break
        }
    }

    /// Returns whether an upstream message of the device has been seen.
    func knowsUpstream(_ sequence: Sequence) -> Bool {
        names[Place(isUpstream: true, sequence: sequence)] != nil
    }
}

/// Reports steps of messages to the operators who trace their device (`ccsctl devices trace`).
///
/// Each function checks `isTracing` first, so that it costs one comparison while no device is traced.
extension Turn {
    /// Whether any device is traced.
    var isTracing: Bool { !traces.isEmpty }

    /// Starts to report the steps of a device.
    mutating func trace(_ device: DeviceID, _ watcher: Origin) {
        traces[device, default: Trace()].watchers.append(watcher)
    }

    /// Stops the reports of a request.
    mutating func untrace(_ watcher: Origin) {
        for device in Array(traces.keys) {
            traces[device]?.watchers.removeAll { $0 == watcher }
            if traces[device]?.watchers.isEmpty == true { traces[device] = nil }
        }
    }

    /// Reports a step to the watchers of a device.
    private mutating func report(_ note: TraceNote, of device: DeviceID) {
        guard traces[device] != nil else { return }
        var note = note
        traces[device]?.complete(&note)
        for watcher in traces[device]?.watchers ?? [] {
            reply(.traced(note), to: watcher)
        }
    }

    // MARK: Downstream

    /// Reports a step of a submission.
    mutating func traceSubmission(
        _ submission: borrowing Submission, _ step: TraceNote.Step, detail: String = ""
    ) {
        guard isTracing else { return }
        var note = TraceNote(.downstream, step)
        note.messageID = submission.content.messageID
        note.registration = submission.target.number
        note.sender = submission.sender
        note.detail = detail
        report(note, of: submission.target.device)
    }

    /// Reports a step of a stored message.
    mutating func traceMessage(
        _ message: borrowing StoredMessage, _ step: TraceNote.Step, detail: String = ""
    ) {
        guard isTracing else { return }
        var note = TraceNote(.downstream, step)
        note.messageID = message.messageID
        note.place = message.persistentID
        note.registration = message.registration
        note.sender = message.sender
        note.detail = message.kind.detail ?? detail
        report(note, of: message.device)
    }

    /// Reports a step of a message in a mailbox, of which only the entry is known.
    mutating func traceEntry(
        _ entry: borrowing MailboxEntry, of device: DeviceID, _ step: TraceNote.Step
    ) {
        guard isTracing else { return }
        var note = TraceNote(.downstream, step)
        note.place = PersistentID(sequence: entry.sequence, salt: entry.salt)
        note.registration = entry.registration
        if let detail = entry.kind.detail { note.detail = detail }
        report(note, of: device)
    }

    // MARK: Upstream

    /// Reports a step of an upstream message before it is stored.
    mutating func traceUpstream(
        _ upstream: borrowing UpstreamSubmission, _ step: TraceNote.Step, detail: String = ""
    ) {
        guard isTracing else { return }
        var note = TraceNote(.upstream, step)
        note.messageID = upstream.messageID
        note.sender = upstream.sender
        note.detail = detail
        report(note, of: upstream.device)
    }

    /// Reports a step of a stored upstream message. Receipts are not reported.
    mutating func traceUpstream(
        _ upstream: borrowing StoredUpstream, _ step: TraceNote.Step, detail: String = ""
    ) {
        guard isTracing, upstream.kind == .message else { return }
        var note = TraceNote(.upstream, step)
        note.messageID = upstream.messageID
        note.place = PersistentID(sequence: upstream.sequence, salt: 0)
        note.registration = upstream.from.number
        note.sender = upstream.sender
        note.detail = detail
        report(note, of: upstream.from.device)
    }

    /// Reports that an upstream message has expired and is returned to its device.
    mutating func traceReturned(_ gone: UpstreamReturn) {
        guard isTracing else { return }
        var note = TraceNote(.upstream, .expired)
        note.messageID = gone.author.messageID
        note.place = PersistentID(sequence: gone.sequence, salt: 0)
        note.registration = gone.author.from.number
        note.sender = gone.sender
        report(note, of: gone.author.from.device)
    }

    /// Reports that a message left a sender's mailbox. Only its sequence number is known; the device is the one whose trace
    /// contains it.
    mutating func traceUpstreamEnd(_ sequence: Sequence, _ reason: Milestone) {
        guard isTracing, let device = traces.first(where: { $0.value.knowsUpstream(sequence) })?.key
        else { return }
        var note = TraceNote(.upstream, TraceNote.Step(reason))
        note.place = PersistentID(sequence: sequence, salt: 0)
        report(note, of: device)
    }

    // MARK: Connection

    /// Reports a step of the device's connection.
    mutating func traceConnection(
        _ device: DeviceID, _ step: TraceNote.Step, detail: String = ""
    ) {
        guard isTracing else { return }
        var note = TraceNote(.connection, step)
        note.detail = detail
        report(note, of: device)
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
