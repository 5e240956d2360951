import Basics

/// The latest message IDs of one connection, as keyed hashes, to refuse repeated ones (ccs-xmpp 6).
///
/// The key is random per connection, so that no peer can choose IDs that collide with another's.
struct AppServerMessageIDs {
    /// A slot of the hash table: the index of a hash in the ring, and 16 bits of the hash, so that a search seldom reads the ring.
    ///
    /// Packed into four bytes, since each connection has a table of thousands of slots; an optional would take eight.
    private struct Slot {
        static let vacant = Slot(bits: 0)
        private let bits: UInt32

        private init(bits: UInt32) { self.bits = bits }

        init(_ hash: UInt64, index: Int) { bits = Self.mark(of: hash) << 16 | UInt32(index + 1) }

        var isVacant: Bool { bits == 0 }
        var index: Int { Int(bits & 0xFFFF) - 1 }
        var mark: UInt32 { bits >> 16 }

        /// The bits of a hash that a slot has. They also determine where its search starts.
        static func mark(of hash: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: hash >> 1) & 0xFFFF }
    }

    private let hasher: SipHash
    private let limit: Int
    /// The hashes in the order of arrival, as a ring once it is full.
    private var ring: [UInt64] = []
    /// Stands in the ring for a hash that was forgotten; no hash is 0 (`hash`), so eight bytes are enough.
    private static let forgotten: UInt64 = 0
    private var next = 0
    /// A hash table with open addressing, at most five eighths full.
    private var table: [Slot] = []

    /// Creates a table for up to `limit` IDs, less than 32,768.
    init(key: (UInt64, UInt64), limit: Int = Limits.AppServer.rememberedMessageIDs) {
        precondition((1..<32_768).contains(limit), "the limit is not between 1 and 32767")
        hasher = SipHash(key: key)
        self.limit = limit
    }

    /// Returns the hash of an ID; never 0.
    func hash(_ id: [UInt8]) -> UInt64 { hasher.hash(id.raw) | 1 }

    func contains(_ hash: UInt64) -> Bool { !table.isEmpty && !table[index(of: hash)].isVacant }

    /// Adds an ID, replacing the oldest if the ring is full. Returns false if the ID was already there.
    mutating func remember(_ hash: UInt64) -> Bool {
        if table.isEmpty { rebuild() }
        let at = index(of: hash)
        guard table[at].isVacant else { return false }
        guard ring.count == limit else {
            ring.append(hash)
            table[at] = Slot(hash, index: ring.count - 1)
            if ring.count * 8 > table.count * 5 { rebuild() }
            return true
        }
        // Added before the oldest is removed, so that the search need not be repeated.
        let oldest = ring[next]
        table[at] = Slot(hash, index: next)
        if oldest != Self.forgotten { forget(oldest) }
        ring[next] = hash
        next = next + 1 == limit ? 0 : next + 1
        return true
    }

    /// Removes an ID, so that its message may be retried.
    mutating func forget(_ hash: UInt64) {
        guard !table.isEmpty else { return }
        var hole = index(of: hash)
        guard !table[hole].isVacant else { return }
        ring[table[hole].index] = Self.forgotten
        // Moves up later entries of the same run, so that no search ends too early.
        var at = hole
        while true {
            at = (at + 1) & (table.count - 1)
            guard !table[at].isVacant else { break }
            let home = Int(table[at].mark) & (table.count - 1)
            guard (at - home) & (table.count - 1) >= (at - hole) & (table.count - 1) else { continue }
            table[hole] = table[at]
            hole = at
        }
        table[hole] = .vacant
    }

    /// Returns the index of a hash in the table, or where to insert it.
    private func index(of hash: UInt64) -> Int {
        let mark = Slot.mark(of: hash)
        var at = Int(mark) & (table.count - 1)
        while !table[at].isVacant {
            if table[at].mark == mark, ring[table[at].index] == hash { break }
            at = (at + 1) & (table.count - 1)
        }
        return at
    }

    private mutating func rebuild() {
        table = [Slot](repeating: .vacant, count: max(64, table.count * 2))
        for (at, hash) in ring.enumerated() where hash != Self.forgotten {
            table[index(of: hash)] = Slot(hash, index: at)
        }
    }
}
