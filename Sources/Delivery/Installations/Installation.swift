public import Basics

/// A Firebase installation: who it is that may use its id (mcs-device 5.5).
///
/// The id is no secret. It belongs to who made it first, and who proves to be that later; one that was deleted or revoked stays
/// taken until nobody can remember it, so that nothing which is sent to it comes to another.
public struct InstallationRecord: Sendable, Equatable {
    /// The id: 22 characters of base64url.
    public var id: [UInt8]
    /// The project that the app named; nil: none.
    public var sender: SenderID?
    /// SHA-256 of its refresh token; nil: it was deleted, or an operator revoked it.
    public var refresh: SecretDigest?
    /// When it was made, milliseconds since 1970.
    public var createdAt: UnixMilliseconds
    /// When its refresh token was last shown, milliseconds since 1970; written lazily.
    public var usedAt: UnixMilliseconds

    /// A record; all parts are the caller's.
    public init(
        id: [UInt8], sender: SenderID?, refresh: SecretDigest?, createdAt: UnixMilliseconds,
        usedAt: UnixMilliseconds
    ) {
        self.id = id
        self.sender = sender
        self.refresh = refresh
        self.createdAt = createdAt
        self.usedAt = usedAt
    }

    /// What its access tokens are marked with: they end with the refresh token. Nil where there is none.
    public var mark: UInt64? { refresh.map { Self.mark(of: $0) } }

    /// The mark of the access tokens that a refresh token with this digest is good for.
    public static func mark(of refresh: SecretDigest) -> UInt64 {
        refresh.octets.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}

/// What somebody who wants an installation shows, and what it is to get.
public struct InstallationOffer: Sendable {
    /// Digest of the refresh token that the installation of the wanted id gets.
    public var refresh: SecretDigest
    /// The id that is given where the wanted one is another's, and the digest of its refresh token; nil where it is that.
    public var other: (id: [UInt8], refresh: SecretDigest)?
    /// Digest of the refresh token that was shown as a proof; nil: none was.
    public var shown: SecretDigest?
    /// The check-in pair that was shown as a proof; nil: none was.
    public var device: (DeviceID, SecretDigest)?

    /// An offer; all parts are the caller's.
    public init(
        refresh: SecretDigest, other: (id: [UInt8], refresh: SecretDigest)?, shown: SecretDigest? = nil,
        device: (DeviceID, SecretDigest)? = nil
    ) {
        self.refresh = refresh
        self.other = other
        self.shown = shown
        self.device = device
    }
}

/// Changes of installations, each of which has its turn: the next one of the same id begins when the last is on disk.
struct InstallationTurns {
    /// By id, the one whose turn it is first.
    private var changes: [[UInt8]: [InstallationEvent]] = [:]
    /// The ids that the store has been asked for, for the one whose turn it is.
    private var asked: Set<[UInt8]> = []
    /// How many there are.
    private(set) var count = 0

    /// What is wrong with the state; `nil` if nothing is.
    var violation: String? {
        if changes.values.contains(where: \.isEmpty) { return "a queue of changes is empty" }
        return changes.values.reduce(0, { $0 + $1.count }) == count ? nil : "wrong count of waiting changes"
    }

    /// Adds one; whether it is its turn.
    mutating func append(_ change: InstallationEvent, of id: [UInt8]) -> Bool {
        count += 1
        changes[id, default: []].append(change)
        return changes[id]?.count == 1
    }

    /// Notes that the store is asked for the one whose turn it is. Returns whether there is one, and it was not asked for.
    mutating func ask(_ id: [UInt8]) -> Bool { changes[id] != nil && asked.insert(id).inserted }

    /// Notes that the store has answered. Returns whether it was asked.
    mutating func answer(_ id: [UInt8]) -> Bool { asked.remove(id) != nil && changes[id] != nil }

    /// Whether one is under way for which the store has answered.
    func isUnderWay(_ id: [UInt8]) -> Bool { changes[id] != nil && !asked.contains(id) }

    /// The one whose turn it is.
    func current(_ id: [UInt8]) -> InstallationEvent? { changes[id]?.first }

    /// Ends its turn; whether another one follows.
    mutating func end(_ id: [UInt8]) -> Bool {
        guard changes[id]?.isEmpty == false else { return false }
        changes[id]?.removeFirst()
        count -= 1
        if changes[id]?.isEmpty == true { changes[id] = nil }
        return changes[id] != nil
    }
}
