/// The APNs device token of an app with its environment (apns 3.1): the one parser of what apps, app servers and operators send, and
/// of what the store holds.
public struct AppleToken: Hashable, Sendable {
    /// The digits of a device token, or of the token of a Live Activity. They become part of the path of a request to Apple, so there
    /// is no other way to make them than from text that holds nothing else.
    public struct Digits: Hashable, Sendable {
        /// An even number of hexadecimal digits in lower case, at most `Limits.Registration.appleTokenDigits`.
        public let bytes: [UInt8]

        /// Parses digits. Returns `nil` if the text is not hexadecimal. Apple asks not to rely on a length.
        public init?(_ text: ArraySlice<UInt8>) {
            guard AppleToken.areDigits(text) else { return nil }
            bytes = text.map { (0x41...0x46).contains($0) ? $0 | 0x20 : $0 }
        }

        /// Makes digits from random or stored bytes.
        public init(of bytes: [UInt8]) {
            self.bytes = Array(Hex.text(Array(bytes.prefix(Limits.Registration.appleTokenDigits / 2))).utf8)
        }
    }

    private static let sandboxMark = "s_"
    private static let productionMark = "p_"
    /// What is expected where a token is invalid, for error texts.
    public static let expectation =
        "expected s_ (sandbox) or p_ (production), then an even number of hexadecimal digits, at most \(Limits.Registration.appleTokenDigits)"

    /// The digits.
    public let digits: Digits
    /// Whether it belongs to the sandbox, which apps run from Xcode use.
    public let isSandbox: Bool

    public init(_ digits: Digits, isSandbox: Bool) {
        self.digits = digits
        self.isSandbox = isSandbox
    }

    /// Parses `s_` (sandbox) or `p_` (production), then the digits. Returns `nil` for anything else.
    public init?(_ text: [UInt8]) {
        guard let rest = Self.unmarked(text), let digits = Digits(rest) else { return nil }
        self.init(digits, isSandbox: Self.isSandbox(text))
    }

    /// The stored form: the prefix of the environment, then the digits in lower case.
    public var stored: [UInt8] {
        Array((isSandbox ? Self.sandboxMark : Self.productionMark).utf8) + digits.bytes
    }

    /// Whether the text is a token with its environment; it is not copied.
    public static func isValid(_ text: [UInt8]) -> Bool { unmarked(text).map { areDigits($0) } ?? false }

    /// Returns what follows the prefix of a stored token: its digits, unless the row is from a release that did not check them.
    public static func shownDigits(ofStored token: [UInt8]) -> ArraySlice<UInt8> {
        unmarked(token) ?? token[...]
    }

    /// Whether a token in its stored form belongs to the sandbox.
    public static func isSandbox(_ token: [UInt8]) -> Bool { token.starts(with: sandboxMark.utf8) }

    private static func unmarked(_ text: [UInt8]) -> ArraySlice<UInt8>? {
        guard isSandbox(text) || text.starts(with: productionMark.utf8) else { return nil }
        return text.dropFirst(sandboxMark.utf8.count)
    }

    private static func areDigits(_ text: ArraySlice<UInt8>) -> Bool {
        !text.isEmpty && text.count <= Limits.Registration.appleTokenDigits && text.count % 2 == 0
            && text.allSatisfy { Hex.value(of: $0) != nil }
    }
}

extension TokenSeal {
    private static let indexKeyVersion: UInt8 = 4
    private static let deviceVersion: UInt8 = 5

    /// The key under which the registrations of an app are indexed by its APNs token. It has the length of an installation ID,
    /// and cannot be made without the secret, so that it never collides with one.
    public func indexKey(ofBundle bundle: [UInt8], token: [UInt8]) -> [UInt8] {
        var plain = [Self.indexKeyVersion]
        withLittleEndian(UInt64(bundle.count)) { plain.append(contentsOf: $0) }
        let tag = tag((plain + bundle + token).raw)
        var bytes: [UInt8] = []
        withLittleEndian(tag.0) { bytes.append(contentsOf: $0) }
        withLittleEndian(tag.1) { bytes.append(contentsOf: $0) }
        return Array(Base64.text(bytes, urlSafe: true, padded: false).utf8)
    }

    /// A number for the sender's device under such a key, spread evenly over 64 bits. It is the same each time, so that two
    /// concurrent imports create one device.
    public func deviceNumber(ofIndexKey key: [UInt8], sender: SenderID) -> UInt64 {
        var plain = [Self.deviceVersion]
        withLittleEndian(sender.number) { plain.append(contentsOf: $0) }
        return tag((plain + key).raw).0
    }
}
