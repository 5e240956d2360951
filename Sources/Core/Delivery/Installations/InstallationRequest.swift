public import Basics

/// A request that names an installation instead of a device: from an app that presents an installation token
/// (mcs-device 5.4, 5.5), or from an app server (http 8.7).
public struct InstallationRequest: Sendable {
    /// The requested action.
    public enum Action: Sendable {
        /// Subscribe the registration of the installation.
        case subscribe(TopicName)
        /// End the subscription.
        case unsubscribe(TopicName)
        /// Perform an app server's action on the installation's registration with its sender.
        case address(TokenRequest.Action)
        /// Send a message to the installation's registration with the sender (http 8.2).
        indirect case send(MessageContent)
        /// Remove all registrations of the installation.
        case remove
        /// Continue with a request of the app, which has presented an installation token.
        indirect case vouch(for: Event)
        /// Continue with a request of a device whose app names the installation without a token, if no other device has used it.
        indirect case claim(for: Event, by: DeviceID)
        /// Make the installation (mcs-device 5.5).
        indirect case create(InstallationOffer)
        /// Continue making it: its device has verified the check-in pair.
        indirect case vouched(InstallationOffer, isProved: Bool)
        /// Grant an access token for the refresh token with this digest.
        case refresh(SecretDigest)
        /// End the installation and its registrations, for the refresh token with this digest.
        case end(SecretDigest)
        /// Revoke its tokens on behalf of an operator.
        case revoke
        /// Take over the record of an export on behalf of an operator.
        indirect case imported(InstallationRecord, replaces: Bool)
        /// Record the app's APNs device token.
        case apple(AppleRegistration)

        /// Whether it changes the record of the installation.
        var isChange: Bool {
            switch self {
            case .create, .refresh, .end, .revoke, .imported: true
            case .subscribe, .unsubscribe, .address, .send, .remove, .vouch, .claim, .vouched, .apple: false
            }
        }
    }

    /// Where the answer is sent.
    public var requester: Requester
    /// The installation id.
    public var installation: [UInt8]
    /// The account that it is for. `nil` if the request names none.
    public var sender: SenderID?
    /// The requested action.
    public var action: Action
    /// The mark of the access token that the app presents. `nil` if the request is not from the app, or `action` has another proof.
    public var mark: UInt64?
    /// Whether the store has a record of the installation, so that only registrations made with its token belong to it.
    public var isBound = false

    /// Creates a request.
    public init(
        requester: Requester, installation: [UInt8], sender: SenderID?, action: Action, mark: UInt64? = nil
    ) {
        self.requester = requester
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
