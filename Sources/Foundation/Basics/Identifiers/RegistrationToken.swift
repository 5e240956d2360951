/// The content of a verified registration token: a registration of a device.
public struct RegistrationName: Hashable, Sendable, Comparable {
    public var device: DeviceID
    /// The number of the registration within the device.
    public var number: RegistrationNumber

    public init(device: DeviceID, number: RegistrationNumber) {
        self.device = device
        self.number = number
    }

    public static func < (a: RegistrationName, b: RegistrationName) -> Bool {
        (a.device, a.number) < (b.device, b.number)
    }
}

/// Makes and verifies registration tokens: 11 or 22 characters, `:APA91b`, 134 characters of base64url.
///
/// Client libraries and app servers have relied on this shape for years (mcs-device 5.2). The last part contains 100 bytes: a
/// 16-byte tag, then 84 masked bytes that start with device and registration number. The tag is SipHash-2-4-128 over those 84
/// bytes, so a forged, truncated or foreign token is refused without access to the store, and a valid token yields its device
/// without a look-up. The first part is derived from the tag, or it is the ID that the app registered with (`TokenPrefix`); then the
/// tag also covers the ID, so that a token with another beginning is refused.
public struct TokenSeal: Sendable {
    /// Characters of a token that begins with an instance ID, or with characters of its seal.
    public static let length = 152
    /// Characters of a token that begins with an installation ID: the longest form.
    public static let longestLength = length - headLength + InstallationToken.idLength

    private static let headLength = TokenPrefix.instanceLength
    static let marker: StaticString = ":APA91b"
    private static let sealedBytes = 100
    /// A token whose beginning is derived from its tag.
    private static let version: UInt8 = 1
    /// A token that begins with an ID, which its tag covers.
    private static let prefixedVersion: UInt8 = 6

    let seal: SipHash
    private let mask: SipHash

    /// Derives its keys from 32 secret bytes.
    public init(secret: [UInt8]) {
        precondition(secret.count == 32, "a token secret has 32 bytes")
        let span = secret.raw
        seal = SipHash(key: (span.word(at: 0), span.word(at: 8)))
        mask = SipHash(key: (span.word(at: 16), span.word(at: 24)))
    }

    /// The 32 secret bytes that its keys were derived from.
    public var secret: [UInt8] {
        var secret: [UInt8] = []
        for word in [seal.key.0, seal.key.1, mask.key.0, mask.key.1] {
            withLittleEndian(word) { secret.append(contentsOf: $0) }
        }
        return secret
    }

    /// Returns the token of a registration that begins with no ID; always the same for the same name and secret.
    public func token(for name: RegistrationName) -> [UInt8] { token(for: TokenName(name)) }

    /// Returns the token of a registration; always the same for the same name, prefix and secret.
    public func token(for name: TokenName) -> [UInt8] {
        var plain = [name.prefix == nil ? Self.version : Self.prefixedVersion]
        withLittleEndian(name.registration.device.number) { plain.append(contentsOf: $0) }
        withLittleEndian(name.registration.number.number) { plain.append(contentsOf: $0) }
        var filler = mask.hash128(plain.raw)
        while plain.count < Self.sealedBytes - 16 {
            withLittleEndian(filler.0) { plain.append(contentsOf: $0.prefix(84 - plain.count)) }
            filler = (mask.hash(filler.0 ^ filler.1), filler.0 &+ 1)
        }
        let tag = seal.hash128((plain + (name.prefix?.bytes ?? [])).raw)
        var sealed: [UInt8] = []
        withLittleEndian(tag.0) { sealed.append(contentsOf: $0) }
        withLittleEndian(tag.1) { sealed.append(contentsOf: $0) }
        let stream = keystream(tag)
        for at in 0..<17 { sealed.append(plain[at] ^ stream[at]) }
        sealed.append(contentsOf: plain[17...])
        var text = ByteBuffer()
        if let prefix = name.prefix {
            text.append(prefix.bytes)
        } else {
            var start: [UInt8] = []
            withLittleEndian(head(of: tag.0)) { start.append(contentsOf: $0) }
            Base64.append(start.raw, urlSafe: true, padded: false, to: &text)
        }
        text.append(Self.marker)
        Base64.append(sealed.raw, urlSafe: true, padded: false, to: &text)
        return text.copied()
    }

    /// Returns the tag of other bytes than those of a registration token; their first byte must be distinct.
    func tag(_ plain: borrowing RawSpan) -> (UInt64, UInt64) { seal.hash128(plain) }

    /// The eight bytes before the marker. The first four bits are 0111, so that a token starts with a letter from c to f, as
    /// installation IDs do, and never looks like an option (`-`).
    private func head(of tag: UInt64) -> UInt64 { seal.hash(tag) & ~0xf0 | 0x70 }

