import Basics

/// A broken invariant: an error of the server itself.
public struct InvariantFailure: Sendable, Equatable {
    /// A description of the failure.
    public var what: String
    /// The owner of the broken state; `nil` for the partition's own.
    public var owner: PartitionKey?
}

/// Invariants that are always checked, also in release builds.
///
/// In debug builds a failure ends the process. In release builds it closes the connections concerned and refuses the batch of the
/// turn: its waiters are answered as after a failed write, and the in-memory state of the device or sender is read again
/// (`Partition.endTurn`). So nothing is acknowledged on the basis of a broken state. The failure is logged and counted.
///
/// A check takes constant time and allocates nothing while it holds. Code after a failed check must not trap.
extension Turn {
    /// Checks an invariant of a device. Returns whether it holds.
    @discardableResult @inline(__always)
    mutating func demand(_ holds: Bool, _ what: StaticString, of entry: DeviceEntry) -> Bool {
        if !holds { fail(what, entry) }
        return holds
    }

    /// Checks that a part of a device's state exists, and returns it.
    @inline(__always)
    mutating func demand<Part>(_ part: Part?, _ what: StaticString, of entry: DeviceEntry) -> Part? {
        if part == nil { fail(what, entry) }
        return part
    }

    /// Checks an invariant of a sender. Returns whether it holds.
    @discardableResult @inline(__always)
    mutating func demand(_ holds: Bool, _ what: StaticString, of entry: SenderEntry) -> Bool {
        if !holds { fail(what, entry) }
        return holds
    }

    /// Checks that a part of a sender's state exists, and returns it.
    @inline(__always)
    mutating func demand<Part>(_ part: Part?, _ what: StaticString, of entry: SenderEntry) -> Part? {
        if part == nil { fail(what, entry) }
        return part
    }

    /// Checks an invariant of the partition, or of an owner without connections. Returns whether it holds.
    @discardableResult @inline(__always)
    mutating func demand(
        _ holds: Bool, _ what: StaticString, owner: @autoclosure () -> PartitionKey? = nil
    ) -> Bool {
        if !holds { fail(what, owner()) }
        return holds
    }

    /// Checks that a part of such a state exists, and returns it.
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
        for session in entry.sessions {
            if session.kind == .webhook {
                effects.webhooks.append(.recall(session.connection))
            } else {
                send(.close(.internalError), to: session.connection)
            }
        }
    }

    @inline(never)
    private mutating func fail(_ what: StaticString, _ owner: PartitionKey?) {
        precondition(!settings.trapsAtFailedInvariants, "\(what) (\(owner.map { "\($0)" } ?? "partition"))")
        effects.invariantFailures.append(InvariantFailure(what: "\(what)", owner: owner))
        refusesBatch = true
    }
}

/// The owners with a broken invariant in this turn: their in-memory state is read again when the turn ends.
struct BrokenStates {
    var devices: [DeviceEntry] = []
    var senders: [SenderEntry] = []

    var isEmpty: Bool { devices.isEmpty && senders.isEmpty }
}
