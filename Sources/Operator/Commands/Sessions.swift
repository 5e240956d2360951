public import Basics

/// Lists the peers that are logged in.
public struct ListSessions: OperatorCommand {
    public var limit: Int

    /// Creates the command.
    public init(limit: Int = Self.presetLimit) { self.limit = limit }

    /// The default limit.
    public static let presetLimit = 1_000

    public static let summary = OperationSummary.reading(.listSessions, "List the peers that are logged in.")
    public static let fields = Fields(
        ListSessions.init(limit:),
        .preset("limit", .integer(1...Limits.Operator.listedRows), \.limit, presetLimit, "List up to N."))

    /// The sessions of peers that are logged in.
    public struct Answer: Record {
        public var sessions: [SessionRow]
        public var leftOut: Int

        /// Creates an answer.
        public init(sessions: [SessionRow], leftOut: Int) {
            self.sessions = sessions
            self.leftOut = leftOut
        }

        public static let fields = Fields(
            Answer.init(sessions:leftOut:),
            .required("sessions", .list(.record), \.sessions, "The sessions."),
            .required("left_out", .count, \.leftOut, "The number of sessions that are not listed."))
    }
}

/// A peer that is logged in.
public struct SessionRow: Record {
    public var id: ConnectionID
    public var kind: String
    public var peer: String
    public var sender: String?
    public var device: String?
    public var since: UnixMilliseconds

    /// Creates a row.
    public init(
        id: ConnectionID, kind: String, peer: String, sender: String?, device: String?,
        since: UnixMilliseconds
    ) {
        self.id = id
        self.kind = kind
        self.peer = peer
        self.sender = sender
        self.device = device
        self.since = since
    }

    public static let fields = Fields(
        SessionRow.init(id:kind:peer:sender:device:since:),
        .required("id", .session, \.id, "The ID of the session."),
        .required("kind", .text, \.kind, "The listener that the peer connected to."),
        .required("peer", .text, \.peer, "The address of the peer."),
        .optional("sender_id", .text, \.sender, "The sender ID of an app server."),
        .optional("device", .text, \.device, "The Android ID of a device."),
        .required("since", .time, \.since, "When the peer connected."))
}

/// Drains connections: asks the peers to reconnect, then closes them.
public struct DrainSessions: OperatorCommand {
    /// Selects the connections to drain.
    public enum Selection: Sendable, Equatable {
        /// The connections of all app servers.
        case appServers
        /// The connections of one sender.
        case sender(SenderID)
        /// One connection, of an app server or a device.
        case session(ConnectionID)
    }

    /// The session to drain.
    public private(set) var session: ConnectionID?
    /// The sender whose sessions are drained.
    public private(set) var sender: SenderID?

    private init(session: ConnectionID?, sender: SenderID?) {
        self.session = session
        self.sender = sender
    }

    /// Creates the command for the selected connections.
    public init(_ selection: Selection) {
        switch selection {
        case .appServers: self.init(session: nil, sender: nil)
        case .sender(let sender): self.init(session: nil, sender: sender)
        case .session(let session): self.init(session: session, sender: nil)
        }
    }

    /// The connections to drain.
    public var selection: Selection {
        if let session { return .session(session) }
        return sender.map { .sender($0) } ?? .appServers
    }

    public var consequence: String? {
        guard selection == .appServers else { return nil }
        return "All app servers are asked to reconnect, and their connections are closed."
    }

    public static let summary = OperationSummary.destroying(
        .drainSessions, "Ask app servers to reconnect, then close their connections.",
        details: [
            "Each connection gets CONNECTION_DRAINING; after drain_grace_seconds the connections are closed one by one, at random times within drain_spread_seconds. Messages in flight are still acknowledged, new messages get a CONNECTION_DRAINING error, and everything else goes to newly opened connections. The daemon keeps running, and devices stay connected.",
            "Without a session or a sender, all current connections of app servers are drained.",
        ])
    public static let fields = Fields(
        DrainSessions.init(session:sender:),
        .optional(
            "session", .session, \.session, audit: .session,
            "Drain the connection with this ID (see sessions list)."),
        .optional("sender_id", .sender, \.sender, audit: .sender, "Drain the connections of this sender."))

    public func check() throws(FieldProblem) {
        guard session == nil || sender == nil else {
            throw .conflict("session and sender_id exclude each other", hint: "give one of them")
        }
    }

    /// The number of drained sessions.
    public struct Answer: Record {
        public var sessions: Int

        /// Creates an answer.
        public init(sessions: Int) { self.sessions = sessions }

        public static let fields = Fields(
            Answer.init(sessions:),
            .required("sessions", .count, \.sessions, "The number of drained sessions."))
    }
}
