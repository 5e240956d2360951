/// What the access token of a service account says: it is checked by its seal and against the accounts there are (http 9.1).
public struct AccessToken: Sendable, Equatable {
    /// Whose account it was granted to.
    public var sender: SenderID
    /// Which of the sender's accounts, by `TokenSeal.mark(ofKeyID:)`.
    public var account: UInt64
    /// When it ends, milliseconds since 1970.
    public var expiresAt: UnixMilliseconds

    /// A token; all parts are the caller's.
    public init(sender: SenderID, account: UInt64, expiresAt: UnixMilliseconds) {
        self.sender = sender
        self.account = account
        self.expiresAt = expiresAt
    }
}

extension TokenSeal {
    /// How access tokens of Google's services begin: clients show it, and filters for leaked secrets know it.
    private static let accessPrefix: StaticString = "ya29."
    /// Bytes under the seal: version, sender, account, end.
    private static let accessBytes = 1 + 8 + 8 + 8
    /// That of no other token, so that none can be taken for another.
    private static let accessVersion: UInt8 = 3

    /// What stands for an account in its tokens: a keyed hash of its key's id.
    public func mark(ofKeyID keyID: String) -> UInt64 { seal.hash(Array(keyID.utf8).raw) }

    /// The text of an access token.
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

    /// The bytes of a token; nil where it is not written as tokens are: Base64 is read in two alphabets, and one token has one
    /// text.
    static func octets(ofToken text: RawSpan) -> [UInt8]? {
        guard let octets = Base64.bytes(text) else { return nil }
        var again = ByteBuffer()
        Base64.append(octets.raw, urlSafe: true, padded: false, to: &again)
        return again.bytes.equals(text) ? octets : nil
    }

    /// What an access token says; nil if it was not sealed here. Whether its time is over is the caller's to see.
    public func accessToken(_ text: borrowing RawSpan) -> AccessToken? {
        let start = Self.accessPrefix.utf8CodeUnitCount
        guard text.byteCount == start + ((Self.accessBytes + 16) * 4 + 2) / 3,
            text.extracting(0..<start).equals(Self.accessPrefix),
            let octets = Self.octets(ofToken: text.extracting(start..<text.byteCount))
        else { return nil }
        let plain = octets.raw.extracting(0..<Self.accessBytes)
        let expected = tag(plain)
        let given = (octets.raw.word(at: Self.accessBytes), octets.raw.word(at: Self.accessBytes + 8))
        guard (expected.0 ^ given.0) | (expected.1 ^ given.1) == 0, plain.byte(at: 0) == Self.accessVersion
        else { return nil }
        return AccessToken(
            sender: SenderID(plain.word(at: 1)), account: plain.word(at: 9),
            expiresAt: Int64(bitPattern: plain.word(at: 17)))
    }
}
