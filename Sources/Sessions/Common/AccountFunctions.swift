public import Basics
public import Delivery

/// What service accounts need from the host: the senders as they are now, and a crypto library (http 9).
public struct AccountFunctions: Sendable {
    /// The account with a key of this id, and the record of its sender; nil where there is none that may be used.
    public var account: @Sendable (_ keyID: String) -> (sender: SenderRecord, account: ServiceAccount)?
    /// The record of a sender; nil where there is none.
    public var record: @Sendable (SenderID) -> SenderRecord?
    /// Whether a signature is that of a public key, as DER, over a text (RS256).
    public var verifies: @Sendable (_ signature: [UInt8], _ text: [UInt8], _ publicKey: [UInt8]) -> Bool

    /// Functions of the caller's.
    public init(
        account: @escaping @Sendable (_ keyID: String) -> (sender: SenderRecord, account: ServiceAccount)?,
        record: @escaping @Sendable (SenderID) -> SenderRecord?,
        verifies: @escaping @Sendable (_ signature: [UInt8], _ text: [UInt8], _ publicKey: [UInt8]) -> Bool
    ) {
        self.account = account
        self.record = record
        self.verifies = verifies
    }

    /// Without senders there are no accounts.
    public static let none = AccountFunctions(
        account: { _ in nil }, record: { _ in nil }, verifies: { _, _, _ in false })
}
