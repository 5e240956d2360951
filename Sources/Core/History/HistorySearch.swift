public import Basics
import Delivery

/// A message with all its steps that the history has.
public struct HistoryMessage: Sendable, Equatable {
    /// What is known of it; its steps are in order.
    public var record: HistoryRecord
    /// Where its first record is.
    public var position: HistoryPosition

    /// Creates a message.
    public init(record: HistoryRecord, position: HistoryPosition) {
        self.record = record
        self.position = position
    }
}

/// Where a record is; later records have greater positions.
public struct HistoryPosition: Sendable, Comparable, Hashable {
    public var file: UInt64
    public var block: UInt32
    public var record: UInt32

    /// Creates a position.
    public init(file: UInt64, block: UInt32, record: UInt32) {
        self.file = file
        self.block = block
        self.record = record
    }

    /// The position of a place.
    public init(place: UInt64) {
        file = place >> 28
        block = UInt32(truncatingIfNeeded: place >> 16 & 0xfff)
        record = UInt32(truncatingIfNeeded: place & 0xffff)
    }

    /// The position as one number, in which later ones are greater: 12 bits name the block, 16 the record in it.
    public var place: UInt64 { file << 28 | UInt64(block) << 16 | UInt64(record) }

    public static func < (a: Self, b: Self) -> Bool {
        (a.file, a.block, a.record) < (b.file, b.block, b.record)
    }
}

/// A time of which the history has nothing.
public struct HistoryGap: Sendable, Equatable {
    public var from: UnixMilliseconds
    public var to: UnixMilliseconds

    /// Creates a gap.
    public init(from: UnixMilliseconds, to: UnixMilliseconds) {
        self.from = from
        self.to = to
    }
}

/// Answers questions from the files of the history.
public struct HistorySearch {
    /// The files, newest first.
    let sources: [HistorySource]
    /// How many blocks and parts of an index were damaged: the answer may lack their records.
    public private(set) var damaged = 0
    /// How many blocks were read.
    public private(set) var examined = 0

    /// How many blocks it may read.
    private let mostBlocks: Int

    /// The records of the blocks that were read last.
    private var kept: [(file: UInt64, block: Int, records: [HistoryRecord])] = []

    /// Starts a search in files that may read up to `blocks` of them.
    public init(_ sources: [HistorySource], blocks: Int = Limits.History.examinedBlocks) {
        self.sources = sources.sorted { $0.number > $1.number }
        mostBlocks = blocks
    }

    /// When the history begins. Returns `nil` if it has nothing.
    public var start: UnixMilliseconds? { sources.map(\.first).min() }

    // MARK: Questions

    /// Messages with one ID, newest first, and whether there are more.
    public typealias Found = (messages: [HistoryMessage], isCut: Bool)

    /// Returns up to `limit` messages with a name: by the first of its meanings that any message has. With a sender, all others are as if they
    /// were not there.
    public mutating func messages(_ name: MessageName, of sender: SenderID? = nil, limit: Int) -> Found {
        func isOwn(_ record: HistoryRecord) -> Bool { sender == nil || record.sender == sender?.number }
        var found = messages(HistoryHash.id(name.id.raw), limit: limit) {
            !$0.id.isEmpty && $0.id == name.id && isOwn($0)
        }
        if let id = name.persistentID, found.messages.isEmpty {
            found = messages(HistoryHash.sequence(id.sequence.number), limit: limit) {
                $0.sequence == id.sequence.number && $0.salt == id.salt && isOwn($0)
            }
        }
        if let number = name.number, found.messages.isEmpty {
            found = messages(HistoryHash.sequence(number), limit: limit) {
                $0.sequence == number && $0.kind == .topic && isOwn($0)
            }
        }
        return found
    }

    private mutating func messages(
        _ hash: UInt64, limit: Int, where isMatch: (HistoryRecord) -> Bool
    ) -> Found {
        var found: [HistoryMessage] = []
        var seen: Set<HistoryPart> = []
        var isCut = false
        search(hash) { record, position in
            guard isMatch(record) else { return true }
            if let part = HistoryPart(record)?.ofAnySender, !seen.insert(part).inserted { return true }
            guard found.count < limit else {
                isCut = true
                return false
            }
            found.append(HistoryMessage(record: record, position: position))
            return true
        }
        return (found.map { whole($0).message }, isCut || isExhausted)
    }

