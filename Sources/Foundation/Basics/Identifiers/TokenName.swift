/// The ID that a registration token begins with: the Firebase installation ID or the older instance ID that the app registered with
/// (mcs-device 5.2, 5.5).
///
/// SDKs of iOS take a token that does not begin with the ID of their installation for stale, and register again. The ID is no
/// secret, and proves nothing: app servers get it with the token.
public struct TokenPrefix: Hashable, Sendable {
    /// Characters of an instance ID: 8 bytes in base64url.
    static let instanceLength = 11

    /// The ID: 11 or 22 characters of base64url, the first of which is a letter from c to f.
    public let bytes: [UInt8]

    /// Returns `nil` unless the ID has the form of an installation ID or an instance ID: a token with any other beginning could look
    /// like an option (`-`), or have two colons.
    public init?(_ id: [UInt8]) {
        guard id.count == InstallationToken.idLength || id.count == Self.instanceLength, let first = id.first,
            (UInt8(ascii: "c")...UInt8(ascii: "f")).contains(first),
            id.allSatisfy({ byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"): true
                default: false
                }
            })
        else { return nil }
        bytes = id
    }

    private init(unchecked bytes: [UInt8]) { self.bytes = bytes }

    /// Returns a new instance ID, of 60 random bits. `random` returns random bytes.
    public static func random(_ random: (_ count: Int) -> [UInt8]) -> TokenPrefix {
        var id = random(8)
        // As at Google: the first four bits are 0111, so that the first character is a letter from c to f.
        id[0] = 0x70 | id[0] & 0x0F
        return TokenPrefix(unchecked: Array(Base64.text(id, urlSafe: true, padded: false).utf8))
    }

    /// The ID as text.
    public var text: String { String(decoding: bytes, as: UTF8.self) }
}

/// A registration, and the beginning of its token: together they determine the text of the token.
///
/// The prefix is no part of the identity: tokens with and without it name the same registration.
public struct TokenName: Hashable, Sendable {
    /// The registration.
    public var registration: RegistrationName
    /// What the token begins with; `nil` for a token that begins with characters of its seal.
    public var prefix: TokenPrefix?

    public init(_ registration: RegistrationName, prefix: TokenPrefix? = nil) {
        self.registration = registration
        self.prefix = prefix
    }
}
