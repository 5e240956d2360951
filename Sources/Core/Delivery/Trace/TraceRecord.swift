public import Basics

/// One step of a traced device's message: what happened, never the content of the message.
public struct TraceRecord: Sendable, Equatable {
    /// The direction of the message.
    public enum Direction: String, Sendable, CaseIterable {
        /// To the device.
        case downstream
        /// From the device.
        case upstream
        /// The device's connection itself.
        case connection
    }

    /// What happened; the raw value is the word in `ccsctl devices trace`. The steps that are milestones have the milestone's word.
    public enum Step: String, Sendable, CaseIterable {
        // Messages, in both directions.
        case accepted, stored, sent, delivered, replaced, expired, refused, discarded, removed, forwarded
        /// The device has the message: it sent a stream ack, or listed it among the received IDs at login.
        case acknowledged
        /// Received from the device.
        case received
        /// Received from the device before, and not stored again.
        case duplicate
        /// APNs cannot take it now: it is offered again later.
        case deferred
        // The connection.
        case connected, disconnected
        /// The device reports that it is idle, or active again.
        case idle, active
        case loginRefused = "login_refused"
        /// The device was removed.
        case forgotten
        /// An operator or its app server cancelled the message; counted as removed.
        case cancelled
        /// The message is sent later: the detail is its time.
        case scheduled
        /// The time of a scheduled message has come: it waits like any other.
        case released

        /// The step of a milestone.
        public init(_ milestone: Milestone) {
            switch milestone {
            case .accepted: self = .accepted
            case .stored: self = .stored
            case .sent: self = .sent
            case .delivered: self = .delivered
            case .replaced: self = .replaced
            case .expired: self = .expired
            case .refused: self = .refused
            case .discarded: self = .discarded
            case .removed: self = .removed
            case .forwarded: self = .forwarded
            }
        }
    }

    /// Whether the message goes to the device or comes from it.
    public var direction: Direction
    public var step: Step
    /// The submitter's or app's ID of the message; empty if unknown.
    public var messageID: [UInt8] = []
    /// Sequence number, with the salt where it makes a persistent ID; `nil` before it is assigned.
    public var persistentID: PersistentID?
    /// The registration that the message is for or from; `nil` if none.
    public var registration: RegistrationNumber?
    /// The account that sent it or that it is for; `nil` if unknown.
    public var sender: SenderID?
    /// Details: a refusal, `now_or_never`; empty if there are none.
    public var detail = ""

    public init(_ direction: Direction, _ step: Step) {
        self.direction = direction
        self.step = step
    }
}
