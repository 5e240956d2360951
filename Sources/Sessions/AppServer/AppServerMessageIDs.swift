import Basics

/// The latest message IDs of one connection, as keyed hashes, to refuse repeated ones (ccs-xmpp 6).
///
/// The key is random per connection, so that no peer can choose IDs that collide with another's.
struct AppServerMessageIDs {
    private let hasher: SipHash
    private let limit: Int
    /// The hashes in the order of arrival, as a ring once it is full; 0 for a forgotten one.
    private var ring: [UInt64] = []
    private var next = 0
    /// A hash table with open addressing, at most five eighths full. An entry is the index in the ring plus 1, with 16 bits of
    /// the hash above it, so that a search seldom reads the ring; 0 if empty.
    private var table: [UInt32] = []

    /// Creates a table for up to `limit` IDs, less than 32,768.
    init(key: (UInt64, UInt64), limit: Int = Limits.AppServer.rememberedMessageIDs) {
        precondition((1..<32_768).contains(limit), "the limit is not between 1 and 32767")
        hasher = SipHash(key: key)
        self.limit = limit
    }

    /// Returns the hash of an ID; never 0.
    func hash(_ id: [UInt8]) -> UInt64 { hasher.hash(id.raw) | 1 }

    func contains(_ hash: UInt64) -> Bool { !table.isEmpty && table[place(of: hash)] != 0 }

    /// Adds an ID, replacing the oldest if the ring is full. Returns false if the ID was already there.
    mutating func remember(_ hash: UInt64) -> Bool {
        if table.isEmpty { rebuild() }
        let place = place(of: hash)
        guard table[place] == 0 else { return false }
        guard ring.count == limit else {
            ring.append(hash)
            table[place] = Self.entry(hash, ring.count - 1)
            if ring.count * 8 > table.count * 5 { rebuild() }
            return true
        }
        // Added before the oldest is removed, so that the search need not be repeated.
        let oldest = ring[next]
        table[place] = Self.entry(hash, next)
        forget(oldest)
        ring[next] = hash
        next = next + 1 == limit ? 0 : next + 1
        return true
    }

    /// Removes an ID, so that its message may be retried.
    mutating func forget(_ hash: UInt64) {
        guard hash != 0, !table.isEmpty else { return }
        var hole = place(of: hash)
        guard table[hole] != 0 else { return }
        ring[Int(table[hole] & 0xFFFF) - 1] = 0
        // Moves up later entries of the same run, so that no search ends too early.
        var at = hole
        while true {
            at = (at + 1) & (table.count - 1)
            guard table[at] != 0 else { break }
            let home = Int(table[at] >> 16) & (table.count - 1)
            guard (at - home) & (table.count - 1) >= (at - hole) & (table.count - 1) else { continue }
            table[hole] = table[at]
            hole = at
        }
        table[hole] = 0
    }

    /// Returns the index of a hash in the table, or where to insert it.
    private func place(of hash: UInt64) -> Int {
        let mark = UInt32(truncatingIfNeeded: hash >> 1) & 0xFFFF
        var at = Int(mark) & (table.count - 1)
        while table[at] != 0 {
            if table[at] >> 16 == mark, ring[Int(table[at] & 0xFFFF) - 1] == hash { break }
            at = (at + 1) & (table.count - 1)
        }
        return at
    }

    /// The table has at most 2^16 entries, so the 16 bits of the hash also determine where its search starts.
    private static func entry(_ hash: UInt64, _ index: Int) -> UInt32 {
        UInt32(truncatingIfNeeded: hash >> 1) << 16 | UInt32(index + 1)
    }

    private mutating func rebuild() {
        table = [UInt32](repeating: 0, count: max(64, table.count * 2))
        for (at, hash) in ring.enumerated() where hash != 0 { table[place(of: hash)] = Self.entry(hash, at) }
    }
}
