public import Basics
public import Delivery

/// The steps of one message that were near in time, as a block has them.
public struct HistoryRecord: Sendable, Equatable {
    /// A step and its time.
    public struct Step: Sendable, Equatable {
        public var time: UnixMilliseconds
        public var step: TraceRecord.Step
        /// Details, such as a refusal; empty if there are none.
        public var detail: String
        /// The session that it was sent on; `nil` if it was not.
        public var session: SessionID?

        /// Creates a step.
        public init(
            time: UnixMilliseconds, step: TraceRecord.Step, detail: String = "", session: SessionID? = nil
        ) {
            self.time = time
            self.step = step
            self.detail = detail
            self.session = session
        }
    }

    public var kind: HistoryStep.Kind
    /// The submitter's or app's ID of the message, as far as it is recorded; empty in a record of later steps.
    public var id: [UInt8] = []
    /// The device; 0 if unknown.
    public var device: UInt64 = 0
    /// The registration; 0 if unknown.
    public var registration: UInt64 = 0
    /// The account; 0 if unknown.
    public var sender: UInt64 = 0
    /// The position in the mailbox of its device or sender; 0 if it has none.
    public var sequence: UInt64 = 0
    /// Second half of the persistent ID; 0 if unknown.
    public var salt: UInt32 = 0
    public var steps: [Step] = []

    /// Creates a record without steps.
    public init(_ kind: HistoryStep.Kind) { self.kind = kind }

    /// Whose mailbox the position is in.
    var owner: UInt64 { kind.isOfDevice ? device : sender }
}

/// Why bytes of a history file are not used.
public enum HistoryDamage: Error, Sendable, Equatable {
    /// They are not what was written.
    case checksum
    /// They are no record, although their checksum is right.
    case format
    /// They cannot be read.
    case unreadable
}
