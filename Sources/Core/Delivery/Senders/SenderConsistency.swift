import Basics

/// Consistency checks: a sender event names its sender, and so do the values in it.
extension SenderEvent {
    /// Whether the values in the event belong to the sender.
    func isFor(_ sender: SenderID) -> Bool {
        switch self {
        case .upstreamResolved(let upstream, _): upstream.sender == sender
        case .groupUpstream(let submission): submission.group.sender == sender
        case .receiptDue(let due): due.sender == sender
        case .login, .keysRequested, .bound, .draining, .congested, .writable, .closed, .streamManaged,
            .streamDetached, .streamRequested, .upstreamFinished, .upstreamReturnFinished:
            true
        }
    }
}
