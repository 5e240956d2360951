public import Basics

/// The endpoint of a sender, as the gateway uses it.
public struct WebhookEndpoint: Sendable {
    /// A key that requests are signed with.
    public struct Key: Sendable {
        /// The secret.
        public var secret: Redacted<[UInt8]>
        /// When it is no longer used, milliseconds since 1970. `nil` if it has no end.
        public var expiresAt: UnixMilliseconds?

        /// Creates a key.
        public init(secret: Redacted<[UInt8]>, expiresAt: UnixMilliseconds? = nil) {
            self.secret = secret
            self.expiresAt = expiresAt
        }
    }

    /// The sender.
    public var sender: SenderID
    /// Where requests are sent.
    public var url: String
    /// Its keys, oldest first.
    public var keys: [Key]
    /// Whether requests are sent: not while it is paused or stopped, or its sender suspended.
    public var isActive: Bool
    /// Whether it has answered 410, and no operator has resumed it.
    public var isGone: Bool

    /// Creates an endpoint.
    public init(sender: SenderID, url: String, keys: [Key], isActive: Bool = true, isGone: Bool = false) {
        self.sender = sender
        self.url = url
        self.keys = keys
        self.isActive = isActive
        self.isGone = isGone
    }
}

/// The state of an endpoint, for operators.
public struct WebhookStatus: Sendable, Equatable {
    /// Requests in flight.
    public var inFlight = 0
    /// Messages and receipts that wait here, also for their next attempt.
    public var waiting = 0
    /// Requests since the start that were acknowledged, and those that were not.
    public var acknowledged = 0
    public var failed = 0
    /// Failures since the last acknowledgement.
    public var failuresInRow = 0
    /// Milliseconds until a paused endpoint is tried again. `nil` if it is not paused.
    public var pausedMilliseconds: Int64?
    /// The last failure in words, and its time in milliseconds since 1970. `nil` if there was none.
    public var lastFailure: String?
    public var lastFailureAt: UnixMilliseconds?
    /// When a request was last acknowledged, milliseconds since 1970. `nil` if none was.
    public var lastAcknowledgedAt: UnixMilliseconds?

    /// Creates the state of an endpoint that has had no request.
    public init() {}
}
