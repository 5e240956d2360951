public import Basics

/// The stored record of a Firebase installation: its id and the refresh token that proves ownership (mcs-device 5.5).
///
/// The id is not a secret. It belongs to the app that made it first and can prove so later. The id of a deleted or revoked
/// installation stays reserved until it expires, so that no message to it reaches another app.
public struct InstallationRecord: Sendable, Equatable {
    /// The id: 22 characters of base64url.
    public var id: [UInt8]
    /// The project that the app named. `nil` if it named none.
    public var sender: SenderID?
    /// SHA-256 of its refresh token. `nil` if it was deleted, or revoked by an operator.
    public var refresh: SecretDigest?
    /// When it was made, milliseconds since 1970.
    public var createdAt: UnixMilliseconds
    /// When its refresh token was last used, milliseconds since 1970; written lazily.
    public var usedAt: UnixMilliseconds

    /// Creates a record.
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

    /// The mark of its access tokens, which end with the refresh token. `nil` if there is no refresh token.
    public var mark: UInt64? { refresh.map { Self.mark(of: $0) } }

    /// Returns the mark of access tokens that are granted for a refresh token with this digest.
    public static func mark(of refresh: SecretDigest) -> UInt64 {
        refresh.bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}

/// A request to make an installation: the proofs that it presents, and the new credentials.
public struct InstallationOffer: Sendable {
    /// Digest of the refresh token for the requested id.
    public var refresh: SecretDigest
    /// The id to assign if the requested one is taken, with the digest of its refresh token. `nil` if this is such an id.
    public var other: (id: [UInt8], refresh: SecretDigest)?
    /// Digest of the refresh token presented as a proof. `nil` if there is none.
    public var shown: SecretDigest?
    /// The check-in pair presented as a proof. `nil` if there is none.
    public var device: (DeviceID, SecretDigest)?

    /// Creates an offer.
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

/// The queue of changes for each installation: the next change of an id starts when the previous one is on disk.
struct InstallationTurns {
    /// By id; the first change is the current one.
    private var changes: [[UInt8]: [InstallationEvent]] = [:]
    /// The ids that are being read from the store for their current change.
    private var asked: Set<[UInt8]> = []
    /// The number of queued changes, current ones included.
    private(set) var count = 0

    /// Returns the broken invariant, or `nil` if all hold.
    var violation: String? {
        if changes.values.contains(where: \.isEmpty) { return "a queue of changes is empty" }
        return changes.values.reduce(0, { $0 + $1.count }) == count ? nil : "wrong count of waiting changes"
    }

    /// Adds a change. Returns whether it is the current one.
    mutating func append(_ change: InstallationEvent, of id: [UInt8]) -> Bool {
        count += 1
        changes[id, default: []].append(change)
        return changes[id]?.count == 1
    }

    /// Marks the id as being read for its current change. Returns `false` if there is no change, or it is being read already.
    mutating func beginReading(_ id: [UInt8]) -> Bool { changes[id] != nil && asked.insert(id).inserted }

    /// Marks the id as read. Returns `false` if it was not being read.
    mutating func endReading(_ id: [UInt8]) -> Bool { asked.remove(id) != nil && changes[id] != nil }

    /// Whether there is a current change and the store has answered for it.
    func isUnderWay(_ id: [UInt8]) -> Bool { changes[id] != nil && !asked.contains(id) }

    /// The current change.
    func current(_ id: [UInt8]) -> InstallationEvent? { changes[id]?.first }

    /// Removes the current change. Returns whether another one follows.
    mutating func end(_ id: [UInt8]) -> Bool {
        guard changes[id]?.isEmpty == false else { return false }
        changes[id]?.removeFirst()
        count -= 1
        if changes[id]?.isEmpty == true { changes[id] = nil }
        return changes[id] != nil
    }
}
