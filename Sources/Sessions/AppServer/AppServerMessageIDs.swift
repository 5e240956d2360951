import Basics

/// The latest message ids of one connection, by keyed hash, to refuse a repeated one (ccs-xmpp 6).
///
/// The key is drawn per connection, so that nobody can choose ids that collide with another's.
struct AppServerMessageIDs {
    private let hasher: SipHash
    private let limit: Int
    /// The ids in the order remembered, as a ring once it is full; 0 where an id was freed.
    private var ring: [UInt64] = []
    private var next = 0
    /// Where in the ring an id stands, plus 1, and above that 16 bits of the id, so that a search seldom has to look into
    /// the ring; open addressing, at most five eighths full. 0: nothing.
    private var table: [UInt32] = []

    /// Remembers at most so many ids, under 32,768.
    init(key: (UInt64, UInt64), limit: Int = Limits.AppServer.rememberedMessageIDs) {
        precondition((1..<32_768).contains(limit), "more ids than the table can number")
        hasher = SipHash(key: key)
        self.limit = limit
    }

    /// What an id is remembered by; never 0.
    func hash(_ id: [UInt8]) -> UInt64 { hasher.hash(id.raw) | 1 }

    /// Whether an id is remembered.
    func contains(_ hash: UInt64) -> Bool { !table.isEmpty && table[place(of: hash)] != 0 }

    /// Remembers an id, and forgets the oldest where there are too many; false if it is remembered already.
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
        // Into the table before the oldest leaves it: then the search need not be made again.
        let oldest = ring[next]
        table[place] = Self.entry(hash, next)
        forget(oldest)
        ring[next] = hash
        next = next + 1 == limit ? 0 : next + 1
        return true
    }

    /// Frees an id for another try.
    mutating func forget(_ hash: UInt64) {
        guard hash != 0, !table.isEmpty else { return }
        var hole = place(of: hash)
        guard table[hole] != 0 else { return }
        ring[Int(table[hole] & 0xFFFF) - 1] = 0
        // Moves up what stands behind in the same run, so that no search ends too early.
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

    /// Where in the table an id stands, or would.
    private func place(of hash: UInt64) -> Int {
        let mark = UInt32(truncatingIfNeeded: hash >> 1) & 0xFFFF
        var at = Int(mark) & (table.count - 1)
        while table[at] != 0 {
            if table[at] >> 16 == mark, ring[Int(table[at] & 0xFFFF) - 1] == hash { break }
            at = (at + 1) & (table.count - 1)
        }
        return at
    }

    /// The table is never longer than the 16 bits reach, so they also say where a search for the id begins.
    private static func entry(_ hash: UInt64, _ index: Int) -> UInt32 {
        UInt32(truncatingIfNeeded: hash >> 1) << 16 | UInt32(index + 1)
    }

    private mutating func rebuild() {
        table = [UInt32](repeating: 0, count: max(64, table.count * 2))
        for (at, hash) in ring.enumerated() where hash != 0 { table[place(of: hash)] = Self.entry(hash, at) }
    }
}
