/// The APNs device token of an app, as registrations store it: `s_` (sandbox) or `p_` (production), then lower-case hexadecimal
/// digits (apns 3.1).
public enum AppleToken {
    private static let sandboxMark = "s_"
    private static let productionMark = "p_"

    /// Returns the digits in lower case, or `nil` if the text is not hexadecimal. Apple asks not to rely on a length.
    public static func digits(_ text: Substring) -> [UInt8]? {
        let digits = Array(text.lowercased().utf8)
        guard !digits.isEmpty, digits.count <= Limits.Registration.appleTokenDigits, digits.count % 2 == 0,
            digits.allSatisfy({ Hex.value(of: $0) != nil })
        else { return nil }
        return digits
    }

    /// Returns the stored form of a token.
    public static func token(digits: [UInt8], isSandbox: Bool) -> [UInt8] {
        Array((isSandbox ? sandboxMark : productionMark).utf8) + digits
    }

    /// Returns the digits of a token in its stored form.
    public static func digits(ofToken token: [UInt8]) -> ArraySlice<UInt8> {
        token.dropFirst(sandboxMark.utf8.count)
    }

    /// Whether a token in its stored form belongs to the sandbox.
    public static func isSandbox(_ token: [UInt8]) -> Bool { token.starts(with: sandboxMark.utf8) }
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
