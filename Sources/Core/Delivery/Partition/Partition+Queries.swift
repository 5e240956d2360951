public import Basics

/// The sessions of a sender in one partition.
public struct SenderSessions: Sendable, Equatable {
    /// Sessions, and those of them that are draining.
    public var sessions = 0
    public var draining = 0
    /// Upstream messages that app servers have not acknowledged.
    public var unacknowledged = 0

    /// Creates figures of 0.
    public init() {}

    /// Adds the figures of another partition.
    public mutating func add(_ other: SenderSessions) {
        sessions += other.sessions
        draining += other.draining
        unacknowledged += other.unacknowledged
    }
}

/// Queries of operators.
extension Partition {
    /// Returns the sessions of senders: of one, or of all that are connected.
    public func senderSessions(of sender: SenderID?) -> [SenderID: SenderSessions] {
        let connected = sender.map { [senders.table[$0]].compactMap { $0 } } ?? senders.table.all
        var found: [SenderID: SenderSessions] = [:]
        for entry in connected where entry.sessions.contains(where: { $0.kind != .webhook }) {
            var figures = SenderSessions()
            figures.sessions = entry.sessions.count { $0.kind != .webhook }
            figures.draining = entry.sessions.count { $0.mode == .draining && $0.kind != .webhook }
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

    /// Returns the topic messages after a place in the log that will enter the mailbox of a device, or of `only` one of its registrations,
    /// when it is served next: those of up to `limit` places. `state` is what the store has of it, if it is not in memory.
    public func topicMessages(
        for state: DeviceState, only: RegistrationNumber? = nil, after place: SequenceNumber, limit: Int
    ) -> [WaitingTopicMessage] {
        var (registrations, position) = (state.registrationStates, state.topicPosition)
        if let entry = devices.table[state.device], entry.state.isReady {
            (registrations, position) = (entry.registrations, entry.topicPosition)
        }
        var (found, places): ([WaitingTopicMessage], Int) = ([], 0)
        for place in devices.feed.log.places(after: max(position, place), for: registrations) {
            guard let topic = devices.feed.log[place], topic.message.isStored,
                !topic.kind.isSent(place, by: position)
            else { continue }
            let meant = registrations.indices.filter {
                (only == nil || registrations[$0].registration.name.number == only)
                    && registrations.isMeant(topic.message.target, of: topic.message.name.sender, at: $0)
            }
            guard !meant.isEmpty else { continue }
            guard places < limit else { break }
            places += 1
            found += meant.map {
                WaitingTopicMessage(entry: topic, registration: registrations[$0].registration)
            }
        }
        return found
    }

    /// Returns the upstream messages and receipts of a sender that were sent to an app server and are not acknowledged.
    public func unacknowledged(of sender: SenderID) -> Set<SequenceNumber> {
        let sessions = senders.table[sender]?.sessions ?? []
        return Set(sessions.flatMap { ($0.window.messages + $0.window.receipts).map(\.sequence) })
    }
}

/// A topic message, or what stands for discarded ones, that has not entered the mailbox of an app instance yet.
public struct WaitingTopicMessage: Sendable {
    public let entry: TopicEntry
    /// The app instance.
    public let registration: Registration
}

/// The progress of a pending message, for operators.
public enum PendingState: Sendable {
    /// Not sent on the current connection.
    case waiting
    /// Waits until the device is active.
    case delayed
    /// Waits for its time.
    case scheduled
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
        case .scheduled: self = .scheduled
        case .throttled: self = .throttled
        case .sent: self = .sent
        case .atGateway: self = .atGateway
        case .owingReceipt: self = .owingReceipt
        }
    }
}
