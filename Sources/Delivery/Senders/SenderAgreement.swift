import Basics

/// What is said twice must agree: an event carries the sender that it is of, and so does what is in it.
extension SenderEvent {
    /// Whether what the event carries is of a sender.
    func isFor(_ sender: SenderID) -> Bool {
        switch self {
        case .upstreamResolved(let upstream, _): upstream.sender == sender
        case .groupUpstream(let submission): submission.group.sender == sender
        case .receiptDue(let due): due.sender == sender
        case .login, .keysWanted, .bound, .draining, .congested, .writable, .closed, .streamManaged,
            .streamDetached, .streamWanted, .upstreamSettled, .upstreamReturnSettled:
            true
        }
    }
}
