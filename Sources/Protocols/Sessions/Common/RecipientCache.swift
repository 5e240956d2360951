import Basics

/// A cache of the registration tokens that messages were recently sent to over a connection.
///
/// To verify the seal of a token takes as long as to read the rest of a message, and many messages go to devices that got another one
/// shortly before. A token names the same registration for ever; whether that still exists is decided by the core.
struct RecipientCache {
    /// A token and the registration that it names.
    struct Entry {
        var token: [UInt8]
        var name: RegistrationName
    }

    /// Indexed by a hash of bytes of the seal; allocated with the first token.
    private var entries: [Entry?] = []

    /// Returns a token that is cached, or `nil`.
    func entry(of token: RawSpan) -> Entry? {
        guard !entries.isEmpty, token.byteCount >= TokenSeal.length,
            let entry = entries[Self.index(of: token)], entry.token.raw.equals(token)
        else { return nil }
        return entry
    }

    /// Adds a token whose seal was verified.
    mutating func add(_ token: [UInt8], _ name: RegistrationName) {
        if entries.isEmpty { entries = Array(repeating: nil, count: Limits.AppServer.cachedTokens) }
        entries[Self.index(of: token.raw)] = Entry(token: token, name: name)
    }

    private static func index(of token: RawSpan) -> Int {
        let mixed = token.word(at: token.byteCount &- 16) &* 0x9e37_79b9_7f4a_7c15
        return Int(truncatingIfNeeded: (mixed >> 32) % UInt64(Limits.AppServer.cachedTokens))
    }
}
