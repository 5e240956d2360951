import Basics

/// The latest message ids of one connection, by keyed hash, to refuse a repeated one (ccs-xmpp 6).
///
/// The key is drawn per connection, so that nobody can choose ids that collide with another's.
struct AppServerMessageIDs {
    private let hasher: SipHash
    /// The place at which each id was remembered.
    private var places: [UInt64: UInt32] = [:]
    /// The ids in the order remembered, as a ring once `Limits.rememberedMessageIDs` are there.
    private var ring: [UInt64] = []
    private var next = 0

    init(key: (UInt64, UInt64)) { hasher = SipHash(key: key) }

    /// What an id is remembered by.
    func hash(_ id: [UInt8]) -> UInt64 { hasher.hash(id.raw) }

    /// Whether an id is remembered.
    func contains(_ hash: UInt64) -> Bool { places[hash] != nil }

    /// Remembers an id, and forgets the oldest where there are too many.
    mutating func remember(_ hash: UInt64) {
        guard ring.count == Limits.rememberedMessageIDs else {
            places[hash] = UInt32(ring.count)
            return ring.append(hash)
        }
        // An id that was freed and came again lives at its later place.
        if places[ring[next]] == UInt32(next) { places[ring[next]] = nil }
        ring[next] = hash
        places[hash] = UInt32(next)
        next = (next + 1) % ring.count
    }

    /// Frees an id for another try.
    mutating func forget(_ hash: UInt64) { places[hash] = nil }
}
