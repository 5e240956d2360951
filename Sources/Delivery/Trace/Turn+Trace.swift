import Basics

/// Who watches a device, and the ids of the messages it saw: what is removed is known by its place alone.
struct Trace {
    /// To whom each step is told.
    var watchers: [Origin] = []
    /// By direction and place.
    private var names: [Place: Named] = [:]

    struct Place: Hashable {
        var isUpstream: Bool
        var sequence: Sequence
    }

    /// What is remembered of a message.
    struct Named {
        var messageID: [UInt8]
        var registration: RegistrationNumber?
        var sender: SenderID?
    }

    /// Remembers a message, or fills in what is remembered of it; forgets it when it ends.
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

    /// Whether it has seen a message of the device.
    func knowsUpstream(_ sequence: Sequence) -> Bool {
        names[Place(isUpstream: true, sequence: sequence)] != nil
    }
}

/// Steps of messages for those who watch (`ccsctl devices trace`).
///
/// Every place that has something to tell asks `isTracing` first, so that it costs one look where nobody watches.
extension Turn {
    /// Whether anybody watches any device.
    var isTracing: Bool { !traces.isEmpty }

    /// Somebody watches a device from now on.
    mutating func trace(_ device: DeviceID, _ watcher: Origin) {
        traces[device, default: Trace()].watchers.append(watcher)
    }

    /// Somebody watches no more.
    mutating func untrace(_ watcher: Origin) {
        for device in Array(traces.keys) {
            traces[device]?.watchers.removeAll { $0 == watcher }
            if traces[device]?.watchers.isEmpty == true { traces[device] = nil }
        }
    }

    /// Tells those who watch a device.
    private mutating func report(_ note: TraceNote, of device: DeviceID) {
        guard traces[device] != nil else { return }
        var note = note
        traces[device]?.complete(&note)
        for watcher in traces[device]?.watchers ?? [] {
            reply(.traced(note), to: watcher)
        }
    }

    // MARK: Downstream

    /// A step of a submission.
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

    /// A step of a message.
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

    /// A step of a message in a mailbox, of which only the place is known.
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

    /// A step of a message before it has a place.
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

    /// A step of a message in a sender's mailbox; receipts are not told of.
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

    /// A message came back that nobody took in time.
    mutating func traceReturned(_ gone: UpstreamReturn) {
        guard isTracing else { return }
        var note = TraceNote(.upstream, .expired)
        note.messageID = gone.author.messageID
        note.place = PersistentID(sequence: gone.sequence, salt: 0)
        note.registration = gone.author.from.number
        note.sender = gone.sender
        report(note, of: gone.author.from.device)
    }

    /// A message leaves a sender's mailbox, of which only the place is known: whose it is say those who saw it come.
    mutating func traceUpstreamEnd(_ sequence: Sequence, _ reason: Milestone) {
        guard isTracing, let device = traces.first(where: { $0.value.knowsUpstream(sequence) })?.key
        else { return }
        var note = TraceNote(.upstream, TraceNote.Step(reason))
        note.place = PersistentID(sequence: sequence, salt: 0)
        report(note, of: device)
    }

    // MARK: Connection

    /// A step of the device's connection.
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
    /// What a trace says of what is no message; `nil` for a message.
    fileprivate var detail: String? {
        switch self {
        case .message: nil
        case .discardedMarker: "deleted_messages"
        case .sendError: "send_error"
        }
    }
}
