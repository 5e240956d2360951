public import Basics

/// Lists the peers that are logged in.
public struct ListSessions: OperatorCommand {
    /// How many to list at most.
    public var limit: Int

    /// A list of up to so many.
    public init(limit: Int = Self.presetLimit) { self.limit = limit }

    /// How many are listed where no number is given.
    public static let presetLimit = 1_000

    public static let summary = OperationSummary.reading(.listSessions, "List the peers that are logged in.")
    public static let fields = Fields(
        ListSessions.init(limit:),
        .preset("limit", .integer(1...Limits.Operator.listedRows), \.limit, presetLimit, "List up to N."))

    /// The peers that are logged in.
    public struct Answer: Record {
        /// The sessions.
        public var sessions: [SessionRow]
        /// How many more there are.
        public var leftOut: Int

        /// A list.
        public init(sessions: [SessionRow], leftOut: Int) {
            self.sessions = sessions
            self.leftOut = leftOut
        }

        public static let fields = Fields(
            Answer.init(sessions:leftOut:),
            .required("sessions", .list(.record), \.sessions, "The sessions."),
            .required("left_out", .count, \.leftOut, "How many more there are."))
    }
}

/// A peer that is logged in.
public struct SessionRow: Record {
    /// Its ID.
    public var id: ConnectionID
    /// The listener that it came to.
    public var kind: String
    /// Its address.
    public var peer: String
    /// Its sender ID, if it is an app server.
    public var sender: String?
    /// Its number, if it is a device.
    public var device: String?
    /// When it connected.
    public var since: UnixMilliseconds

    /// A session.
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
        .required("id", .session, \.id, "Its ID."),
        .required("kind", .text, \.kind, "The listener that it came to."),
        .required("peer", .text, \.peer, "Its address."),
        .optional("sender_id", .text, \.sender, "Its sender ID, if it is an app server."),
        .optional("device", .text, \.device, "Its number, if it is a device."),
        .required("since", .time, \.since, "When it connected."))
}

/// Ends connections in a planned way.
public struct DrainSessions: OperatorCommand {
    /// Whose connections are drained.
    public enum Selection: Sendable, Equatable {
        /// Those of all app servers.
        case appServers
        /// Those of one sender.
        case sender(SenderID)
        /// One, of an app server or a device.
        case session(ConnectionID)
    }

    /// One session.
    public private(set) var session: ConnectionID?
    /// The sessions of one sender.
    public private(set) var sender: SenderID?

    private init(session: ConnectionID?, sender: SenderID?) {
        self.session = session
        self.sender = sender
    }

    /// Ends some connections.
    public init(_ selection: Selection) {
        switch selection {
        case .appServers: self.init(session: nil, sender: nil)
        case .sender(let sender): self.init(session: nil, sender: sender)
        case .session(let session): self.init(session: session, sender: nil)
        }
    }

    /// Whose connections are drained.
    public var selection: Selection {
        if let session { return .session(session) }
        return sender.map { .sender($0) } ?? .appServers
    }

    public static let summary = OperationSummary.changing(
        .drainSessions, "Ask app servers to reconnect, then close their connections.",
        details: [
            "Each is sent CONNECTION_DRAINING; after the grace the connections close one by one, at random over the spread. What is on its way is still acknowledged, new messages are refused with CONNECTION_DRAINING, and connections opened meanwhile get everything else. The daemon keeps running; devices stay.",
            "Without a session or a sender the connections of all app servers that are open now are drained.",
        ])
    public static let fields = Fields(
        DrainSessions.init(session:sender:),
        .optional(
            "session", .session, \.session, audit: .session,
            "Drain one connection, by its ID in the list of sessions."),
        .optional("sender_id", .sender, \.sender, audit: .sender, "Drain the connections of one sender."))

    public func check() throws(FieldProblem) {
        guard session == nil || sender == nil else {
            throw .conflict("session and sender_id exclude each other", hint: "give one of them")
        }
    }

    /// What was drained.
    public struct Answer: Record {
        /// How many sessions.
        public var sessions: Int

        /// What was drained.
        public init(sessions: Int) { self.sessions = sessions }

        public static let fields = Fields(
            Answer.init(sessions:),
            .required("sessions", .count, \.sessions, "How many sessions were drained."))
    }
}
