/// What the tokens of a Firebase installation say (mcs-device 5.5). Their seal shows that they were made here; whether the
/// installation still is the one that they were made for, its record says.
public struct InstallationToken: Sendable, Equatable {
    /// What a token is for.
    public enum Purpose: UInt8, Sendable {
        /// Shown with requests; it ends.
        case access = 1
        /// Shown for a new access token; its digest stands in the record of the installation, and it ends with that.
        case refresh = 2
    }

    /// Characters of an installation id.
    public static let idLength = 22

    /// What it is for.
    public var purpose: Purpose
    /// The installation id: 22 characters of base64url.
    public var installation: [UInt8]
    /// The project that the app names in its id; nil: none.
    public var sender: SenderID?
    /// When it ends, milliseconds since 1970; `Int64.max`: never.
    public var expiresAt: UnixMilliseconds
    /// What it was sealed with besides: of a refresh token a number that nobody can foretell, of an access token the mark of the
    /// refresh token that it was granted for, with which it ends.
    public var mark: UInt64

    /// A token; all parts are the caller's.
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
    /// Bytes under the seal: version, purpose, installation, sender, end, and the mark.
    private static let plainBytes = 2 + InstallationToken.idLength + 8 + 8 + 8
    /// Not that of registration tokens, so that neither can be taken for the other; nor 2, which was that of tokens for any
    /// client that knew the id of an installation.
    private static let installationVersion: UInt8 = 4

    /// The text of an installation's token: base64url without padding.
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

    /// What a token of an installation says; nil if it was not sealed here. Whether its time is over is the caller's to see.
    public func installationToken(_ text: borrowing RawSpan) -> InstallationToken? {
        guard text.byteCount == (Self.plainBytes + 16) * 4 / 3 + 1,
            let octets = Self.octets(ofToken: copy text)
        else { return nil }
        let plain = octets.raw.extracting(0..<Self.plainBytes)
        let expected = tag(plain)
        let given = (octets.raw.word(at: Self.plainBytes), octets.raw.word(at: Self.plainBytes + 8))
        guard (expected.0 ^ given.0) | (expected.1 ^ given.1) == 0,
            plain.byte(at: 0) == Self.installationVersion,
            let purpose = InstallationToken.Purpose(rawValue: plain.byte(at: 1))
        else { return nil }
        let end = 2 + InstallationToken.idLength
        return InstallationToken(
            purpose: purpose, installation: Array(octets[2..<end]),
            sender: SenderID(recorded: plain.word(at: end)),
            expiresAt: Int64(bitPattern: plain.word(at: end + 8)),
            mark: plain.word(at: end + 16))
    }
}
