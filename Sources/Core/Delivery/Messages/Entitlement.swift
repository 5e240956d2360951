public import Basics

/// The credential that entitles an app server to make a submission.
public enum Entitlement: Sendable, Equatable {
    /// The sender account of the app server; the registration must name this account.
    case account(SenderID)
    /// The public key that a web push is signed with; the registration must be an endpoint for this key (RFC 8292, 4).
    case webPush(key: [UInt8])
    /// The account whose server key a web push came with; the registration must be an endpoint of this account. So push libraries
    /// sent before VAPID.
    case webPushAccount(SenderID)

    /// The sender account. `nil` for a web push that is signed with a key.
    public var sender: SenderID? {
        switch self {
        case .account(let sender), .webPushAccount(let sender): sender
        case .webPush: nil
        }
    }

    /// Whether the content is encrypted for one subscription, so that no other registration of the app can read it.
    var isWebPush: Bool { if case .account = self { false } else { true } }
}

extension Registration {
    /// Checks that a submission may address the registration.
    ///
    /// Throws `senderMismatch` if the credential does not match, `invalidToken` if the registration is not of the addressed kind.
    func checkEntitlement(of submission: borrowing Submission) throws(Refusal) {
        // A token that the server encrypts for is not an endpoint: the app cannot decrypt what others have encrypted.
        guard web == nil || !submission.entitlement.isWebPush else { throw .invalidToken }
        switch submission.entitlement {
        case .account(let sender), .webPushAccount(let sender):
            guard allows(sender) else { throw .senderMismatch }
        case .webPush(let key):
            guard Base64.bytes(senderText.raw) == key else { throw .senderMismatch }
        }
    }
}
