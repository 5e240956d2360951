public import Basics

/// Lists the peers that are logged in.
public struct ListSessions: OperatorCommand {
    public var limit: Int = Self.presetLimit

    /// The default limit.
    public static let presetLimit = 1_000

    public static let summary = OperationSummary.reading(
        "sessions list", "List the peers that are logged in.")
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
    public var id: SessionID
    public var kind: String
    public var peer: String
    public var sender: String?
    public var device: String?
    public var since: UnixMilliseconds

    /// Creates a row.
    public init(
        id: SessionID, kind: String, peer: String, sender: String?, device: String?,
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
        case session(SessionID)
    }

    /// What the command does.
    public enum Action: Sendable, Equatable {
        /// Drains the selected connections; their peers may connect again.
        case drain(Selection)
        /// Drains all app servers, disconnects all other clients, and keeps their ports closed.
        case hold
        /// Opens the ports again.
        case release
    }

    /// The session to drain.
    public private(set) var session: SessionID?
    /// The sender whose sessions are drained.
    public private(set) var sender: SenderID?
    /// Whether the ports are closed.
    public private(set) var isHolding: Bool
    /// Whether the ports are opened.
    public private(set) var isReleasing: Bool

    private init(session: SessionID?, sender: SenderID?, isHolding: Bool, isReleasing: Bool) {
        self.session = session
        self.sender = sender
        self.isHolding = isHolding
        self.isReleasing = isReleasing
    }

    /// Creates the command for an action.
    public init(_ action: Action) {
        self.init(session: nil, sender: nil, isHolding: action == .hold, isReleasing: action == .release)
        switch action {
        case .drain(.sender(let sender)): self.sender = sender
        case .drain(.session(let session)): self.session = session
        case .drain(.appServers), .hold, .release: break
        }
    }

    /// Creates the command that drains the selected connections.
    public init(_ selection: Selection) { self.init(.drain(selection)) }

    /// What to do.
    public var action: Action {
        if isHolding { return .hold }
        if isReleasing { return .release }
        if let session { return .drain(.session(session)) }
        return .drain(sender.map { .sender($0) } ?? .appServers)
    }

    public var consequence: String? {
        switch action {
        case .drain(.appServers):
            "All app servers are asked to reconnect, and their connections are closed."
        case .hold:
            "All app servers and devices are disconnected, and none can connect until the ports are released or ccsd restarts."
        case .drain, .release: nil
        }
    }

    public static let summary = OperationSummary.destroying(
        "drain", "Ask app servers to reconnect, then close their connections.",
        details: [
            "Each connection gets CONNECTION_DRAINING; after drain_grace_seconds the connections are closed one by one, at random times within drain_spread_seconds. Messages in flight are still acknowledged, new messages get a CONNECTION_DRAINING error, and everything else goes to newly opened connections. The daemon keeps running, and devices stay connected.",
            "Without a session or a sender, all current connections of app servers are drained.",
            "With hold no client can connect from the beginning on: the ports of app servers and devices and that of HTTPS accept nothing, and new connections wait in the sockets. App servers are drained, devices and HTTPS are disconnected, and the state is drained: no message of a client arrives until a drain with release, or a restart. The control socket and the admin port work as before. What has been accepted goes on: messages to iOS apps and webhooks leave, and in a cluster other nodes still reach this one.",
        ])
    public static let fields = Fields(
        DrainSessions.init(session:sender:isHolding:isReleasing:),
        .optional(
            "session", .session, \.session, audit: .session,
            "Drain the connection with this ID (see sessions list)."),
        .optional("sender_id", .sender, \.sender, audit: .sender, "Drain the connections of this sender."),
        .preset(
            "hold", .boolean, \.isHolding, false,
            "Disconnect all clients, and keep their ports closed."),
        .preset(
            "release", .boolean, \.isReleasing, false,
            "Open the ports that a drain with hold has closed."))

    public func check() throws(FieldProblem) {
        let given = [session != nil, sender != nil, isHolding, isReleasing]
        guard given.count(where: { $0 }) <= 1 else {
            throw .conflict(
                "session, sender_id, hold and release exclude each other", hint: "give one of them")
        }
    }

    public static func auditResult(_ answer: Answer) -> String {
        answer.state == ServiceWord.drained.rawValue ? ServiceWord.drained.rawValue : "ok"
    }

    /// The result of a drain.
    public struct Answer: Record {
        public var sessions: Int
        /// The state of the daemon afterwards; `nil` if it did not report it.
        public var state: String?

        /// Creates an answer.
        public init(sessions: Int, state: String? = nil) {
            self.sessions = sessions
            self.state = state
        }

        public static let fields = Fields(
            Answer.init(sessions:state:),
            .required("sessions", .count, \.sessions, "The number of drained sessions."),
            .optional("state", .text, \.state, "The state afterwards: \(ServiceWord.list)."))
    }
}
