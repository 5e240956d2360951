/// The token that Apple gave an app on a device, as registrations hold it: `s_` (sandbox) or `p_` (production), then
/// lower-case hexadecimal digits (apns 3.1).
public enum AppleToken {
    /// Its digits in lower case; nil for what is none. Apple asks not to count on a length.
    public static func digits(_ text: Substring) -> [UInt8]? {
        let digits = Array(text.lowercased().utf8)
        guard !digits.isEmpty, digits.count <= Limits.Registration.appleTokenDigits, digits.count % 2 == 0,
            digits.allSatisfy({ Hex.value(of: $0) != nil })
        else { return nil }
        return digits
    }

    /// A token of an environment.
    public static func token(digits: [UInt8], isSandbox: Bool) -> [UInt8] {
        Array((isSandbox ? "s_" : "p_").utf8) + digits
    }
}

extension TokenSeal {
    private static let placeVersion: UInt8 = 4
    private static let deviceVersion: UInt8 = 5

    /// Under what the registrations of an app are found by what Apple gave it: it has the length of an installation's id, and
    /// nobody without the secret can make one, so that no installation takes it for its id.
    public func place(ofBundle bundle: [UInt8], token: [UInt8]) -> [UInt8] {
        var plain = [Self.placeVersion]
        withLittleEndian(UInt64(bundle.count)) { plain.append(contentsOf: $0) }
        let tag = tag((plain + bundle + token).raw)
        var octets: [UInt8] = []
        withLittleEndian(tag.0) { octets.append(contentsOf: $0) }
        withLittleEndian(tag.1) { octets.append(contentsOf: $0) }
        return Array(Base64.text(octets, urlSafe: true, padded: false).utf8)
    }

    /// A number for the device of a sender at such a place, spread evenly over 64 bits: the same each time, so that two who
    /// make it at once make one.
    public func deviceNumber(ofPlace place: [UInt8], sender: SenderID) -> UInt64 {
        var plain = [Self.deviceVersion]
        withLittleEndian(sender.number) { plain.append(contentsOf: $0) }
        return tag((plain + place).raw).0
    }
}
