public import Basics

/// Messages of one sender in one partition, since the start of the process.
final class SenderTally {
    /// Messages to devices, for the sender that sent them or, at their end, for the first one of their registration.
    var downstream = MilestoneCounts()
    /// Messages of devices to the sender.
    var upstream = MilestoneCounts()
}

/// The tallies of a partition's messages by sender, for `ccsctl senders stats`.
///
/// Counting costs one comparison for a sender that was counted last, else one look-up. The numbers are for operators: a message
/// whose batch fails afterwards stays counted.
struct SenderTallies {
    /// Contains only senders in the directory.
    private var table: [SenderID: SenderTally] = [:]
    private var last: (sender: SenderID, tally: SenderTally)?

    /// Returns the tally of a sender.
    mutating func tally(of sender: SenderID) -> SenderTally {
        if let last, last.sender == sender { return last.tally }
        let tally: SenderTally
        if let known = table[sender] {
            tally = known
        } else {
            tally = SenderTally()
            table[sender] = tally
        }
        last = (sender, tally)
        return tally
    }

    /// Returns the counts of a sender, or `nil` if there are none.
    func counts(of sender: SenderID) -> (downstream: MilestoneCounts, upstream: MilestoneCounts)? {
        table[sender].map { ($0.downstream, $0.upstream) }
    }

    /// The senders with counts.
    var senders: [SenderID] { Array(table.keys) }

    /// Removes senders that are no longer in the directory.
    mutating func retainSenders(_ isKnown: (SenderID) -> Bool) {
        last = nil
        table = table.filter { isKnown($0.key) }
    }
}

extension Turn {
    /// Counts a message to a device for a sender; a web push has none.
    mutating func countDownstream(_ milestone: Milestone, of sender: SenderID?) {
        guard let sender else { return }
        tallies.tally(of: sender).downstream[milestone] += 1
    }

    /// Counts a message of a device to a sender.
    mutating func countUpstream(_ milestone: Milestone, of sender: SenderID) {
        tallies.tally(of: sender).upstream[milestone] += 1
    }
}

/// The figures of a sender in one partition.
public struct SenderFigures: Sendable, Equatable {
    /// Sessions, and those of them that are draining.
    public var sessions = 0
    public var draining = 0
    /// Upstream messages that app servers have not acknowledged.
    public var unacknowledged = 0
    /// Messages to devices since the start.
    public var downstream = MilestoneCounts()
    /// Messages of devices since the start.
    public var upstream = MilestoneCounts()

    /// Creates figures of 0.
    public init() {}

    /// Adds the figures of another partition.
    public mutating func add(_ other: SenderFigures) {
        sessions += other.sessions
        draining += other.draining
        unacknowledged += other.unacknowledged
        downstream.add(other.downstream)
        upstream.add(other.upstream)
    }
}

extension Partition {
    /// Returns the figures of senders: of one, or of all that the partition has counted or connected.
    public func senderFigures(of sender: SenderID?) -> [SenderID: SenderFigures] {
        let counted = sender.map { [$0] } ?? turn.tallies.senders
        let connected = sender.map { [senders.table[$0]].compactMap { $0 } } ?? senders.table.all
        var found: [SenderID: SenderFigures] = [:]
        for sender in counted {
            guard let counts = turn.tallies.counts(of: sender) else { continue }
            found[sender, default: SenderFigures()].downstream = counts.downstream
            found[sender, default: SenderFigures()].upstream = counts.upstream
        }
        for entry in connected where !entry.sessions.isEmpty {
            var figures = found[entry.sender] ?? SenderFigures()
            figures.sessions = entry.sessions.count
            figures.draining = entry.sessions.count { $0.mode == .draining }
            figures.unacknowledged = entry.sessions.reduce(0) { $0 + $1.window.messages.count }
            found[entry.sender] = figures
        }
        return found
    }

    /// Returns which of some devices are connected.
    public func connected(among wanted: [DeviceID]) -> [DeviceID] {
        wanted.filter { devices.table[$0]?.link != nil }
    }

    /// Returns the states of a device's messages that are not just waiting, by sequence number.
    public func messageStates(of device: DeviceID) -> [SequenceNumber: PendingState] {
        guard let entry = devices.table[device], entry.state.isReady else { return [:] }
        var states: [SequenceNumber: PendingState] = [:]
        for slot in entry.mailbox.slots {
            states[slot.entry.sequence] = PendingState(slot.state)
        }
        return states
    }

    /// Returns the upstream messages and receipts of a sender that were sent to an app server and are not acknowledged.
    public func unacknowledged(of sender: SenderID) -> Set<SequenceNumber> {
        let sessions = senders.table[sender]?.sessions ?? []
        return Set(sessions.flatMap { ($0.window.messages + $0.window.receipts).map(\.sequence) })
    }
}

/// The progress of a pending message, for operators.
public enum PendingState: Sendable {
    /// Not sent on the current connection.
    case waiting
    /// Waits until the device is active.
    case delayed
    /// Waits until the rate of its app allows it.
    case throttled
    /// Sent and not acknowledged.
    case sent
    /// Offered to the APNs gateway.
    case atGateway
    /// Delivered; its receipt is being stored.
    case owingReceipt

    init(_ state: MailboxSlot.State) {
        switch state {
        case .waiting: self = .waiting
        case .delayed: self = .delayed
        case .throttled: self = .throttled
        case .sent: self = .sent
        case .atGateway: self = .atGateway
        case .owingReceipt: self = .owingReceipt
        }
    }
}
