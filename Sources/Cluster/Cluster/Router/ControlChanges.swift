import Basics
import ClusterLog
import Delivery

/// A change that waits for an owner.
struct HeldChange: Sendable {
    var change: ControlChange
    var origin: ChangeOrigin
    var partition: Int
    var until: Instant

    init(_ change: ControlChange, _ origin: ChangeOrigin, _ partition: Int, now: Instant) {
        self.change = change
        self.origin = origin
        self.partition = partition
        until = now.advanced(milliseconds: Limits.ClusterHost.heldMilliseconds)
    }
}

/// Changes of the control plane that other nodes write, until their outcomes come, and those whose partition has no owner at the moment.
struct ControlChanges: Sendable {
    /// A change of this node that another one is to write.
    private struct Open {
        var origin: ChangeOrigin.Number
        var partition: Int
        var state: State
        var until: Instant
    }

    private enum State {
        /// The node has not answered; it may return the change.
        case sent(HeldChange, to: NodeNumber)
        /// It is in the log up to there; this node has not applied that.
        case written(at: LogPosition)

        func isSent(to other: NodeNumber) -> Bool {
            if case .sent(_, other) = self { true } else { false }
        }
    }

    private var open: [UInt64: Open] = [:]
    /// Begins anywhere: an answer to an earlier process of this node is none to this one.
    private var lastNumber: UInt64
    private var held: [HeldChange] = []

    init(after number: UInt64) { lastNumber = number }

    var count: Int { open.count + held.count }

    /// Adds a change that is sent to a node. Returns its number, or `nil` if too many are open.
    mutating func open(
        _ change: HeldChange, _ origin: ChangeOrigin.Number, for node: NodeNumber, now: Instant
    ) -> UInt64? {
        guard open.count < Limits.ClusterHost.controlWrites else { return nil }
        lastNumber &+= 1
        open[lastNumber] = Open(
            origin: origin, partition: change.partition, state: .sent(change, to: node),
            until: now.advanced(milliseconds: Limits.NodeProtocol.answerMilliseconds))
        return lastNumber
    }

    /// A node has written a change, which ends at a position of its log, or has not. Its outcome is reported once this node has applied
    /// that: the next change of its operator begins with what this node has. Returns the partition to look at.
    mutating func written(
        _ number: UInt64, at position: LogPosition?, by node: NodeNumber, now: Instant,
        _ effects: inout [NodeRouterEffect]
    ) -> Int? {
        guard let position else {
            fail(number, at: node, &effects)
            return nil
        }
        guard var entry = open[number], entry.state.isSent(to: node) else { return nil }
        entry.state = .written(at: position)
        entry.until = now.advanced(milliseconds: Limits.ClusterHost.heldMilliseconds)
        open[number] = entry
        return entry.partition
    }

    /// A node has returned a change without writing it. Returns it, unless that node does not have it.
    mutating func takeBack(_ number: UInt64, from node: NodeNumber) -> HeldChange? {
        guard case .sent(let change, node) = open[number]?.state else { return nil }
        open[number] = nil
        return change
    }

    /// This node has applied a log up to a position.
    mutating func applied(
        _ position: LogPosition, of partition: Int, _ effects: inout [NodeRouterEffect]
    ) {
        end(isWritten: true, &effects) { entry in
            guard entry.partition == partition, case .written(let end) = entry.state else { return false }
            return end <= position
        }
    }

    /// A node has not written a change, or cannot get it.
    mutating func fail(_ number: UInt64, at node: NodeNumber, _ effects: inout [NodeRouterEffect]) {
        guard let entry = open[number], entry.state.isSent(to: node) else { return }
        open[number] = nil
        effects.append(.changed(entry.origin, isWritten: false))
    }

    /// Ends the changes that a node has not answered.
    mutating func lose(_ node: NodeNumber, _ effects: inout [NodeRouterEffect]) {
        end(isWritten: false, &effects) { $0.state.isSent(to: node) }
    }

    /// The partitions whose changes wait, in order.
    var heldPartitions: [Int] { held.isEmpty ? [] : Set(held.lazy.map(\.partition)).sorted() }

    /// Keeps a change until its partition has an owner or its time is over. Returns `false` if too many wait.
    mutating func hold(_ change: HeldChange) -> Bool {
        guard held.count < Limits.ClusterHost.controlWrites else { return false }
        held.append(change)
        return true
    }

    /// Removes and returns the changes of a partition that wait, in order.
    mutating func take(_ partition: Int) -> [HeldChange] {
        guard !held.isEmpty else { return [] }
        defer { held.removeAll { $0.partition == partition } }
        return held.filter { $0.partition == partition }
    }

    /// Ends the changes of this node whose time is over, and returns those of other nodes: one that is written counts, although this node
    /// is behind.
    mutating func endOverdue(_ now: Instant, _ effects: inout [NodeRouterEffect]) -> [HeldChange] {
        end(isWritten: true, &effects) { entry in
            if case .written = entry.state { entry.until <= now } else { false }
        }
        end(isWritten: false, &effects) { $0.until <= now }
        let overdue = held.filter { $0.until <= now }
        held.removeAll { $0.until <= now }
        return overdue
    }

    /// Ends all changes. Returns those that wait.
    mutating func endAll(_ effects: inout [NodeRouterEffect]) -> [HeldChange] {
        end(isWritten: true, &effects) { if case .written = $0.state { true } else { false } }
        end(isWritten: false, &effects) { _ in true }
        defer { held = [] }
        return held
    }

    private mutating func end(
        isWritten: Bool, _ effects: inout [NodeRouterEffect], _ isDone: (Open) -> Bool
    ) {
        guard !open.isEmpty else { return }
        let done = open.filter { isDone($0.value) }
        for (number, entry) in done.sorted(by: { $0.key < $1.key }) {
            open[number] = nil
            effects.append(.changed(entry.origin, isWritten: isWritten))
        }
    }
}
