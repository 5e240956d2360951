import Basics

/// When a step has happened.
enum StepMoment {
    /// Now, whatever becomes of the batch of this turn: it was sent, answered or refused.
    case now
    /// Once the batch of this turn is on disk. If that fails, it has not happened. Steps of messages that have a continuation in the batch
    /// are recorded by that, before the others.
    case committed
}

extension Milestone {
    /// When the end of a stored message with this milestone has happened.
    ///
    /// Its recipient has it as soon as the acknowledgement arrives, whatever becomes of the removal. Were that lost, the message would be
    /// sent, and acknowledged, again. All others end with the commit.
    var moment: StepMoment {
        switch self {
        case .delivered, .forwarded: .now
        case .accepted, .stored, .sent, .replaced, .expired, .refused, .discarded, .removed: .committed
        }
    }
}

/// Records steps of messages in the message history, unless it is switched off.
extension Turn {
    /// Whether a history is kept.
    @inline(__always)
    var keepsHistory: Bool { settings.keepsHistory }

    @inline(__always)
    private mutating func add(
        _ step: HistoryStep, id: [UInt8] = [], detail: String = "", _ moment: StepMoment = .now
    ) {
        switch moment {
        case .now: effects.history.append(step, id: id, detail: detail)
        case .committed: batch.history.append(step, id: id, detail: detail)
        }
    }

    /// Records the steps of a batch that is on disk, except ends of messages that had ended before.
    mutating func stepsCommitted(_ record: borrowing BatchRecord, _ outcome: borrowing CommitOutcome) {
        guard !outcome.absent.isEmpty else {
            if !record.history.isEmpty { effects.history.append(record.history, at: now.wall) }
            for step in record.traces { report(step) }
            return
        }
        let absent = Set(outcome.absent)
        func happened(_ place: MailboxPlace?) -> Bool { place.map { !absent.contains($0) } ?? true }
        effects.history.append(record.history.filter { happened($0.place) }, at: now.wall)
        for step in record.traces where happened(step.place) { report(step) }
    }

    mutating func recordSubmission(
        _ submission: borrowing Submission, _ step: TraceRecord.Step, detail: String
    ) {
        guard keepsHistory else { return }
        var record = HistoryStep(.downstream, step, at: now.wall)
        record.device = submission.target.device.number
        record.registration = submission.target.number.number
        record.sender = submission.sender?.number ?? 0
        add(record, id: submission.content.messageID, detail: detail)
    }

    mutating func recordMessage(
        _ message: borrowing StoredMessage, _ step: TraceRecord.Step, on connection: ConnectionID?,
        detail: String
    ) {
        // A message that is stored is accepted: one record has both.
        guard keepsHistory, step != .accepted || !detail.isEmpty else { return }
        var record = HistoryStep(.downstream, step, sequence: message.sequence.number, at: now.wall)
        record.device = message.device.number
        record.registration = message.registration.number
        record.sender = message.sender?.number ?? 0
        record.salt = message.salt
        record.session = connection.map { SessionID($0) }
        // Its record has the ID already.
        if step == .sent {
            add(record, detail: detail)
        } else {
            add(record, id: message.messageID, detail: detail)
        }
    }

    mutating func recordEntry(
        _ entry: borrowing MailboxEntry, of device: DeviceID, _ step: TraceRecord.Step, detail: String,
        _ moment: StepMoment
    ) {
        guard keepsHistory else { return }
        var record = HistoryStep(.downstream, step, sequence: entry.sequence.number, at: now.wall)
        record.device = device.number
        record.registration = entry.registration.number
        record.sender = entry.sender?.number ?? 0
        record.salt = entry.salt
        add(record, detail: detail, moment)
    }

    /// Records a step of a message to a device of which only the position is known.
    mutating func recordPosition(
        _ sequence: SequenceNumber, of device: DeviceID, _ step: TraceRecord.Step, detail: String = "",
        _ moment: StepMoment = .now
    ) {
        guard keepsHistory else { return }
        var record = HistoryStep(.downstream, step, sequence: sequence.number, at: now.wall)
        record.device = device.number
        add(record, detail: detail, moment)
    }

    mutating func recordUpstream(
        _ upstream: borrowing UpstreamSubmission, _ step: TraceRecord.Step, detail: String
    ) {
        guard keepsHistory, step != .received else { return }
        var record = HistoryStep(.upstream, step, at: now.wall)
        record.device = upstream.device.number
        record.sender = upstream.sender.number
        add(record, id: upstream.messageID, detail: detail)
    }

    /// Records a step of an upstream message, or of a receipt.
    mutating func recordUpstream(
        _ upstream: borrowing StoredUpstream, _ step: TraceRecord.Step, on connection: ConnectionID? = nil,
        detail: String = ""
    ) {
        guard keepsHistory, step != .accepted || !detail.isEmpty else { return }
        let kind: HistoryStep.Kind = upstream.kind == .message ? .upstream : .receipt
        var record = HistoryStep(kind, step, sequence: upstream.sequence.number, at: now.wall)
        record.device = upstream.from.device.number
        record.registration = upstream.from.number.number
        record.sender = upstream.sender.number
        record.session = connection.map { SessionID($0) }
        add(record, id: step == .sent ? [] : upstream.messageID, detail: detail)
    }

    /// Records that a message or receipt left a sender's mailbox.
    mutating func recordUpstreamEnd(
        _ sequence: SequenceNumber, of sender: SenderID, isReceipt: Bool, _ reason: Milestone,
        _ moment: StepMoment
    ) {
        guard keepsHistory else { return }
        var record = HistoryStep(
            isReceipt ? .receipt : .upstream, TraceRecord.Step(reason), sequence: sequence.number,
            at: now.wall)
        record.sender = sender.number
        add(record, moment)
    }

    /// Records a step of a message to a topic or a group as a whole, or of one whose device is not known; `name` is `nil` if it has none.
    mutating func recordSummary(
        _ kind: HistoryStep.Kind, _ messageID: [UInt8], of sender: SenderID, _ step: TraceRecord.Step,
        name: PersistentID? = nil, detail: @autoclosure () -> String = "", _ moment: StepMoment = .now
    ) {
        guard keepsHistory else { return }
        var record = HistoryStep(kind, step, sequence: name?.sequence.number ?? 0, at: now.wall)
        record.sender = sender.number
        record.salt = name?.salt ?? 0
        add(record, id: messageID, detail: detail(), moment)
    }

    /// Records how many app instances of this partition a topic message has reached, when no more of them get it.
    mutating func recordReach(
        _ message: borrowing TopicMessage, _ reached: UInt64, _ step: TraceRecord.Step, _ moment: StepMoment
    ) {
        guard keepsHistory, reached > 0 else { return }
        recordSummary(
            .topic, [], of: message.name.sender, step,
            name: PersistentID(sequence: message.name.sequence, salt: message.salt),
            detail: TopicReach.detail(reached, message.target.words), moment)
    }
}

/// How many app instances a topic message has reached, in the details of a step.
public enum TopicReach {
    private static let word = "reached "
    private static let separator = ", "

    static func detail(_ reached: UInt64, _ target: String) -> String {
        "\(word)\(reached)\(separator)\(target)"
    }

    /// Reads such details. Returns `nil` for others.
    public static func read(_ detail: String) -> (reached: Int, target: Substring)? {
        guard detail.hasPrefix(word), let end = detail.firstRange(of: separator),
            let reached = Int(detail[..<end.lowerBound].dropFirst(word.count))
        else { return nil }
        return (reached, detail[end.upperBound...])
    }
}
