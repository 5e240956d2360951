/// The content of a token of a Firebase installation (mcs-device 5.5). The seal proves that this server made it; the record of
/// the installation decides whether the token is still valid.
public struct InstallationToken: Sendable, Equatable {
    /// What a token is for.
    public enum Purpose: UInt8, Sendable {
        /// Sent with requests; it expires.
        case access = 1
        /// Sent to get a new access token; the record of the installation contains its digest, and both are removed together.
        case refresh = 2
    }

    /// Characters of an installation ID.
    public static let idLength = 22

    /// Which of its two uses the token is for.
    public var purpose: Purpose
    /// The installation ID: 22 characters of base64url.
    public var installation: [UInt8]
    /// The project in the app ID, if any.
    public var sender: SenderID?
    /// Expiry in milliseconds since 1970; `Int64.max` if the token does not expire.
    public var expiresAt: UnixMilliseconds
    /// An additional sealed number: for a refresh token a random one, for an access token that of the refresh token that it was
    /// granted for, with which it becomes invalid.
    public var mark: UInt64

    public init(
        purpose: Purpose, installation: [UInt8], sender: SenderID?, expiresAt: UnixMilliseconds,
        mark: UInt64
    ) {
        precondition(installation.count == Self.idLength, "an installation id has 22 characters")
        self.purpose = purpose
        self.installation = installation
        self.sender = sender
        self.expiresAt = expiresAt
        self.mark = mark
    }
}

extension TokenSeal {
    /// Sealed bytes: version, purpose, installation, sender, expiry, and the mark.
    private static let plainBytes = 2 + InstallationToken.idLength + 8 + 8 + 8
    /// Distinct from the version of registration tokens, so that neither can be mistaken for the other; and not 2, the version
    /// of former tokens, which any client with an installation's ID could get.
    private static let installationVersion: UInt8 = 4

    /// Encodes a token: base64url without padding.
    public func text(of token: InstallationToken) -> [UInt8] {
        var plain = [Self.installationVersion, token.purpose.rawValue] + token.installation
        for word in [token.sender?.number ?? 0, UInt64(bitPattern: token.expiresAt), token.mark] {
            for shift in stride(from: 0 as UInt64, to: 64, by: 8) {
                plain.append(UInt8(truncatingIfNeeded: word >> shift))
            }
        }
        let tag = tag(plain.raw)
        for word in [tag.0, tag.1] {
            for shift in stride(from: 0 as UInt64, to: 64, by: 8) {
                plain.append(UInt8(truncatingIfNeeded: word >> shift))
            }
        }
        return Array(Base64.text(plain, urlSafe: true, padded: false).utf8)
    }

    /// Decodes an installation token. Returns `nil` if this server did not seal it. The caller checks the expiry.
    public func installationToken(_ text: borrowing RawSpan) -> InstallationToken? {
        guard text.byteCount == (Self.plainBytes + 16) * 4 / 3 + 1,
            let bytes = Self.bytes(ofToken: copy text)
        else { return nil }
        let plain = bytes.raw.extracting(0..<Self.plainBytes)
        let expected = tag(plain)
        let given = (bytes.raw.word(at: Self.plainBytes), bytes.raw.word(at: Self.plainBytes + 8))
        guard (expected.0 ^ given.0) | (expected.1 ^ given.1) == 0,
            plain.byte(at: 0) == Self.installationVersion,
            let purpose = InstallationToken.Purpose(rawValue: plain.byte(at: 1))
        else { return nil }
        let end = 2 + InstallationToken.idLength
        return InstallationToken(
            purpose: purpose, installation: Array(bytes[2..<end]),
            sender: SenderID(recorded: plain.word(at: end)),
            expiresAt: Int64(bitPattern: plain.word(at: end + 8)),
            mark: plain.word(at: end + 16))
    }
}