    /// Returns the registration of a token, or `nil` if the token was not sealed with this secret. Does not allocate.
    public func name(of token: borrowing RawSpan) -> RegistrationName? {
        let headLength = token.byteCount == Self.longestLength ? InstallationToken.idLength : Self.headLength
        let start = headLength + Self.marker.utf8CodeUnitCount
        // The sealed part, then the head: its characters if the tag covers them, else the bytes that are derived from the tag, so that
        // each token has only one text.
        var bytes = InlineArray<122, UInt8>(repeating: 0)
        guard token.byteCount == Self.length || token.byteCount == Self.longestLength,
            token.extracting(headLength..<start).equals(Self.marker),
            Self.decode(token.extracting(start..<token.byteCount), into: &bytes, at: 0)
        else { return nil }
        let tag = unsafe (bytes.span.bytes.word(at: 0), bytes.span.bytes.word(at: 8))
        for block in 0..<3 {
            let word = mask.hash(tag.0 ^ (tag.1 &+ UInt64(block)))
            for at in 0..<(block < 2 ? 8 : 1) {
                bytes[16 + 8 * block + at] ^= UInt8(truncatingIfNeeded: word >> UInt64(8 * at))
            }
        }
        var end = Self.sealedBytes
        switch bytes[16] {
        case Self.version:
            guard headLength == Self.headLength,
                Self.decode(token.extracting(0..<headLength), into: &bytes, at: Self.sealedBytes),
                unsafe bytes.span.bytes.word(at: Self.sealedBytes) == head(of: tag.0)
            else { return nil }
        case Self.prefixedVersion:
            for at in 0..<headLength { bytes[Self.sealedBytes &+ at] = token.byte(at: at) }
            end += headLength
        default: return nil
        }
        let opened = unsafe bytes.span.bytes
        let expected = seal.hash128(opened.extracting(16..<end))
        guard (expected.0 ^ tag.0) | (expected.1 ^ tag.1) == 0 else { return nil }
        return RegistrationName(
            device: DeviceID(opened.word(at: 17)), number: RegistrationNumber(opened.word(at: 25)))
    }

    /// Returns the registration of a token, and what the token begins with. `nil` if it was not sealed with this secret.
    public func tokenName(of token: [UInt8]) -> TokenName? {
        guard let name = name(of: token.raw) else { return nil }
        // A token of the other kind may have a beginning of the same form.
        guard token != self.token(for: name) else { return TokenName(name) }
        return TokenName(name, prefix: TokenPrefix(Array(token.prefix { $0 != UInt8(ascii: ":") })))
    }

    /// The value of each ASCII character as a base64url digit, plus 32; `~` for other characters. A literal needs no lock.
    private static let digits: StaticString = """
        ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~^~~TUVWXYZ[\\]~~~~~~\
        ~ !"#$%&'()*+,-./0123456789~~~~_~:;<=>?@ABCDEFGHIJKLMNOPQRS~~~~~
        """

    /// Decodes unpadded base64url from an offset. Returns `false` unless the text is canonical.
    private static func decode(
        _ text: RawSpan, into bytes: inout InlineArray<122, UInt8>, at offset: Int
    ) -> Bool {
        var place = offset
        var at = 0
        var unknown: UInt32 = 0
        // Whole groups first: four digits make three bytes, without a branch.
        while text.byteCount &- at >= 8 {
            let four = unsafe text.unsafeLoadUnaligned(fromUncheckedByteOffset: at, as: UInt32.self)
            let (a, b) = (digit(four), digit(four >> 8))
            let (c, d) = (digit(four >> 16), digit(four >> 24))
            unknown |= a | b | c | d | four & 0x8080_8080
            let word = a << 18 | b << 12 | c << 6 | d
            bytes[place] = UInt8(truncatingIfNeeded: word >> 16)
            bytes[place &+ 1] = UInt8(truncatingIfNeeded: word >> 8)
            bytes[place &+ 2] = UInt8(truncatingIfNeeded: word)
            at &+= 4
            place &+= 3
        }
        var word: UInt32 = 0
        let groups = at
        while at < text.byteCount {
            let byte = UInt32(text.byte(at: at))
            unknown |= digit(byte) | byte & 0x80
            word = word << 6 | digit(byte)
            at &+= 1
            guard (at &- groups) & 3 != 1 else { continue }
            // The second, third and fourth digit of a group each complete a byte, with 4, 2 and 0 bits to spare.
            bytes[place] = UInt8(truncatingIfNeeded: word >> UInt32(6 &- 2 &* ((at &- groups &- 1) & 3)))
            place &+= 1
        }
        let spare = UInt32(truncatingIfNeeded: text.byteCount &* 6 & 7)
        return unknown < 64 && word & (1 << spare &- 1) == 0
    }

    /// The value of the digit in the low seven bits; 64 or more if it is not a digit.
    @inline(__always)
    private static func digit(_ byte: UInt32) -> UInt32 {
        unsafe UInt32(digits.utf8Start[Int(byte & 0x7F)] &- 32)
    }

    /// Whether a byte is a digit of base64url.
    static func isDigit(_ byte: UInt8) -> Bool { byte < 0x80 && digit(UInt32(byte)) < 64 }

    func keystream(_ tag: (UInt64, UInt64)) -> [UInt8] {
        var stream: [UInt8] = []
        for block in 0..<3 as Range<UInt64> {
            withLittleEndian(mask.hash(tag.0 ^ (tag.1 &+ block))) { stream.append(contentsOf: $0) }
        }
        return stream
    }

    func withLittleEndian(_ value: UInt64, _ body: ([UInt8]) -> Void) {
        body((0..<8).map { UInt8(truncatingIfNeeded: value >> (8 * UInt64($0))) })
    }
}
