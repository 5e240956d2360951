extension TokenSeal {
    /// What each token has before its sealed digits; a colon before it may be escaped.
    private static let label = Array("\(marker)".utf8.dropFirst())
    /// Digits after the label from which on they count as a token: fewer are useless.
    private static let cutDigits = 32

    /// Returns a text with each registration token cut before its sealed digits, also one of another server: enough to recognise it, too
    /// little to use it.
    public static func cut(in text: String) -> String {
        let bytes = Array(text.utf8)
        guard bytes.count >= label.count + cutDigits else { return text }
        var kept: [UInt8] = []
        var at = 0
        while at < bytes.count {
            guard bytes[at] == label[0], bytes[at...].starts(with: label) else {
                kept.append(bytes[at])
                at += 1
                continue
            }
            let start = at + label.count
            let end = bytes[start...].firstIndex { !isDigit($0) } ?? bytes.count
            kept += bytes[at..<start]
            kept += end - start >= cutDigits ? Array("…".utf8)[...] : bytes[start..<end]
            at = end
        }
        return String(decoding: kept, as: UTF8.self)
    }
}
