public import Basics

/// What the core has a session do; the kinds say which sessions take them.
///
/// Commands of one kind are typed by their receiver: a session of an app server has no way to take a `DeviceCommand`. A session that
/// is given a kind which it never takes has been confused with another one: it closes, and the host counts and logs that.
public enum SessionCommand: Sendable {
    /// For the session of an app server.
    case appServer(AppServerCommand)
    /// For the session of a device.
    case device(DeviceCommand)
    /// The answer to a message that the session submitted by this ticket: for app servers, HTTP and operators.
    case submission(ticket: UInt32, SubmissionReply)
    /// The answer to another request of this ticket: for HTTP and operators.
    case reply(ticket: UInt32, RequestReply)
    /// For any session.
    case connection(ConnectionCommand)
}

/// What the session of an app server is to do.
public enum AppServerCommand: Sendable {
    /// The keys that may be proved, newest first; none for an unknown sender, which must not show.
    case loginKeys([ServerKey])
    /// The login stands.
    case loginAccepted
    /// The login fails.
    case loginRefused(LoginRefusal)
    /// Write the stanza of an upstream message or receipt. Boxed, so that commands are small and cheap to hand on.
    indirect case deliver(StoredUpstream)
    /// Report a receipt as unanswered as soon as it is written: the window has no room for newer receipts.
    case release(Sequence)
    /// Forget an upstream message or receipt that has left the window: it is not written any more, and a late answer to it is ignored.
    case withdraw(Sequence)
    /// Go on with this stream (XEP-0198).
    case streamResumed(ResumableStream)
    /// There is no such stream to go on with.
    case streamNotResumed
    /// Accept up to this many unanswered downstream messages from now on; those that are in progress stay.
    case changePendingWindow(Int)
}

/// What the session of a device is to do.
public enum DeviceCommand: Sendable {
    /// The login stands; upstream messages of these persistent ids are known to be stored.
    case loginAccepted
    /// The login fails.
    case loginRefused(LoginRefusal)
    /// Write the frame of a message or marker. Boxed, so that commands are small and cheap to hand on.
    indirect case deliver(DeviceDelivery)
    /// All of a page has been handed over: answer `deviceReady` when it has left.
    case reportWhenReady
    /// The upstream message of a ticket is on disk (or known): its frame may be acknowledged.
    case upstreamStored(ticket: UInt32)
    /// The upstream message of a ticket is refused.
    case upstreamRefused(ticket: UInt32, UpstreamRefusal)
}

/// The answer to a message that an app server, an HTTP request or an operator submitted.
public enum SubmissionReply: Sendable {
    /// It is accepted; `canonical` where the token was replaced.
    ///
    /// `id` is what the device knows the message by; nil for a dry run, which makes none.
    case accepted(id: PersistentID?, canonical: RegistrationName?)
    /// It is refused.
    case refused(Refusal)
    /// What became of a message to a group.
    indirect case group(GroupAnswer)
}

/// The answer to any other request.
public enum RequestReply: Sendable {
    /// A request about a group: the group as it is now; without members it is gone.
    indirect case group(GroupRecord)
    /// A request about a group is refused.
    case groupRefused(GroupRefusal)
    /// A question about a registration, or its subscription is made or ended.
    indirect case token(TokenReport)
    /// Such a request is refused.
    case tokenRefused(TokenRefusal)
    /// A check-in; the token is nil where the device keeps the one it gave.
    case checkedIn(DeviceID, freshToken: UInt64?)
    /// A check-in with a wrong token.
    case checkInRefused
    /// A registration.
    case registered(RegistrationName)
    /// An unregistration: done, whether or not there was something to remove.
    case unregistered
    /// Either is refused.
    case registrationRefused(RegistrationRefusal)
    /// A request about an installation: its record, as it is now, and how many registrations it has.
    indirect case installation(InstallationRecord, registrations: Int)
    /// An operator's request to forget a device; the counts of what went.
    case forgotten(registrations: Int, messages: Int)
    /// A step of a message of the device that is watched.
    indirect case traced(TraceNote)
}

/// What any session is to do.
public enum ConnectionCommand: Sendable {
    /// Announce CONNECTION_DRAINING; the host closes later.
    case drain
    /// A drained connection may end for this reason as soon as nothing is owed on it, from this instant on.
    case endWhenIdle(from: Instant, CloseReason)
    /// Say goodbye in the protocol's own way, then close.
    case close(CloseReason)
    /// A request was no stranger's: the place that it took among theirs is free again (`Origin.Growth.counted`).
    case placeUnused
}
