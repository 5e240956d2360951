import Basics

/// The delivery of one registration's messages through the APNs gateway: one message at a time, in order.
struct GatewayQueue {
    /// What the registration waits for.
    enum State: Equatable {
        /// Nothing is at the gateway, and nothing that is stored waits.
        case idle
        /// The next message is being read from the store.
        case loading(SequenceNumber)
        /// A message is at the gateway; `isStored`: it is in the mailbox.
        case sent(SequenceNumber, isStored: Bool)
        /// The gateway has answered for good, and the store does not have the end of the message yet.
        case ending(SequenceNumber)
        /// The gateway could not take a message: the next one is offered at this instant.
        case deferred(until: Instant)
    }

    /// A submission whose answer waits for Apple's verdict.
    struct Verdict {
        /// The message.
        let sequence: SequenceNumber
        /// Where the answer is sent.
        let replyTo: ReplyTo
        /// The ID of the message, for the answer.
        let id: PersistentID
        /// The token that replaced the one that was addressed.
        let canonical: TokenName?
        /// Whether the message is stored: then it is accepted if there is no verdict in time.
        let isStored: Bool
        /// When it is answered without a verdict.
        let deadline: VerdictDeadlines.Handle
    }

    private(set) var state = State.idle
    /// How often the message at the head was answered with `later` after an attempt.
    private(set) var attempt = 0
    /// Now-or-never messages behind the one at the gateway, oldest first.
    private(set) var unstored: [StoredMessage] = []
    /// Submissions that wait for a verdict, oldest first.
    private(set) var verdicts: [Verdict] = []

    /// Whether the device must stay in memory: an answer is outstanding. One that is only deferred is offered again after a read.
    var isBusy: Bool {
        switch state {
        case .loading, .sent, .ending: true
        case .idle, .deferred: !unstored.isEmpty || !verdicts.isEmpty
        }
    }

    /// Whether the next message is offered later.
    var isDeferred: Bool { if case .deferred = state { true } else { false } }

    /// Whether a message can be offered now.
    var isOpen: Bool { state == .idle }

    /// Whether a message is at the gateway, and which one.
    var sent: SequenceNumber? { if case .sent(let sequence, _) = state { sequence } else { nil } }

    /// Whether the submission of a message waits for its verdict.
    func awaits(_ sequence: SequenceNumber) -> Bool { verdicts.contains { $0.sequence == sequence } }

    /// Changes the state: it waits for one thing at a time, which ends before another one begins.
    mutating func change(to next: State) {
        switch next {
        case .idle, .deferred: break
        case .loading, .sent, .ending: assert(isOpen, "a registration waits for two things")
        }
        state = next
    }

    mutating func countAttempt() { attempt += 1 }

    mutating func resetAttempts() { attempt = 0 }

    /// Adds a now-or-never message.
    mutating func add(_ message: StoredMessage) { unstored.append(message) }

    /// Removes and returns the oldest now-or-never message.
    mutating func takeUnstored() -> StoredMessage? { unstored.isEmpty ? nil : unstored.removeFirst() }

    mutating func removeUnstored(_ sequence: SequenceNumber) {
        unstored.removeAll { $0.sequence == sequence }
    }

    /// Adds a submission that waits for a verdict.
    mutating func add(_ verdict: Verdict) { verdicts.append(verdict) }

    /// Removes and returns the submission of a message.
    mutating func takeVerdict(of sequence: SequenceNumber) -> Verdict? {
        verdicts.firstIndex { $0.sequence == sequence }.map { verdicts.remove(at: $0) }
    }

    /// Removes and returns the submissions of all stored messages, and all now-or-never messages.
    mutating func takeAll() -> (stored: [Verdict], unstored: [StoredMessage]) {
        let taken = (verdicts.filter(\.isStored), unstored)
        verdicts.removeAll(where: \.isStored)
        unstored = []
        return taken
    }
}

/// What the gateway's registrations of a partition wait for: deferred deliveries, and submissions without a verdict.
struct GatewaySchedule {
    /// The registrations whose next message is offered later.
    var deferred = DueQueue()
    /// Submissions that wait for a verdict.
    var verdicts = VerdictDeadlines()
    /// The search for devices that an earlier process has marked.
    var search = GatewaySearch()
}

/// The state of the search for marked devices, once after each start.
struct GatewaySearch {
    /// Where the next query starts. `nil` once all are found.
    private var from: DeviceID? = .lowest
    /// Whether a query is outstanding.
    private var isAsking = false
    /// When the next query is due.
    private var next = Instant.distantPast
    /// The lowest device that was found, but could not be read while a query was outstanding.
    private var unread: DeviceID?

    /// Asks for the next devices if it is time.
    mutating func continueIfDue(_ turn: inout Turn) {
        guard let from, !isAsking, turn.now.monotonic >= next else { return }
        isAsking = true
        turn.load(.gatewayDevices(from: from, limit: Limits.APNs.devicesPerSearch, partition: turn.partition))
    }

    /// The query is answered: the search goes on at `device`, or at one that could not be read.
    mutating func found(next device: DeviceID?, _ turn: inout Turn) {
        turn.demand(isAsking, "the answer to a search for marked devices was not requested")
        isAsking = false
        from = [device, unread].compactMap(\.self).min()
        unread = nil
        next = turn.now.monotonic.advanced(milliseconds: Int64(Limits.Store.sweepMilliseconds))
    }

    /// The query has failed, and is repeated.
    mutating func failed(_ turn: inout Turn) { found(next: from, &turn) }

    /// A device that was found could not be read: it is searched again, since nothing else would read it before the next start.
    mutating func missed(_ device: DeviceID, _ now: Instant) {
        if isAsking {
            unread = min(unread ?? device, device)
        } else {
            from = min(from ?? device, device)
            next = now.advanced(milliseconds: Int64(Limits.Store.sweepMilliseconds))
        }
    }
}
