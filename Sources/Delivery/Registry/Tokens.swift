public import Basics

/// What an app server wants of one registration, with its sender's authority in place of the device's credentials
/// (http 7, 8.7).
public struct TokenRequest: Sendable {
    /// What is wanted.
    public enum Action: Sendable, Equatable {
        /// What is known of it, and its topics of the sender.
        case describe
        /// Subscribe it to a topic of the sender.
        case subscribe(TopicName)
        /// End that.
        case unsubscribe(TopicName)
    }

    /// Where the answer goes.
    public var origin: Origin
    /// The registration.
    public var name: RegistrationName
    /// Whose app server asks; the registration must allow it.
    public var sender: SenderID
    /// What is wanted.
    public var action: Action

    /// A request; all parts are the caller's.
    public init(origin: Origin, name: RegistrationName, sender: SenderID, action: Action) {
        self.origin = origin
        self.name = name
        self.sender = sender
        self.action = action
    }
}

/// What an app server is told of a registration.
public struct TokenReport: Sendable {
    /// The registration.
    public var registration: Registration
    /// Its topics of the sender that asked, in no order; of a change the one that was made, found or ended, if there was one.
    public var topics: [Subscription]
    /// Whether the subscription that was to be made or ended was there before.
    public var wasThere: Bool

    /// A report; all parts are the caller's.
    public init(registration: Registration, topics: [Subscription], wasThere: Bool = false) {
        self.registration = registration
        self.topics = topics
        self.wasThere = wasThere
    }
}

/// Why an app server may not address a registration, or has no answer.
public enum TokenRefusal: String, Error, Sendable, CaseIterable {
    /// It is not there, or not any more.
    case notRegistered = "not_registered"
    /// It is one of another sender.
    case senderMismatch = "sender_mismatch"
    /// It has all the topics that it may have.
    case tooManyTopics = "too_many_topics"
    /// The sender changes too many subscriptions.
    case rateExceeded = "rate_exceeded"
    /// The registry is as large as it may become.
    case registryFull = "registry_full"
    /// The store cannot tell, or cannot take it.
    case unavailable = "unavailable"
}
