public import Basics

/// An entry of the schedule: a message in a mailbox that is not sent before a time.
public struct ScheduledMessage: Hashable, Sendable, Comparable {
    /// When it is due, in milliseconds since 1970.
    public var dueAt: UnixMilliseconds
    public var device: DeviceID
    /// Its position in the mailbox.
    public var sequence: SequenceNumber
    /// The account that sent it.
    public var sender: SenderID

    public init(
        dueAt: UnixMilliseconds, device: DeviceID, sequence: SequenceNumber, sender: SenderID
    ) {
        self.dueAt = dueAt
        self.device = device
        self.sequence = sequence
        self.sender = sender
    }

    /// The entries of a partition are in the order of their times.
    public static func < (a: Self, b: Self) -> Bool {
        (a.dueAt, a.device, a.sequence) < (b.dueAt, b.device, b.sequence)
    }
}

extension StoredMessage {
    /// The entry of the schedule that it has while it is not due. `nil` for one that is sent at once.
    public var scheduled: ScheduledMessage? {
        guard let dueAt, let sender else { return nil }
        return ScheduledMessage(dueAt: dueAt, device: device, sequence: sequence, sender: sender)
    }
}

extension MailboxEntry {
    /// Returns its entry of the schedule. Returns `nil` if it has none, or none any more.
    func scheduled(of device: DeviceID) -> ScheduledMessage? {
        guard let dueAt, let sender else { return nil }
        return ScheduledMessage(dueAt: dueAt, device: device, sequence: sequence, sender: sender)
    }
}

extension ScheduledMessage {
    /// Its position in a list, as text.
    public var position: String { "\(dueAt)-\(device.number)-\(sequence.number)" }

    /// Creates an entry from the text of its position, of a sender that is not known. Returns `nil` for any other text.
    public init?(position: String) {
        let parts = position.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, let dueAt = Int64(parts[0]), let device = UInt64(parts[1]),
            let sequence = UInt64(parts[2])
        else { return nil }
        self.init(
            dueAt: dueAt, device: DeviceID(device), sequence: SequenceNumber(sequence), sender: SenderID(0))
    }
}
