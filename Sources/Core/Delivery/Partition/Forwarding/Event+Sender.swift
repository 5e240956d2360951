public import Basics

extension Event {
    /// The sender whose credentials were checked where the event was made. `nil` for events that need none.
    public var vouchedSender: SenderID? {
        switch self {
        case .device(_, .submitted(let submission)): submission.sender
        case .device(_, .token(let request)): request.sender
        case .sender(let sender, _), .group(let sender, _), .topic(let sender, _): sender
        case .device, .topicLog, .installation, .partition: nil
        }
    }

    /// The sender as which a session sends a message or asks for a group. `nil` for what it reports to its own owner, who checks its sender.
    public var sessionSender: SenderID? {
        if case .sender = self { nil } else { vouchedSender }
    }
}
