public import Basics

/// A command of the core to a session.
///
/// Commands are typed by their receiver: an app server's session cannot be sent a `DeviceCommand`. A session that is sent a kind of
/// command it never accepts has been confused with another one: it closes, and the host counts and logs that.
public enum SessionCommand: Sendable {
    /// For the session of an app server.
    case appServer(AppServerCommand)
    /// For the session of a device.
    case device(DeviceCommand)
    /// The answer to a message that an app server, an HTTP request or an operator submitted under this request ID.
    case submission(requestID: UInt32, SubmissionReply)
    /// The answer to another request of an HTTP session or an operator.
    case reply(requestID: UInt32, RequestReply)
    /// For every kind of session.
    case connection(ConnectionCommand)
}

/// A command to an app server's session.
public enum AppServerCommand: Sendable {
    /// The keys that the peer may prove, newest first; empty for an unknown sender, which the session must not reveal.
    case loginKeys([ServerKey])
    /// The login succeeded.
    case loginAccepted
    /// The login failed.
    case loginRefused(LoginRefusal)
    /// Write the stanza of an upstream message or receipt. Indirect, so that commands stay small.
    indirect case deliver(StoredUpstream)
    /// Report a receipt as unanswered as soon as it is written: the window has no room for newer receipts.
    case release(SequenceNumber)
    /// Forget an upstream message or receipt that has left the window: it is not written any more, and a late answer to it is ignored.
    case withdraw(SequenceNumber)
    /// Resume this stream (XEP-0198).
    case streamResumed(ResumableStream)
    /// The requested stream does not exist.
    case streamNotResumed
    /// Accept up to this many unanswered downstream messages from now on; those that are in progress stay.
    case changePendingWindow(Int)
}

/// A command to a device's session.
public enum DeviceCommand: Sendable {
    /// The login succeeded; upstream messages with these persistent IDs are already stored.
    case loginAccepted
    /// The login failed.
    case loginRefused(LoginRefusal)
    /// Write the frame of a message or marker.
    case deliver(DeviceDelivery)
    /// A full page has been sent: answer with `deviceWritable` once it is written.
    case reportWhenWritable
    /// The upstream message of a request is on disk, or is a duplicate: its frame can be acknowledged.
    case upstreamStored(requestID: UInt32)
    /// The upstream message of a request is refused.
    case upstreamRefused(requestID: UInt32, UpstreamRefusal)
}

/// The answer to a message that an app server, an HTTP request or an operator submitted.
public enum SubmissionReply: Sendable {
    /// Accepted; `canonical` is the token that replaced the one it was sent to.
    ///
    /// `id` identifies the message to the device; `nil` for a dry run, which creates no message.
    case accepted(id: PersistentID?, canonical: TokenName?)
    /// Refused.
    case refused(Refusal)
    /// The result of a message to a group.
    indirect case group(GroupAnswer)
}

/// The answer to any other request.
public enum RequestReply: Sendable {
    /// The state of the group after the request; after its deletion, its last state.
    indirect case group(GroupRecord)
    /// A group request is refused.
    case groupRefused(GroupRefusal)
    /// Information on a registration, or a subscription was made or ended.
    indirect case token(TokenReport)
    /// Such a token request is refused.
    case tokenRefused(TokenRefusal)
    /// A check-in; `freshToken` is `nil` where the device keeps the token it presented.
    case checkedIn(DeviceID, freshToken: UInt64?)
    /// A check-in with an invalid token.
    case checkInRefused
    /// The registration is stored.
    case registered(TokenName)
    /// The registration is removed, or did not exist.
    case unregistered
    /// A registration or unregistration is refused.
    case registrationRefused(RegistrationRefusal)
    /// The record of an installation after the request, and the number of its registrations.
    indirect case installation(InstallationRecord, registrations: Int)
    /// An operator's request removed a device; with the counts of what was removed.
    case forgotten(registrations: Int, messages: Int)
    /// A request cancelled this number of messages; it was too late for others, which have been sent.
    case cancelled(Int, tooLate: Int)
    /// The outcomes of imported rows, in their order.
    indirect case imported([ImportOutcome])
    /// A step of a message of the traced device.
    indirect case traced(TraceRecord)
}

/// A command to any kind of session.
public enum ConnectionCommand: Sendable {
    /// Announce CONNECTION_DRAINING; the host closes later.
    case drain
    /// End a drained connection for this reason as soon as it owes nothing, from this instant on.
    case endWhenIdle(from: Instant, CloseReason)
    /// End the stream as the protocol defines, then close.
    case close(CloseReason)
    /// The request came from an authenticated device: release its slot among unauthenticated peers (`Requester.Growth.counted`).
    case refundQuota
    /// The answer to this request has this `Retry-After`; it follows. Only for HTTP requests, and only on purpose (`Fault`).
    case retryAfter(requestID: UInt32, seconds: Int)
}
