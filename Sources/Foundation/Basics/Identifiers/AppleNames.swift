/// Names that Apple gives to apps, keys and teams.
public enum AppleNames {
    /// Whether a text can be the bundle ID of an app or a topic: letters, digits, dots, dashes and underscores.
    public static func isBundle(_ text: String) -> Bool {
        Limits.APNsCredentials.bundleBytes.contains(text.utf8.count)
            && text.utf8.first != UInt8(ascii: ".")
            && text.utf8.allSatisfy { byte in
                isDigitOrCapital(byte) || (0x61...0x7A).contains(byte) || byte == UInt8(ascii: ".")
                    || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
            }
    }

    /// Whether a text can be a key ID or a team ID: ten capital letters and digits.
    public static func isIdentifier(_ text: some StringProtocol) -> Bool {
        text.utf8.count == Limits.APNsCredentials.identifierBytes && text.utf8.allSatisfy(isDigitOrCapital)
    }

    private static func isDigitOrCapital(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte)
    }
}
