import Basics

/// The tokens of the registrations whose messages were written last on a connection.
///
/// Sealing a token takes as long as all the rest of an upstream message, and most messages come from devices that have sent one
/// a moment ago. A token is always the same for its registration, so that nothing here can be out of date.
struct TokenMemory {
    private struct Slot {
        var name: RegistrationName
        var token: [UInt8]
    }

    /// By the low bits of their names; made with the first.
    private var slots: [Slot?] = []

    /// The token of a registration.
    mutating func token(for name: RegistrationName, _ seal: TokenSeal) -> [UInt8] {
        if slots.isEmpty { slots = Array(repeating: nil, count: Limits.AppServer.cachedTokens) }
        let at = Int(
            truncatingIfNeeded: (name.device.number ^ name.number.number)
                % UInt64(Limits.AppServer.cachedTokens))
        if let slot = slots[at], slot.name == name { return slot.token }
        let token = seal.token(for: name)
        slots[at] = Slot(name: name, token: token)
        return token
    }
}
