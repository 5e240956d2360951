/// The content of an access token of a service account, authenticated by its seal and checked against the accounts (http 9.1).
public struct AccessToken: Sendable, Equatable {
    /// The sender that owns the account.
    public var sender: SenderID
    /// The account among those of the sender, by `TokenSeal.mark(ofKeyID:)`.
    public var account: UInt64
    /// Expiry, in milliseconds since 1970.
    public var expiresAt: UnixMilliseconds

    public init(sender: SenderID, account: UInt64, expiresAt: UnixMilliseconds) {
        self.sender = sender
        self.account = account
        self.expiresAt = expiresAt
    }
}

extension TokenSeal {
    /// Prefix of access tokens of Google's services: clients display it, and scanners for leaked secrets recognise it.
    private static let accessPrefix: StaticString = "ya29."
    /// Sealed bytes: version, sender, account, expiry.
    private static let accessBytes = 1 + 8 + 8 + 8
    /// Distinct from the versions of all other tokens, so that none can be mistaken for another.
    private static let accessVersion: UInt8 = 3

    /// The number that identifies an account in its tokens: a keyed hash of its key's ID.
    public func mark(ofKeyID keyID: String) -> UInt64 { seal.hash(Array(keyID.utf8).raw) }

    /// Encodes an access token.
    public func text(of token: AccessToken) -> [UInt8] {
        var plain = [Self.accessVersion]
        for word in [token.sender.number, token.account, UInt64(bitPattern: token.expiresAt)] {
            withLittleEndian(word) { plain.append(contentsOf: $0) }
        }
        let tag = tag(plain.raw)
        for word in [tag.0, tag.1] { withLittleEndian(word) { plain.append(contentsOf: $0) } }
        var text = ByteBuffer()
        text.append(Self.accessPrefix)
        Base64.append(plain.raw, urlSafe: true, padded: false, to: &text)
        return text.copied()
    }

    /// Decodes the bytes of a token. Returns `nil` if the text is not canonical: Base64 is read in two alphabets, but each
    /// token has only one text.
    static func bytes(ofToken text: RawSpan) -> [UInt8]? {
        guard let bytes = Base64.bytes(text) else { return nil }
        var again = ByteBuffer()
        Base64.append(bytes.raw, urlSafe: true, padded: false, to: &again)
        return again.bytes.equals(text) ? bytes : nil
    }

    /// Decodes an access token. Returns `nil` if this server did not seal it. The caller checks the expiry.
    public func accessToken(_ text: borrowing RawSpan) -> AccessToken? {
        let start = Self.accessPrefix.utf8CodeUnitCount
        guard text.byteCount == start + ((Self.accessBytes + 16) * 4 + 2) / 3,
            text.extracting(0..<start).equals(Self.accessPrefix),
            let bytes = Self.bytes(ofToken: text.extracting(start..<text.byteCount))
        else { return nil }
        let plain = bytes.raw.extracting(0..<Self.accessBytes)
        let expected = tag(plain)
        let given = (bytes.raw.word(at: Self.accessBytes), bytes.raw.word(at: Self.accessBytes + 8))
        guard (expected.0 ^ given.0) | (expected.1 ^ given.1) == 0, plain.byte(at: 0) == Self.accessVersion
        else { return nil }
        return AccessToken(
            sender: SenderID(plain.word(at: 1)), account: plain.word(at: 9),
            expiresAt: Int64(bitPattern: plain.word(at: 17)))
    }
}
