public import Basics

/// The sessions of browsers: who opened each, and when it ends. They are lost with a restart.
public struct OperatorSessions: Sendable {
    /// An open session.
    public struct Session: Sendable, Equatable {
        /// The name of the operator.
        public let name: String
        /// The digest of the token that it was opened with; a session ends with its token.
        public let token: [UInt8]
        /// When it ends at the latest.
        public let end: Instant
        /// The last request.
        public fileprivate(set) var usedAt: Instant

        /// When it ends without a further request.
        public var deadline: Instant {
            min(end, usedAt.advanced(seconds: Limits.OperatorAPI.sessionIdleSeconds))
        }
    }

    /// By the digest of the secret in the cookie.
    private var sessions: [[UInt8]: Session] = [:]

    /// Creates a table without sessions.
    public init() {}

    /// The number of sessions, including those that have ended since the last change.
    public var count: Int { sessions.count }

    /// Opens a session. At the limit of the operator, or of all, the one that was not used for the longest time ends.
    public mutating func open(_ digest: [UInt8], name: String, token: [UInt8], now: Instant) {
        sessions = sessions.filter { $0.value.deadline > now }
        let own = sessions.filter { $0.value.name == name }
        if own.count >= Limits.OperatorAPI.sessionsPerOperator {
            endOldest(of: own)
        } else if sessions.count >= Limits.OperatorAPI.sessions {
            endOldest(of: sessions)
        }
        sessions[digest] = Session(
            name: name, token: token, end: now.advanced(seconds: Limits.OperatorAPI.sessionSeconds),
            usedAt: now)
    }

    private mutating func endOldest(of candidates: [[UInt8]: Session]) {
        guard let oldest = candidates.min(by: { $0.value.usedAt < $1.value.usedAt }) else { return }
        sessions[oldest.key] = nil
    }

    /// Returns a session and notes its use. Returns `nil` if there is none, or it has ended.
    public mutating func use(_ digest: [UInt8], now: Instant) -> Session? {
        guard let session = sessions[digest] else { return nil }
        guard session.deadline > now else {
            sessions[digest] = nil
            return nil
        }
        sessions[digest]?.usedAt = now
        return session
    }

    /// Ends a session.
    public mutating func end(_ digest: [UInt8]) { sessions[digest] = nil }

    /// Ends the sessions of an operator.
    public mutating func endAll(of name: String) { sessions = sessions.filter { $0.value.name != name } }

    /// The number of open sessions of an operator.
    public func count(of name: String, now: Instant) -> Int {
        sessions.values.count { $0.name == name && $0.deadline > now }
    }
}
