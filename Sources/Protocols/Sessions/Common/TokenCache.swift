import Basics

/// A cache of the tokens of registrations that have recently sent messages over a connection.
///
/// Sealing a token takes as long as all the other work for an upstream message, and most messages come from devices that have
/// sent another one shortly before. The token of a name never changes, so no entry becomes stale.
struct TokenCache {
    private struct Slot {
        var name: TokenName
        var token: [UInt8]
    }

    /// Indexed by the low bits of the registration names; allocated with the first token.
    private var slots: [Slot?] = []

    /// Returns the token of a registration, sealing it on a miss.
    mutating func token(for name: TokenName, _ seal: TokenSeal) -> [UInt8] {
        if slots.isEmpty { slots = Array(repeating: nil, count: Limits.AppServer.cachedTokens) }
        let at = Int(
            truncatingIfNeeded: (name.registration.device.number ^ name.registration.number.number)
                % UInt64(Limits.AppServer.cachedTokens))
        if let slot = slots[at], slot.name == name { return slot.token }
        let token = seal.token(for: name)
        slots[at] = Slot(name: name, token: token)
        return token
    }
}
