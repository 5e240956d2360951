import Basics

/// When submissions stop waiting for Apple's verdict: a list in the order of their deadlines, from which any can be removed.
///
/// All wait equally long, so a new one is the last. The entries of a removed one are used again: the memory is that of the most that
/// have waited at once.
struct VerdictDeadlines {
    /// A submission in the list. It stays valid after its removal, and then names none.
    struct Handle {
        fileprivate let position: Int32
        fileprivate let generation: UInt32
    }

    private struct Entry {
        var due: Instant
        var name: RegistrationName
        var sequence: SequenceNumber
        var generation: UInt32 = 0
        /// The neighbours in the list.
        var previous: Int32?
        var next: Int32?
    }

    private var entries: [Entry] = []
    private var vacant: [Int32] = []
    private var first: Int32?
    private var last: Int32?

    /// The number of submissions.
    var count: Int { entries.count - vacant.count }

    /// Adds a submission whose deadline is not before any other.
    mutating func add(_ name: RegistrationName, _ sequence: SequenceNumber, due: Instant) -> Handle {
        var entry = Entry(due: due, name: name, sequence: sequence, previous: last)
        let position: Int32
        if let free = vacant.popLast() {
            position = free
            entry.generation = entries[Int(free)].generation
            entries[Int(free)] = entry
        } else {
            position = Int32(entries.count)
            entries.append(entry)
        }
        if let last { entries[Int(last)].next = position } else { first = position }
        last = position
        return Handle(position: position, generation: entry.generation)
    }

    /// Removes a submission, if it has not been removed.
    mutating func remove(_ handle: Handle) {
        let at = Int(handle.position)
        guard entries[at].generation == handle.generation else { return }
        let (previous, next) = (entries[at].previous, entries[at].next)
        if let previous { entries[Int(previous)].next = next } else { first = next }
        if let next { entries[Int(next)].previous = previous } else { last = previous }
        entries[at].generation &+= 1
        vacant.append(handle.position)
    }

    /// Removes and returns the first submission whose time is over.
    mutating func popOverdue(_ now: Instant) -> (name: RegistrationName, sequence: SequenceNumber)? {
        guard let first, entries[Int(first)].due <= now else { return nil }
        let entry = entries[Int(first)]
        remove(Handle(position: first, generation: entry.generation))
        return (entry.name, entry.sequence)
    }
}
