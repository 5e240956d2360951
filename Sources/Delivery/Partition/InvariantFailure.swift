import Basics

/// A state was found that cannot be: an error of the server itself.
public struct InvariantFailure: Sendable, Equatable {
    /// What is wrong, in words.
    public var what: String
    /// Whose state it is; nil: the partition's own.
    public var owner: PartitionKey?
}

/// What must hold, checked always, also in release builds.
///
/// In debug builds a failure ends the process. In release builds it ends the connections that it concerns and refuses the batch of
/// the turn: whatever waits for that is answered as for a failed disk, and what is in memory of the device or sender is read again
/// (`Partition.endTurn`). So nothing is acknowledged on the word of a state that cannot be. The failure is logged and counted.
///
/// A check takes constant time and allocates nothing while it holds. Code that goes on after a failed one must not trap.
extension Turn {
    /// Checks the state of a device. Returns whether it holds.
    @discardableResult @inline(__always)
    mutating func demand(_ holds: Bool, _ what: StaticString, of entry: DeviceEntry) -> Bool {
        if !holds { fail(what, entry) }
        return holds
    }

    /// Checks that a part of a device's state is there. Returns it.
    @inline(__always)
    mutating func demand<Part>(_ part: Part?, _ what: StaticString, of entry: DeviceEntry) -> Part? {
        if part == nil { fail(what, entry) }
        return part
    }

    /// Checks the state of a sender. Returns whether it holds.
    @discardableResult @inline(__always)
    mutating func demand(_ holds: Bool, _ what: StaticString, of entry: SenderEntry) -> Bool {
        if !holds { fail(what, entry) }
        return holds
    }

    /// Checks that a part of a sender's state is there. Returns it.
    @inline(__always)
    mutating func demand<Part>(_ part: Part?, _ what: StaticString, of entry: SenderEntry) -> Part? {
        if part == nil { fail(what, entry) }
        return part
    }

    /// Checks the state of the partition, or of what has no connection. Returns whether it holds.
    @discardableResult @inline(__always)
    mutating func demand(
        _ holds: Bool, _ what: StaticString, owner: @autoclosure () -> PartitionKey? = nil
    ) -> Bool {
        if !holds { fail(what, owner()) }
        return holds
    }

    /// Checks that a part of such a state is there. Returns it.
    @inline(__always)
    mutating func demand<Part>(
        _ part: Part?, _ what: StaticString, owner: @autoclosure () -> PartitionKey? = nil
    ) -> Part? {
        if part == nil { fail(what, owner()) }
        return part
    }

    @inline(never)
    private mutating func fail(_ what: StaticString, _ entry: DeviceEntry) {
        fail(what, .device(entry.device))
        guard !broken.devices.contains(where: { $0 === entry }) else { return }
        broken.devices.append(entry)
        if let link = entry.link { send(.close(.internalError), to: link.connection) }
    }

    @inline(never)
    private mutating func fail(_ what: StaticString, _ entry: SenderEntry) {
        fail(what, .sender(entry.sender))
        guard !broken.senders.contains(where: { $0 === entry }) else { return }
        broken.senders.append(entry)
        for session in entry.sessions { send(.close(.internalError), to: session.connection) }
    }

    @inline(never)
    private mutating func fail(_ what: StaticString, _ owner: PartitionKey?) {
        precondition(!settings.trapsAtFailedInvariants, "\(what) (\(owner.map { "\($0)" } ?? "partition"))")
        effects.invariantFailures.append(InvariantFailure(what: "\(what)", owner: owner))
        refusesBatch = true
    }
}

/// Of whom a state was found in this turn that cannot be: what is in memory of them is read again when it ends.
struct BrokenStates {
    var devices: [DeviceEntry] = []
    var senders: [SenderEntry] = []

    var isEmpty: Bool { devices.isEmpty && senders.isEmpty }
}
