import Basics

/// The topic messages for the devices of a partition: the log, what is on its way into it, and who has to be sent something.
struct TopicFeed {
    /// What another partition has passed on.
    struct Publication {
        var source: Int
        var messages: [TopicMessage]
    }

    /// What a batch adds to the log.
    struct Addition {
        var entries: [TopicEntry] = []
        var marks: [TopicMark] = []
    }

    private enum Reading {
        /// The log is to be read: all of it at the start, then what an unanswered batch may have added.
        case due(at: Instant)
        case asking
        case done
    }

    /// How far the connected devices have been sent what is new to them.
    enum Sending {
        case done
        /// The next of them wait for the turn of the partition (`TopicTurns`).
        case due
        /// The next of them wait for the batch of the last ones.
        case storing
    }

    var log = TopicLog()
    var audience = TopicAudience()
    var walk = TopicWalk()
    private var reading = Reading.due(at: .distantPast)
    /// Whether the log has been read once: no device is served before.
    private(set) var isRead = false
    private var readThrough = SequenceNumber(0)
    private var marks: [Int: SequenceNumber] = [:]
    private var publications: [Publication] = []
    /// Now-or-never messages that iOS apps are still to be looked for.
    private var unstored: [TopicMessage] = []
    /// Whether a batch that adds to the log is unanswered: one at a time, so that what a failed one has added is the newest.
    private var isAdding = false
    /// Devices that were read before the log.
    private var held: [DeviceState] = []
    /// Connected devices that have to be sent something.
    private var due: [DeviceID] = []
    private var dueHead = 0
    /// How far they have been sent it.
    private(set) var sending = Sending.done
    /// Removals of failed batches, to be written at the next tick.
    var failed: [Mutation] = []

    // MARK: Reading

    /// Begins to read the log if it is time. Returns after which place.
    mutating func beginReading(_ now: Instant) -> SequenceNumber? {
        guard case .due(let at) = reading, at <= now else { return nil }
        reading = .asking
        return readThrough
    }

    /// Takes over a page of the log. Returns the messages that it adds, or `nil` if it was not asked for.
    mutating func read(_ entries: [TopicEntry], _ found: [TopicMark], isLast: Bool) -> [TopicEntry]? {
        guard case .asking = reading else { return nil }
        readThrough = entries.last?.sequence ?? readThrough
        for mark in found { marks[mark.source] = max(marks[mark.source] ?? mark.through, mark.through) }
        reading = isLast ? .done : .due(at: .distantPast)
        if isLast { isRead = true }
        return entries
    }

    /// The log could not be read. Returns the devices that wait for it.
    mutating func readingFailed(retryAt: Instant) -> [DeviceState] {
        if case .asking = reading { reading = .due(at: retryAt) }
        return takeHeld()
    }

    /// Has a device wait until the log has been read.
    mutating func hold(_ state: DeviceState) { held.append(state) }

    mutating func takeHeld() -> [DeviceState] {
        defer { held = [] }
        return held
    }

    // MARK: Additions

    mutating func receive(_ publication: Publication) { publications.append(publication) }

    mutating func receive(unstored message: TopicMessage) { unstored.append(message) }

    /// Whether the next place is the newest one: no message that has an earlier place is still on its way into the log.
    private var mayAppend: Bool { if case .done = reading { !isAdding } else { false } }

    /// Returns the now-or-never messages that can be appended now.
    mutating func takeUnstored() -> [TopicMessage] {
        guard mayAppend else { return [] }
        defer { unstored = [] }
        return unstored
    }

    /// Returns what has been passed on and can be added now; then `endAdding` follows, unless it is empty.
    mutating func beginAdding() -> [Publication] {
        guard mayAppend, !publications.isEmpty else { return [] }
        isAdding = true
        defer { publications = [] }
        return publications
    }

    /// The newest message of a partition's senders that is in the log or was there.
    func mark(of source: Int) -> SequenceNumber { marks[source] ?? SequenceNumber(0) }

    /// An addition is on disk, or there was none.
    mutating func endAdding(_ addition: Addition) {
        isAdding = false
        for mark in addition.marks { marks[mark.source] = mark.through }
    }

    /// It is not known whether an addition is on disk: what follows the newest message is read.
    mutating func addingFailed() {
        isAdding = false
        readThrough = log.newest
        reading = .due(at: .distantPast)
    }

    // MARK: Connected devices

    /// Has a device wait for what is new to it. Returns whether it is the first one.
    mutating func makeDue(_ device: DeviceID) -> Bool {
        due.append(device)
        guard sending == .done else { return false }
        sending = .due
        return true
    }

    /// Some devices have been sent it: their batch is on its way, or has been answered, or there is none. Returns whether all have been.
    mutating func sent(isStored: Bool) -> Bool {
        if 2 * dueHead >= due.count { (due, dueHead) = (Array(due[dueHead...]), 0) }
        sending = !isStored ? .storing : due.isEmpty ? .done : .due
        return sending == .done
    }

    mutating func popDue() -> DeviceID? {
        guard dueHead < due.count else { return nil }
        dueHead += 1
        return due[dueHead - 1]
    }
}
