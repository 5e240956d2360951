public import Basics
public import Delivery

/// Functions of the host that service accounts need: look-up of senders, and a crypto library (http 9).
public struct AccountFunctions: Sendable {
    /// Returns the account with the key of this ID and the record of its sender, or `nil` if there is no usable one.
    public var account: @Sendable (_ keyID: String) -> (sender: SenderRecord, account: ServiceAccount)?
    /// Returns the record of a sender, or `nil` if there is none.
    public var record: @Sendable (SenderID) -> SenderRecord?
    /// Returns whether an RS256 signature over a text matches a public key in DER.
    public var verifies: @Sendable (_ signature: [UInt8], _ text: [UInt8], _ publicKey: [UInt8]) -> Bool

    public init(
        account: @escaping @Sendable (_ keyID: String) -> (sender: SenderRecord, account: ServiceAccount)?,
        record: @escaping @Sendable (SenderID) -> SenderRecord?,
        verifies: @escaping @Sendable (_ signature: [UInt8], _ text: [UInt8], _ publicKey: [UInt8]) -> Bool
    ) {
        self.account = account
        self.record = record
        self.verifies = verifies
    }

    /// Finds no account.
    public static let none = AccountFunctions(
        account: { _ in nil }, record: { _ in nil }, verifies: { _, _, _ in false })
}
