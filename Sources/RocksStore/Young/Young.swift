import Basics
import Delivery
import Store

/// What a commit changes among the young messages, once it is on the disk.
enum YoungChange {
    case put(StoredMessage)
    case putUpstream(StoredUpstream)
    case remove(Place)
}

/// The messages that are not in the engine yet, as loads see them.
struct Young: Sendable {
    private(set) var messages = Mailboxes<StoredMessage>()
    private(set) var upstream = Mailboxes<StoredUpstream>()
    /// Nothing of it ends before.
    private var floor = UnixMilliseconds.max
    /// What was counted with the last commit.
    var tally: Tally

    /// None, and what was counted.
    init(tally: Tally) { self.tally = tally }

    /// Does what a commit did.
    mutating func apply(_ change: YoungChange) {
        switch change {
        case .put(let message):
            floor = min(floor, message.expiresAt)
            messages.put(message, message.device.number, message.sequence.number)
        case .putUpstream(let message):
            floor = min(floor, message.expiresAt)
            upstream.put(message, message.sender.number, message.sequence.number)
        case .remove(let place): remove(place)
        }
    }

    /// A message is gone, or is in the engine from now on.
    mutating func remove(_ place: Place) {
        switch place.kind {
        case .message: messages.remove(place.owner, place.sequence)
        case .upstream: upstream.remove(place.owner, place.sequence)
        case .topicBody: break
        }
    }

    /// Replaces a buffer's content by the record of a message; when it ends, nil: there is none.
    func write(_ place: Place, to buffer: inout ByteBuffer) -> UnixMilliseconds? {
        switch place.kind {
        case .message:
            guard let message = messages[place.owner, place.sequence] else { return nil }
            MessageRecord.write(message, to: &buffer)
            return message.expiresAt
        case .upstream:
            guard let message = upstream[place.owner, place.sequence] else { return nil }
            UpstreamRecord.write(message, to: &buffer)
            return message.expiresAt
        case .topicBody: return nil
        }
    }

    /// What ends by a time, earliest first, so many at most.
    mutating func ends(by time: UnixMilliseconds, limit: Int) -> [ExpiryKey] {
        guard floor <= time else { return [] }
        var ends: [ExpiryKey] = []
        var first = UnixMilliseconds.max
        func look(_ end: ExpiryKey) {
            first = min(first, end.time)
            if end.time <= time { ends.append(end) }
        }
        messages.forEach { look(ExpiryKey($0)) }
        upstream.forEach { look(ExpiryKey($0)) }
        floor = first
        ends.sort()
        return Array(ends.prefix(limit))
    }

    /// Counts what is there, and what was counted.
    func count(in audit: inout StoreAudit) {
        audit.downstream = tally.downstream
        audit.upstream = tally.upstream
        messages.forEach { if $0.kind == .message { audit.downstreamPending += 1 } }
        upstream.forEach { if $0.kind == .message { audit.upstreamPending += 1 } }
    }

    /// What it has to say to a question.
    func part(of load: Load) -> YoungPart {
        switch load {
        case .device(let device):
            return .entries(messages.all(device.number).map { MailboxEntry($0) })
        case .messages(let device, let after, let limit):
            let (page, isLast) = messages.page(device.number, after: after.number, limit: limit)
            return .messages(page, isLast: isLast)
        case .upstream(let sender, let after, let limit):
            let (page, isLast) = upstream.page(sender.number, after: after.number, limit: limit)
            return .upstream(page, isLast: isLast)
        default: return .none
        }
    }
}

/// What the young messages have to say to a question, taken at the moment of the engine's snapshot.
enum YoungPart {
    case none
    case entries([MailboxEntry])
    case messages([StoredMessage], isLast: Bool)
    case upstream([StoredUpstream], isLast: Bool)
}

/// Two runs in order made one.
func merged<Element>(
    _ a: [Element], _ b: [Element], by isBefore: (Element, Element) -> Bool
) -> [Element] {
    if a.isEmpty { return b }
    if b.isEmpty { return a }
    var both: [Element] = []
    both.reserveCapacity(a.count + b.count)
    var (i, j) = (0, 0)
    while i < a.count, j < b.count {
        if isBefore(b[j], a[i]) {
            both.append(b[j])
            j += 1
        } else {
            both.append(a[i])
            i += 1
        }
    }
    both += a[i...]
    both += b[j...]
    return both
}
