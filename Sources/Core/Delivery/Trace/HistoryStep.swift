public import Basics

/// One step of a message for the message history: numbers only, so that it costs a turn one append. The message's ID and the details are
/// in the text of its batch.
public struct HistoryStep: Sendable, Equatable {
    /// What takes the step; the number is part of the format of the history.
    public enum Kind: UInt8, Sendable, CaseIterable {
        /// A message to a device.
        case downstream = 0
        /// A message of a device.
        case upstream = 1
        /// A delivery receipt on its way to an app server.
        case receipt = 2
        /// A message to a topic as a whole; its copies for devices are `downstream`.
        case topic = 3
        /// A message to a group as a whole; its copies for the members are `downstream`.
        case group = 4
        /// No message: the history has nothing from the first step to the second.
        case gap = 5

        /// Whether the position is in the mailbox of the device, not in that of the sender.
        public var isOfDevice: Bool { self == .downstream }
    }

    /// Details that take one byte; the raw value is part of the format of the history.
    public enum UsualDetail: UInt8, Sendable, CaseIterable {
        case none, nowOrNever, apns, apnsNowOrNever, dryRun, webhook, deletedMessages, sendError

        /// The details in words; empty for none.
        public var text: String {
            switch self {
            case .none: ""
            case .nowOrNever: "now_or_never"
            case .apns: "apns"
            case .apnsNowOrNever: "apns now_or_never"
            case .dryRun: "dry_run"
            case .webhook: "webhook"
            case .deletedMessages: "deleted_messages"
            case .sendError: "send_error"
            }
        }
    }

    /// When it happened.
    public var time: UnixMilliseconds
    /// The device; 0 if unknown.
    public var device: UInt64 = 0
    /// The account; 0 if unknown.
    public var sender: UInt64 = 0
    /// The registration; 0 if unknown.
    public var registration: UInt64 = 0
    /// The position in the mailbox of its device or sender; 0 before it is assigned.
    public var sequence: UInt64
    /// Second half of the persistent ID; 0 if unknown.
    public var salt: UInt32 = 0
    /// The session that it was sent on; `nil` if it was not.
    public var session: SessionID?
    /// Bytes of the message's ID.
    public internal(set) var idBytes: UInt8 = 0
    /// Bytes of the details.
    public internal(set) var detailBytes: UInt8 = 0
    public var kind: Kind
    public var step: TraceRecord.Step
    /// The details if they are usual ones.
    public internal(set) var detail = UsualDetail.none

    /// Creates a step.
    public init(_ kind: Kind, _ step: TraceRecord.Step, sequence: UInt64 = 0, at time: UnixMilliseconds) {
        self.kind = kind
        self.step = step
        self.sequence = sequence
        self.time = time
    }

    /// Whose mailbox the position is in.
    public var owner: UInt64 { kind.isOfDevice ? device : sender }

    /// The mailbox and the position. `nil` for a message as a whole.
    var place: MailboxPlace? {
        switch kind {
        case .downstream: MailboxPlace(.device(DeviceID(device)), SequenceNumber(sequence))
        case .upstream, .receipt: MailboxPlace(.sender(SenderID(sender)), SequenceNumber(sequence))
        case .topic, .group, .gap: nil
        }
    }
}

/// Steps of messages, and the bytes that they refer to: for each step its message's ID and its details, in order.
public struct HistoryBatch: Sendable, Equatable {
    public private(set) var steps: [HistoryStep] = []
    public private(set) var text: [UInt8] = []

    /// Creates an empty batch.
    public init() {}

    /// Whether it has no steps.
    public var isEmpty: Bool { steps.isEmpty }

    /// Appends a step. Of an ID and of details only the first `Limits.History.textBytes` bytes are recorded.
    ///
    /// Inlined, so that the step is written once, into the array: a turn records three for each message.
    @inline(__always)
    public mutating func append(_ step: HistoryStep, id: [UInt8] = [], detail: String = "") {
        var step = step
        if !id.isEmpty { step.idBytes = add(id) }
        if !detail.isEmpty { (step.detail, step.detailBytes) = add(detail) }
        steps.append(step)
    }

    /// Adds an ID to the text. Returns its bytes.
    private mutating func add(_ id: [UInt8]) -> UInt8 {
        if id.count <= Limits.History.textBytes {
            text.append(contentsOf: id)
        } else {
            text.append(contentsOf: id.prefix(Limits.History.textBytes))
        }
        return UInt8(min(id.count, Limits.History.textBytes))
    }

    /// Adds details to the text, unless they are usual ones. Returns these, or the bytes of the others.
    private mutating func add(_ detail: String) -> (HistoryStep.UsualDetail, UInt8) {
        if let usual = HistoryStep.UsualDetail.allCases.first(where: { $0.text == detail }) {
            return (usual, 0)
        }
        let bytes = detail.utf8.prefix(Limits.History.textBytes)
        text.append(contentsOf: bytes)
        return (.none, UInt8(bytes.count))
    }

    /// Appends the steps of another batch.
    public mutating func append(_ other: HistoryBatch) {
        steps.append(contentsOf: other.steps)
        text.append(contentsOf: other.text)
    }

    /// Appends the steps of another batch, which have happened at this time.
    mutating func append(_ other: borrowing HistoryBatch, at time: UnixMilliseconds) {
        let start = steps.count
        append(other)
        for index in start..<steps.count { steps[index].time = time }
    }

    /// Returns the steps that a condition selects.
    func filter(_ isSelected: (HistoryStep) -> Bool) -> HistoryBatch {
        var (selected, at) = (HistoryBatch(), 0)
        for step in steps {
            let end = at + Int(step.idBytes) + Int(step.detailBytes)
            if isSelected(step) {
                selected.steps.append(step)
                selected.text += text[at..<end]
            }
            at = end
        }
        return selected
    }

    /// Empties the batch and keeps its storage.
    public mutating func removeAll() {
        steps.removeAll(keepingCapacity: true)
        text.removeAll(keepingCapacity: true)
    }

    /// Reserves storage for steps with texts of usual length.
    public mutating func reserve(steps count: Int) {
        steps.reserveCapacity(count)
        text.reserveCapacity(16 * count)
    }
}

extension TraceRecord.Step {
    /// The number of the step in the history.
    @inline(__always)
    public var code: UInt8 {
        switch self {
        case .accepted: 0
        case .stored: 1
        case .sent: 2
        case .delivered: 3
        case .replaced: 4
        case .expired: 5
        case .refused: 6
        case .discarded: 7
        case .removed: 8
        case .forwarded: 9
        case .acknowledged: 10
        case .received: 11
        case .duplicate: 12
        case .deferred: 13
        case .connected: 14
        case .disconnected: 15
        case .idle: 16
        case .active: 17
        case .loginRefused: 18
        case .forgotten: 19
        case .cancelled: 20
        case .scheduled: 21
        case .released: 22
        }
    }

    /// The steps by their numbers.
    public static let byCode: [Self] = allCases.sorted { $0.code < $1.code }
}
