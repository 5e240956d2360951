public import Basics

/// A request that names an installation and no device: of an app that shows a token of it (mcs-device 5.4, 5.5), or of an
/// app server (http 8.7).
public struct InstallationRequest: Sendable {
    /// What is wanted.
    public enum Action: Sendable {
        /// Subscribe the registration of the installation.
        case subscribe(TopicName)
        /// End the subscription.
        case unsubscribe(TopicName)
        /// What an app server of the sender wants of the installation's registration with it.
        case address(TokenRequest.Action)
        /// Send this to the installation's registration with the sender, whose name is set then (http 8.2).
        indirect case send(MessageContent)
        /// Remove all registrations of the installation.
        case remove
        /// Go on with a request of the app, which has shown a token of the installation.
        indirect case vouch(for: Event)
        /// Go on with a request of a device whose app names the installation without any token of it: only where nobody else has.
        indirect case claim(for: Event, by: DeviceID)
        /// Make the installation (mcs-device 5.5).
        indirect case create(InstallationOffer)
        /// Go on making it: its device has looked at the check-in pair that was shown.
        indirect case vouched(InstallationOffer, isProved: Bool)
        /// Grant an access token for the refresh token of this digest.
        case refresh(SecretDigest)
        /// End the installation, with what it has registered, for the refresh token of this digest.
        case end(SecretDigest)
        /// End its tokens, in the name of an operator.
        case revoke
        /// Note where Apple reaches the app.
        case apple(AppleAddress)

        /// Whether it changes the installation itself.
        var isChange: Bool {
            switch self {
            case .create, .refresh, .end, .revoke: true
            case .subscribe, .unsubscribe, .address, .send, .remove, .vouch, .claim, .vouched, .apple: false
            }
        }
    }

    /// Where the answer goes.
    public var origin: Origin
    /// The installation id.
    public var installation: [UInt8]
    /// The account that it is for; nil where the request names none.
    public var sender: SenderID?
    /// What is wanted.
    public var action: Action
    /// The mark of the access token that the app shows; nil where it is not the app that asks, or another proof is in `action`.
    public var mark: UInt64?
    /// Whether the installation has a record, so that only what was registered with a token of it is its own; told by the store.
    public var isBound = false

    /// A request; all parts are the caller's.
    public init(
        origin: Origin, installation: [UInt8], sender: SenderID?, action: Action, mark: UInt64? = nil
    ) {
        self.origin = origin
        self.installation = installation
        self.sender = sender
        self.action = action
        self.mark = mark
    }
}

extension InstallationRequest {
    /// Whether the account that the request is for may send to a registration.
    func mayUse(_ registration: Registration) -> Bool { sender.map { registration.allows($0) } ?? false }
}
