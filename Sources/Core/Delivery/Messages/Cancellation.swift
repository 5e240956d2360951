public import Basics

/// A request to cancel the messages with an ID that wait for a device.
public struct Cancellation: Sendable {
    /// Where the answer is sent.
    public var requester: Requester
    public var device: DeviceID
    /// The registration that the messages are for. `nil` for all of the device.
    public var registration: RegistrationNumber?
    /// The account that sent them. `nil` for all: an operator cancels any message.
    public var sender: SenderID?
    /// The ID that the submitter gave the messages, or the persistent ID of one of them.
    public var messageID: [UInt8]
    /// The message that takes their place. `nil` if they are only cancelled.
    var replacement: Submission?
    /// What is known of the messages with the ID.
    var state = State.new

    /// What is known of the messages with the ID.
    enum State {
        /// Nothing.
        case new
        /// What was accepted before the request is on disk, or lost: the store finds it by its ID.
        case settled
        /// The store has found these.
        case found([PersistentID])
    }

    /// Creates a request.
    public init(
        requester: Requester, device: DeviceID, registration: RegistrationNumber? = nil, sender: SenderID?,
        messageID: [UInt8]
    ) {
        self.requester = requester
        self.device = device
        self.registration = registration
        self.sender = sender
        self.messageID = messageID
    }

    /// Whether a message may be meant, by all but its ID.
    func mayMean(_ message: MailboxEntry, of entry: DeviceEntry) -> Bool {
        guard message.kind == .message, sender == nil || message.sender == sender else { return false }
        guard let registration, registration != message.registration else { return true }
        // A message to a token that was replaced waits for the newer registration of the same app.
        guard let old = entry.index(of: registration), let new = entry.index(of: message.registration),
            old < new
        else { return false }
        return entry.registrations[new].registration.isSameApp(as: entry.registrations[old].registration)
    }
}

/// The requests that wait for the store to find messages by an ID.
struct MessageLookups {
    private var waiting: [UInt64: Cancellation] = [:]
    private var last: UInt64 = 0

    /// Adds a request and returns its number. Returns `nil` if too many wait.
    mutating func add(_ request: Cancellation) -> UInt64? {
        guard waiting.count < Limits.Message.lookups else { return nil }
        last += 1
        waiting[last] = request
        return last
    }

    /// Removes and returns a request.
    mutating func remove(_ number: UInt64) -> Cancellation? { waiting.removeValue(forKey: number) }
}
