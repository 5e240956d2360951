public import Basics

/// One step of a message of a device that somebody watches: what happened, never what the message says.
public struct TraceNote: Sendable, Equatable {
    /// Which way the message goes.
    public enum Direction: String, Sendable {
        /// To the device.
        case downstream
        /// From the device.
        case upstream
        /// Of the device's connection itself.
        case connection
    }

    /// What happened; the raw value is the word in `ccsctl devices trace`. Those of `Milestone` have its words.
    public enum Step: String, Sendable, CaseIterable {
        // Messages, both ways.
        case accepted, stored, sent, delivered, replaced, expired, refused, discarded, removed
        /// The device has it: its stream ack, or its list of received ids at login.
        case acknowledged
        /// It came from the device.
        case received
        /// It came from the device before, and was not stored again.
        case duplicate
        // The connection.
        case connected, disconnected
        /// The device says that it is idle, or active again.
        case idle, active
        case loginRefused = "login_refused"
        /// The device was forgotten.
        case forgotten

        /// The step that a milestone is.
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
            }
        }
    }

    /// Which way.
    public var direction: Direction
    /// What happened.
    public var step: Step
    /// The submitter's or app's id of the message; empty where it is not known.
    public var messageID: [UInt8] = []
    /// Place in the mailbox, with the salt where it makes a persistent id; nil before there is one.
    public var place: PersistentID?
    /// The registration that the message is for or from; nil where there is none.
    public var registration: RegistrationNumber?
    /// The account that sent it, or that it is for; 0 where that is not known.
    public var sender: SenderID?
    /// More about it: a refusal, `now_or_never`; empty where there is nothing to say.
    public var detail = ""

    /// A step.
    public init(_ direction: Direction, _ step: Step) {
        self.direction = direction
        self.step = step
    }
}
