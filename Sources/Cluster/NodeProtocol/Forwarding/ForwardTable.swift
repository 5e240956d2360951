public import Basics
public import Delivery

/// The events that this node has sent to other nodes and that are not answered yet.
///
/// Each is answered exactly once: by its owner, or by the table when the owner's node is lost or does not answer in time. What
/// comes after that is dropped. The node of a session tracks its requests, the node of a partition what waits in the partition.
///
/// Pure: the host passes what it sends and receives, and performs the answers that are returned.
public struct ForwardTable: Sendable {
    /// An open request.
    private struct Entry {
        var key: PendingKey
        /// The partition of this node that waits. `nil` if a session does.
        var asker: Int?
        var target: UInt16
        var partition: Int
        /// The node that the target passes the event on to, if it is another one.
        var onward: UInt16?
        var answer: UnreachedAnswer
        var deadline: Instant
        /// The neighbours in the order of the deadlines.
        var previous: Int32?
        var next: Int32?
    }

    private let node: UInt16
    private let partitions: Int
    private let limit: Int
    private let milliseconds: Int64
    private var entries: [Entry] = []
    private var vacant: [Int32] = []
    private var places: [PendingKey: Int32] = [:]
    /// How many entries each partition has; those beyond the end have none.
    private var waiting: [Int] = []
    private var first: Int32?
    private var last: Int32?

    /// Creates the table of a node in a cluster with that many partitions.
    public init(
        node: UInt16, partitions: Int, limit: Int = Limits.NodeProtocol.openRequests,
        milliseconds: Int64 = Limits.NodeProtocol.answerMilliseconds
    ) {
        self.node = node
        self.partitions = partitions
        self.limit = limit
        self.milliseconds = milliseconds
    }

    /// How many answers are due.
    public var count: Int { places.count }

    /// When `overdue` has something to return. `nil` while nothing is open.
    public var deadline: Instant? { first.map { entries[Int($0)].deadline } }

    /// Whether something waits for an event of a partition.
    public func isWaiting(for partition: Int) -> Bool {
        partition < waiting.count && waiting[partition] > 0
    }

    /// Tracks what waits on this node for an event that is sent to another node. An event without answer is not tracked, nor is what waits in
    /// a partition that this node does not have.
    ///
    /// `onward` is the node that the target passes the event on to: when that is lost, the target cannot answer; `partition` is that of
    /// the event. Returns `false` if the table is full: the event must not be sent, and `Event.answerWhenUnreached` is performed.
    public mutating func open(
        _ event: borrowing Event, to target: UInt16, onward: UInt16? = nil, of partition: Int = 0,
        now: Instant, has: (Int) -> Bool = { _ in true }
    ) -> Bool {
        let all = event.openRequests
        let requests = all.filter { isTracked($0) && asker($0).map(has) != false }
        guard count + requests.count <= limit else { return false }
        // A session of another node waits as well, and does not see that the target is lost.
        let others = all.count == requests.count ? [] : all.filter { !isTracked($0) }.map(\.answer)
        let deadline = now.advanced(milliseconds: milliseconds)
        for var request in requests {
            if !others.isEmpty { request.answer = .several(others + [request.answer]) }
            open(request, to: target, onward: onward, partition, deadline)
        }
        return true
    }

    /// Whether what waits does so on this node.
    private func isTracked(_ request: OpenRequest) -> Bool {
        request.key.session.map { $0.node == node } ?? true
    }

    /// The partition that waits. `nil` if a session does.
    private func asker(_ request: borrowing OpenRequest) -> Int? {
        request.partitionKey?.partition(of: partitions)
    }

