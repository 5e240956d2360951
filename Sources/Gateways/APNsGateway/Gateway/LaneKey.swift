import Basics

/// A device token as a key, hashed once: the table of lanes is searched several times for each delivery.
struct LaneKey: Hashable {
    /// The key of no lane.
    static let none = LaneKey()

    private let token: [UInt8]
    private let keyedHash: UInt64

    private init() {
        token = []
        keyedHash = 0
    }

    /// App servers choose device tokens, so the hash must be keyed.
    init(_ token: [UInt8], _ hash: SipHash) {
        self.token = token
        keyedHash = hash.hash(token.raw)
    }

    static func == (a: Self, b: Self) -> Bool { a.keyedHash == b.keyedHash && a.token == b.token }

    func hash(into hasher: inout Hasher) { hasher.combine(keyedHash) }
}
