public import Basics

/// A request of an app server about one registration, with its sender's authority in place of the device's credentials
/// (http 7, 8.7).
public struct TokenRequest: Sendable {
    /// The requested action.
    public enum Action: Sendable, Equatable {
        /// Report the registration and its subscriptions with the sender.
        case describe
        /// Subscribe it to a topic of the sender.
        case subscribe(TopicName)
        /// End its subscription to a topic of the sender.
        case unsubscribe(TopicName)
    }

    /// Where the answer is sent.
    public var requester: Requester
    /// The registration.
    public var name: RegistrationName
    /// The sender of the app server; the registration must allow it.
    public var sender: SenderID
    /// The requested action.
    public var action: Action

    /// Creates a request.
    public init(requester: Requester, name: RegistrationName, sender: SenderID, action: Action) {
        self.requester = requester
        self.name = name
        self.sender = sender
        self.action = action
    }
}

/// The answer to an app server about a registration.
public struct TokenReport: Sendable {
    /// The registration.
    public var registration: Registration
    /// Its subscriptions with the requesting sender, unordered. For a change, the subscription made, found or ended, if any.
    public var topics: [Subscription]
    /// For a change, whether the subscription existed before.
    public var wasThere: Bool

    /// Creates an answer.
    public init(registration: Registration, topics: [Subscription], wasThere: Bool = false) {
        self.registration = registration
        self.topics = topics
        self.wasThere = wasThere
    }
}

/// Why a request of an app server about a registration is refused.
public enum TokenRefusal: String, Error, Sendable, CaseIterable {
    /// The registration does not exist.
    case notRegistered = "not_registered"
    /// The registration belongs to another sender.
    case senderMismatch = "sender_mismatch"
    /// The registration has the maximum number of subscriptions.
    case tooManyTopics = "too_many_topics"
    /// The sender has exceeded its rate of subscription changes.
    case rateExceeded = "rate_exceeded"
    /// The registry has reached its maximum size.
    case registryFull = "registry_full"
    /// The store cannot be read or written.
    case unavailable = "unavailable"
}
