public import Basics

/// The webhook of a sender: an HTTPS endpoint that takes upstream messages and receipts while no app server is connected.
public struct WebhookRecord: Sendable, Equatable {
    /// Whether requests are sent.
    public enum State: UInt8, Sendable, CaseIterable {
        /// Requests are sent.
        case active = 0
        /// An operator has paused it.
        case paused = 1
        /// The endpoint has answered 410 Gone: an operator must resume it.
        case gone = 2
    }

    /// A secret that requests are signed with.
    public struct Secret: Sendable, Equatable {
        /// The secret, encrypted by the server.
        public var sealed: [UInt8]
        /// When it was made, milliseconds since 1970.
        public var createdAt: UnixMilliseconds
        /// When requests are no longer signed with it, milliseconds since 1970. `nil` for the newest one.
        public var expiresAt: UnixMilliseconds?

        /// Creates a secret.
        public init(sealed: [UInt8], createdAt: UnixMilliseconds, expiresAt: UnixMilliseconds? = nil) {
            self.sealed = sealed
            self.createdAt = createdAt
            self.expiresAt = expiresAt
        }
    }

    /// Where requests are sent; an `https` URL.
    public var url: String
    /// Its secrets, oldest first.
    public var secrets: [Secret]
    /// Whether requests are sent.
    public var state: State
    /// When it was set, milliseconds since 1970.
    public var createdAt: UnixMilliseconds

    /// Creates a webhook.
    public init(url: String, secrets: [Secret], state: State = .active, createdAt: UnixMilliseconds) {
        self.url = url
        self.secrets = secrets
        self.state = state
        self.createdAt = createdAt
    }
}

extension SenderRecord {
    /// Whether its webhook may get messages. Those of a suspended sender wait, as for its app servers.
    public var usesWebhook: Bool { webhook?.state == .active && !isSuspended }
}
