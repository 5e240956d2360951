import Basics
import Delivery

/// The values of a block that follow from its mailbox, so that they need no bytes. The writer and the reader of a block change them in the
/// same way.
struct ExpectedValues {
    /// By partition: each has its own salt, which a process keeps. Stores usually have 16.
    private var salts: [UInt64] = Array(repeating: 0, count: 16)
    /// The session of the last message that was sent from a mailbox, by a hash of its owner.
    private var sessions: [SessionID?] = Array(repeating: nil, count: 256)

    /// Forgets all, for the next block.
    mutating func removeAll() {
        for at in salts.indices { salts[at] = 0 }
        for at in sessions.indices { sessions[at] = nil }
    }

    private func saltPlace(of owner: UInt64) -> Int {
        PartitionKey.partition(ofNumber: owner, of: salts.count)
    }

    /// The salt that is expected of an owner; 0 if none is.
    func salt(of owner: UInt64) -> UInt64 { salts[saltPlace(of: owner)] }

    /// Expects a salt of an owner from now on. Returns whether it was expected before.
    mutating func use(salt: UInt64, of owner: UInt64) -> Bool {
        let place = saltPlace(of: owner)
        let wasExpected = salts[place] == salt
        salts[place] = salt
        return wasExpected
    }

    /// The session that is expected of an owner.
    func session(of owner: UInt64) -> SessionID? { sessions[RecentValues.place(of: owner)] }

    /// Expects a session of an owner from now on. Returns whether it was expected before.
    mutating func use(session: SessionID, of owner: UInt64) -> Bool {
        let place = RecentValues.place(of: owner)
        let wasExpected = sessions[place] == session
        sessions[place] = session
        return wasExpected
    }
}

/// How a session is written: a byte, then what that does not say.
enum SessionForm {
    /// It is the expected one.
    static let expected: UInt8 = 0
    /// Node and reactor follow.
    static let long: UInt8 = 255

    /// The byte that has the node and the reactor of a session. Returns `nil` if they are too high.
    @inline(__always)
    static func byte(_ session: SessionID) -> UInt8? {
        guard session.node < 15, session.reactor < 16 else { return nil }
        return 1 &+ UInt8(truncatingIfNeeded: session.node << 4 | session.reactor)
    }

    /// The node and the reactor that a byte has. Returns `nil` for one that none has.
    static func place(_ byte: UInt8) -> (node: UInt16, reactor: UInt16)? {
        guard (1...240).contains(byte) else { return nil }
        return (UInt16(byte - 1) >> 4, UInt16(byte - 1) & 15)
    }
}