    /// Returns a page of the messages to and from a device, newest first, and the position before which the next page begins. Later steps of
    /// a message are shown with its first record.
    public mutating func messages(
        device: UInt64, registration: UInt64?, before: HistoryPosition?, limit: Int
    ) -> (messages: [HistoryMessage], next: HistoryPosition?) {
        var found: [HistoryMessage] = []
        var next: HistoryPosition?
        var records = DeviceRecords()
        let most = 2 * limit + Limits.History.gapsShown
        func isWanted(_ record: HistoryRecord) -> Bool {
            registration == nil || record.registration == registration
        }
        search(HistoryHash.device(device), before: before) { record, position in
            guard record.device == device else { return true }
            records.append(HistoryMessage(record: record, position: position), counts: isWanted(record))
            return records.counted < most
        }
        let isCut = isExhausted || records.counted >= most
        for at in records.all.indices {
            guard found.count < limit else { return (found, next) }
            if let message = message(at, of: records, isLatest: before == nil), isWanted(message.record) {
                found.append(message)
            }
            next = records.all[at].position
        }
        return (found, isCut ? next : nil)
    }

    /// Returns the message that begins with a record, or `nil` if it begins with an earlier one; `isLatest`: all later records of the device
    /// are there.
    private mutating func message(_ at: Int, of records: DeviceRecords, isLatest: Bool) -> HistoryMessage? {
        let candidate = records.all[at]
        guard let known = records.message(beginningAt: at) else { return nil }
        // Each record of a message to the device names it; one that has ended has no later steps, but for those that a crash repeats.
        if known.record.hasBeginning, known.record.end != nil || isLatest && known.record.kind.isOfDevice {
            return known
        }
        let (message, isFirst) = whole(candidate)
        return isFirst ? message : nil
    }

    /// Returns the newest gaps, newest first.
    public mutating func gaps() -> [HistoryGap] {
        var gaps: [HistoryGap] = []
        search(HistoryHash.gap) { record, _ in
            if record.kind == .gap, let from = record.steps.first, let to = record.steps.last {
                gaps.append(HistoryGap(from: from.time, to: to.time))
            }
            return gaps.count < Limits.History.gapsShown
        }
        return gaps
    }

    /// Whether the search has ended early.
    var isExhausted: Bool { examined >= mostBlocks }

    // MARK: Records

    /// Returns the sender that other records of a message name, or 0.
    mutating func sender(of message: HistoryRecord) -> UInt64 {
        guard let part = HistoryPart(message)?.ofAnySender else { return 0 }
        var sender: UInt64 = 0
        search(HistoryHash.sequence(part.sequence)) { record, _ in
            if part.isPart(record) { sender = record.sender }
            return sender == 0
        }
        return sender
    }

    /// Gathers all records of a message. Returns whether the given one is the first. If the message is accepted or stored in it, the others
    /// are not in earlier files than the one before: one record may have the acceptance, and the next one that it is stored.
    mutating func whole(_ message: HistoryMessage) -> (message: HistoryMessage, isFirst: Bool) {
        var oldest: UInt64 = 0
        if message.record.hasBeginning {
            oldest = sources.first { $0.number < message.position.file }?.number ?? 0
        }
        guard let part = HistoryPart(message.record), let whole = gathered(part, [message], since: oldest)
        else { return (message, true) }
        return (whole, whole.position == message.position)
    }

    /// Gathers all records of a message. Returns `nil` if the files have none.
    mutating func message(_ part: HistoryPart) -> HistoryMessage? { gathered(part, []) }

    private mutating func gathered(
        _ part: HistoryPart, _ known: [HistoryMessage], since oldest: UInt64 = 0
    ) -> HistoryMessage? {
        var all = known
        search(HistoryHash.sequence(part.sequence), since: oldest) { record, position in
            if position != known.first?.position, part.isPart(record) {
                all.append(HistoryMessage(record: record, position: position))
            }
            return all.count <= Limits.History.stepsShown
        }
        all.sort { $0.position < $1.position }
        guard let first = all.first, let record = HistoryRecord.joined(all.map(\.record)) else { return nil }
        return HistoryMessage(record: record, position: first.position)
    }

