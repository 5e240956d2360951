import Basics
import Store

/// What the committing thread knows of messages that are not in the engine yet: young ones.
///
/// Most messages are gone a moment after they were put. They stand in the journal and in memory; what has outlived
/// `Limits.Journal.recentBytes` of the journal is settled, oldest commit first: written to the engine. Which upstream messages may be
/// repeated is known here until the engine has it on the disk: of what it has in memory it keeps no order (`EngineOptions`).
struct YoungIndex: Sendable {
    /// A young message.
    struct Entry: Sendable {
        var header: MessageRecord.Header
        /// The commit that put it.
        var commit: UInt64
    }

    private struct Seen: Sendable {
        var time: UnixMilliseconds
        var commit: UInt64
    }

    /// A commit that has not been settled.
    private struct Mark: Sendable {
        var commit: UInt64
        var places: Int
        var seen: Int
        var bytes: Int
    }

    private var places: [Place: Entry] = [:]
    private var seen: [SeenKey: Seen] = [:]
    private var marks = Fifo<Mark>()
    private var putPlaces = Fifo<Place>()
    private var putSeen = Fifo<(key: SeenKey, time: UnixMilliseconds)>()
    private var settledSeen = Fifo<(key: SeenKey, commit: UInt64)>()
    /// How many of each belong to the commit that is being made.
    private var made = (places: 0, seen: 0)
    /// No message that is young, or was, has a higher sequence.
    private(set) var highest: UInt64 = 0
    /// Bytes of the journal in commits that have not been settled.
    private(set) var bytes = 0

    /// The last commit that was ended, and the last one that was settled.
    private var ended: UInt64 = 0
    private var settled: UInt64 = 0

    /// A young message; nil: there is none at that place.
    subscript(place: Place) -> Entry? { places[place] }

    /// When a message was put that may be repeated; nil: that is not known here.
    subscript(key: SeenKey) -> UnixMilliseconds? { seen[key]?.time }

    /// The commit being made puts a message.
    mutating func put(_ place: Place, _ header: MessageRecord.Header, commit: UInt64) throws(StoreError) {
        try demand(commit > ended, "a message is put by a commit that has ended", "\(place)")
        let found = places.updateValue(Entry(header: header, commit: commit), forKey: place)
        try demand(found == nil, "a message is put where a recent one is", "\(place)")
        putPlaces.append(place)
        highest = max(highest, place.sequence)
        made.places += 1
    }

    /// The commit being made removes a message; what it was, nil where it is not young.
    @discardableResult mutating func remove(_ place: Place) -> Entry? {
        guard let index = places.index(forKey: place) else { return nil }
        return places.remove(at: index).value
    }

    /// The commit being made puts a message that may be repeated.
    mutating func put(_ key: SeenKey, at time: UnixMilliseconds, commit: UInt64) {
        seen[key] = Seen(time: time, commit: commit)
        putSeen.append((key, time))
        made.seen += 1
    }

    /// The commit is in the journal, with so many bytes.
    mutating func end(_ commit: UInt64, bytes: Int) throws(StoreError) {
        try demand(commit > ended, "commits end out of order")
        try demand(bytes > 0, "a commit ends without bytes")
        ended = commit
        marks.append(Mark(commit: commit, places: made.places, seen: made.seen, bytes: bytes))
        self.bytes += bytes
        made = (0, 0)
    }

    /// What is left of the oldest commits.
    struct Survivors: Sendable {
        /// The last one of them; nil: none.
        var commit: UInt64?
        var places: [Place] = []
        var seen: [(key: SeenKey, time: UnixMilliseconds)] = []

        /// Whether nothing of them is left for the engine.
        var isEmpty: Bool { places.isEmpty && seen.isEmpty }
    }

    /// Takes out the oldest commits, until no more than so many bytes are left.
    mutating func settle(to limit: Int) throws(StoreError) -> Survivors {
        var left = Survivors()
        while bytes > limit, let mark = marks.first {
            marks.removeFirst()
            try demand(mark.commit > settled, "commits leave memory out of order")
            settled = mark.commit
            bytes -= mark.bytes
            try demand(bytes >= 0, "more bytes leave memory than came")
            left.commit = mark.commit
            for _ in 0..<mark.places {
                let place = try demand(putPlaces.popFirst(), "a commit has put more messages than are queued")
                // Where it was removed and put again it belongs to a later commit.
                guard places[place]?.commit == mark.commit else { continue }
                places[place] = nil
                left.places.append(place)
            }
            for _ in 0..<mark.seen {
                let put = try demand(putSeen.popFirst(), "a commit has put more repeats than are queued")
                left.seen.append(put)
                settledSeen.append((put.key, mark.commit))
            }
        }
        try demand(bytes == 0 || marks.first != nil, "bytes are kept of no commit")
        return left
    }

    /// The engine has all up to a commit on the disk: what is known here of repeats need not be, so many of them at a time.
    mutating func forget(upTo commit: UInt64, atMost count: Int) {
        for _ in 0..<count {
            guard let first = settledSeen.first, first.commit <= commit else { return }
            settledSeen.removeFirst()
            guard let index = seen.index(forKey: first.key) else { continue }
            // Put again since, after a day: the engine does not have that yet.
            if seen.values[index].commit == first.commit { seen.remove(at: index) }
        }
    }
}

/// A queue whose storage follows what is in it.
struct Fifo<Element: Sendable>: Sendable {
    private var elements: [Element] = []
    private var start = 0

    var first: Element? { start < elements.count ? elements[start] : nil }

    mutating func append(_ element: Element) { elements.append(element) }

    /// Removes the oldest element and returns it. Returns `nil` if the queue is empty.
    mutating func popFirst() -> Element? { first == nil ? nil : removeFirst() }

    /// Takes the oldest element; there must be one.
    @discardableResult mutating func removeFirst() -> Element {
        let element = elements[start]
        start += 1
        // Each element is moved once at most for each one that was taken.
        if start * 2 > elements.count, start >= 1_024 {
            elements.removeFirst(start)
            start = 0
        }
        return element
    }
}
