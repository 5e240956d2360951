public import Basics

/// What entitles to a submission.
public enum Entitlement: Sendable, Equatable {
    /// The account that it was submitted under, which the registration must name.
    case account(SenderID)
    /// The public key that a web push is signed with: the registration must be an endpoint for it (RFC 8292, 4).
    case webPush(key: [UInt8])

    /// The account; nil for a web push.
    public var sender: SenderID? { if case .account(let sender) = self { sender } else { nil } }
}

extension Registration {
    /// Throws where a submission may not address it: `senderMismatch`, or `invalidToken` where it is none of the kind.
    func checkEntitlement(of submission: borrowing Submission) throws(Refusal) {
        switch submission.entitlement {
        case .account(let sender):
            guard allows(sender) else { throw .senderMismatch }
        case .webPush(let key):
            // What the server encrypts for is no endpoint: what came encrypted could not be read.
            guard web == nil else { throw .invalidToken }
            guard Base64.bytes(senderText.raw) == key else { throw .senderMismatch }
        }
    }
}
