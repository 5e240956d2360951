import Basics

/// A state was found that cannot be: an error of the server itself.
public struct InvariantFailure: Sendable, Equatable {
    /// What should have held, in words.
    public var what: String
    /// Whose state it is; nil: the partition's own.
    public var owner: PartitionKey?
}

/// What must hold, checked always, also in release builds.
///
/// In debug builds a failure ends the process. In release builds it ends the connection that it concerns and refuses the batch of
/// the turn: whatever waits for that is answered as for a failed disk, and what is in memory is read again. So nothing is
/// acknowledged on the word of a state that cannot be. The failure is logged and counted.
extension Turn {
    /// Checks the state of a device. Returns whether it holds.
    @discardableResult @inline(__always)
    mutating func demand(_ holds: Bool, _ what: StaticString, of entry: DeviceEntry) -> Bool {
        if !holds { fail(what, .device(entry.device), entry.link.map { [$0.connection] } ?? []) }
        return holds
    }

    /// Checks the state of a sender. Returns whether it holds.
    @discardableResult @inline(__always)
    mutating func demand(_ holds: Bool, _ what: StaticString, of entry: SenderEntry) -> Bool {
        if !holds { fail(what, .sender(entry.sender), entry.sessions.map(\.connection)) }
        return holds
    }

    /// Checks the state of the partition, or of what has no connection. Returns whether it holds.
    @discardableResult @inline(__always)
    mutating func demand(_ holds: Bool, _ what: StaticString, owner: PartitionKey? = nil) -> Bool {
        if !holds { fail(what, owner, []) }
        return holds
    }

    @inline(never)
    private mutating func fail(_ what: StaticString, _ owner: PartitionKey?, _ connections: [ConnectionID]) {
        precondition(!settings.trapsAtFailedInvariants, "\(what) (\(owner.map { "\($0)" } ?? "partition"))")
        effects.invariantFailures.append(InvariantFailure(what: "\(what)", owner: owner))
        refusesBatch = true
        for connection in connections { send(.close(.internalError), to: connection) }
    }
}