    /// Calls a closure with the records of the blocks that may have a key, newest first, down to a file, until it returns `false`.
    private mutating func search(
        _ hash: UInt64, before: HistoryPosition? = nil, since oldest: UInt64 = 0,
        _ body: (HistoryRecord, HistoryPosition) -> Bool
    ) {
        for source in sources
        where source.number >= oldest && before.map({ source.number <= $0.file }) ?? true {
            let found = source.blocks(hash)
            if found.isDamaged { damaged += 1 }
            for block in found.blocks.reversed() {
                if let before, source.number == before.file, block > before.block { continue }
                guard !isExhausted, visit(block, of: source, before: before, { body($1, $2) }) else { return }
            }
        }
    }

    /// Calls a closure with the records of a block between two positions, newest first, until it returns `false`. Returns whether it did not.
    mutating func visit(
        _ block: Int, of source: HistorySource, before: HistoryPosition? = nil, after: HistoryPosition? = nil,
        _ body: (inout HistorySearch, HistoryRecord, HistoryPosition) -> Bool
    ) -> Bool {
        guard let records = records(block, of: source) else { return true }
        for at in records.indices.reversed() {
            let position = HistoryPosition(file: source.number, block: UInt32(block), record: UInt32(at))
            guard before.map({ position < $0 }) ?? true, after.map({ position > $0 }) ?? true else {
                continue
            }
            guard body(&self, records[at], position) else { return false }
        }
        return true
    }

    /// Returns the records of a block; `nil` if it is damaged.
    private mutating func records(_ block: Int, of source: HistorySource) -> [HistoryRecord]? {
        if let known = kept.first(where: { $0.file == source.number && $0.block == block }) {
            return known.records
        }
        examined += 1
        do throws(HistoryDamage) {
            let records = try source.records(block)
            if kept.count >= Limits.History.keptBlocks { kept.removeFirst() }
            kept.append((source.number, block, records))
            return records
        } catch {
            damaged += 1
            return nil
        }
    }
}

/// Records of a device, newest first, by their messages.
private struct DeviceRecords {
    private(set) var all: [HistoryMessage] = []
    /// How many count towards the limit.
    private(set) var counted = 0
    /// The places of the records of each message, newest first.
    private var places: [HistoryPart: [Int]] = [:]

    mutating func append(_ record: HistoryMessage, counts: Bool) {
        if let part = HistoryPart(record.record)?.ofAnySender { places[part, default: []].append(all.count) }
        all.append(record)
        if counts { counted += 1 }
    }

    /// Returns what the records have of the message whose oldest one is at a place. Returns `nil` if that is not the oldest one.
    func message(beginningAt at: Int) -> HistoryMessage? {
        guard let part = HistoryPart(all[at].record), let like = places[part.ofAnySender] else {
            return all[at]
        }
        let own = like.filter { part.isPart(all[$0].record) }
        guard own.last == at, let record = HistoryRecord.joined(own.reversed().map { all[$0].record })
        else { return nil }
        return HistoryMessage(record: record, position: all[at].position)
    }
}

extension HistoryPart {
    /// The same for all senders.
    var ofAnySender: HistoryPart {
        var part = self
        part.sender = 0
        return part
    }
}

extension HistoryRecord {
    /// Whether it has the beginning of its message.
    fileprivate var hasBeginning: Bool {
        guard let first = steps.first?.step else { return false }
        return first == .stored || first == .accepted
    }

    /// Adds the steps of a later record of the same message, and what that has of it.
    private mutating func add(_ later: HistoryRecord) {
        if id.isEmpty { id = later.id }
        if device == 0 { device = later.device }
        if registration == 0 { registration = later.registration }
        if sender == 0 { sender = later.sender }
        if salt == 0 { salt = later.salt }
        steps += later.steps
    }

    /// Returns what records of the same message have, in their order; `byTime` sorts their steps. Returns `nil` if there are none.
    static func joined(_ records: [HistoryRecord], byTime: Bool = false) -> HistoryRecord? {
        guard var whole = records.first else { return nil }
        for more in records.dropFirst() { whole.add(more) }
        if byTime { whole.steps.sort { $0.time < $1.time } }
        whole.steps = Array(whole.steps.prefix(Limits.History.stepsShown))
        return whole
    }
}