    private mutating func open(
        _ request: OpenRequest, to target: UInt16, onward: UInt16?, _ partition: Int, _ deadline: Instant
    ) {
        // It came back to this node, and goes on to another one; or it is asked for anew.
        close(request.key)
        let entry = Entry(
            key: request.key, asker: asker(request), target: target, partition: partition, onward: onward,
            answer: request.answer, deadline: deadline, previous: last)
        if partition >= waiting.count {
            waiting += Array(repeating: 0, count: partition + 1 - waiting.count)
        }
        waiting[partition] += 1
        let place: Int32
        if let free = vacant.popLast() {
            place = free
            entries[Int(free)] = entry
        } else {
            place = Int32(entries.count)
            entries.append(entry)
        }
        if let last { entries[Int(last)].next = place } else { first = place }
        last = place
        places[request.key] = place
    }

    /// An event that was opened could not be sent: `Event.answerWhenUnreached` is performed instead.
    public mutating func withdraw(_ event: borrowing Event) {
        for request in event.openRequests where isTracked(request) { close(request.key) }
    }

    /// A command for a session of this node has come from another node. Returns whether the session gets it.
    public mutating func receives(
        _ command: borrowing SessionCommand, for connection: ConnectionID
    ) -> Bool {
        guard let key = command.answeredKey(of: connection) else { return true }
        return close(key)
    }

    /// An event for a partition of this node has come from another node. Returns whether the partition gets it.
    ///
    /// A request of a session of this node that comes back is no longer open: this node answers it. If it was given up before, it
    /// is dropped, since it has been answered.
    public mutating func receives(_ event: borrowing Event) -> Bool {
        if let key = event.answeredKey { return close(key) || event.countsWhenLate }
        for request in event.openRequests where request.key.session?.node == node {
            guard close(request.key) else { return false }
        }
        return true
    }

    /// Ends what waits under a key. Returns `false` if nothing does.
    @discardableResult
    private mutating func close(_ key: PendingKey) -> Bool {
        guard let place = places[key] else { return false }
        remove(place)
        return true
    }

    /// Ends what has not been answered in time. Returns the answers to perform.
    public mutating func overdue(now: Instant) -> [UnreachedAnswer] {
        var answers: [UnreachedAnswer] = []
        while let place = first, entries[Int(place)].deadline <= now { answers.append(remove(place)) }
        return answers
    }

    /// A node is lost, with the events that it had: ends what waits for it. Returns the answers to perform.
    public mutating func lost(_ target: UInt16) -> [UnreachedAnswer] {
        removeAll { $0.target == target || $0.onward == target }
    }

    /// A session of this node has ended. What would have begun it may have no answer: its owner does not know the session any more.
    public mutating func ended(_ session: ConnectionID) {
        for key in [PendingKey.login(session), .keys(session), .stream(session)] { close(key) }
    }

    /// A partition has left this node, and with it what waits there: the answers go to its next owner.
    public mutating func left(_ partition: Int) {
        _ = removeAll { $0.asker == partition }
    }

    /// Ends what waits for events of a partition: their owner has changed, and answers too late. Returns the answers to perform.
    public mutating func abandoned(_ partition: Int) -> [UnreachedAnswer] {
        guard isWaiting(for: partition) else { return [] }
        return removeAll { $0.partition == partition }
    }

    /// Removes all entries of a kind. Returns their answers in the order of the deadlines.
    private mutating func removeAll(where isRemoved: (borrowing Entry) -> Bool) -> [UnreachedAnswer] {
        var answers: [UnreachedAnswer] = []
        var place = first
        while let current = place {
            place = entries[Int(current)].next
            if isRemoved(entries[Int(current)]) { answers.append(remove(current)) }
        }
        return answers
    }

    /// Removes an entry. Returns what releases all that waits for it.
    @discardableResult
    private mutating func remove(_ place: Int32) -> UnreachedAnswer {
        let entry = entries[Int(place)]
        if let previous = entry.previous {
            entries[Int(previous)].next = entry.next
        } else {
            first = entry.next
        }
        if let next = entry.next {
            entries[Int(next)].previous = entry.previous
        } else {
            last = entry.previous
        }
        places[entry.key] = nil
        waiting[entry.partition] -= 1
        // The answer may refer to other memory.
        entries[Int(place)].answer = .none
        vacant.append(place)
        return entry.answer
    }
}
