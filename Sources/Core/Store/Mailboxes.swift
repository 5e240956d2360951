public import Basics

/// Mailboxes of many owners in memory, each in order of sequence.
public struct Mailboxes<Element: Sendable>: Sendable {
    private struct Slot: Sendable {
        var sequence: UInt64
        /// `nil` once it was removed. The slot stays until the mailbox is compacted.
        var element: Element?
    }

    /// The slots of one owner. Most messages are added at the end and removed at the start, which moves no other slot.
    private struct Mailbox: Sendable {
        var slots: [Slot] = []
        /// Number of empty slots.
        var empty = 0
        /// All slots before this index are empty.
        var start = 0

        /// Returns the index of the first slot whose sequence is not less.
        @inline(__always) func place(of sequence: UInt64) -> Int {
            if let last = slots.last, last.sequence < sequence { return slots.count }
            var (low, high) = (start, slots.count)
            while low < high {
                let middle = (low + high) / 2
                if slots[middle].sequence < sequence { low = middle + 1 } else { high = middle }
            }
            return low
        }

        /// Returns whether the element was put, and whether the mailbox had no slots before.
        mutating func put(_ element: Element, _ sequence: UInt64) -> (isPut: Bool, wasEmpty: Bool) {
            let wasEmpty = slots.isEmpty
            let at = place(of: sequence)
            if at == slots.count {
                slots.append(Slot(sequence: sequence, element: element))
            } else if slots[at].sequence == sequence {
                guard slots[at].element == nil else { return (false, false) }
                slots[at].element = element
                empty -= 1
            } else {
                slots.insert(Slot(sequence: sequence, element: element), at: at)
            }
            return (true, wasEmpty)
        }

        mutating func remove(_ sequence: UInt64) -> Element? {
            let at = place(of: sequence)
            guard at < slots.count, slots[at].sequence == sequence, let element = slots[at].element else {
                return nil
            }
            slots[at].element = nil
            empty += 1
            while start < slots.count, slots[start].element == nil { start += 1 }
            // Each element is moved at most once for each removed one.
            if empty * 2 > slots.count, empty >= 32 || empty == slots.count {
                slots.removeAll { $0.element == nil }
                (empty, start) = (0, 0)
                if slots.isEmpty, slots.capacity > Limits.Journal.emptyMailboxSlots { slots = [] }
            }
            return element
        }
    }

    private var mailboxes: [UInt64: Mailbox] = [:]
    /// Number of mailboxes without slots. They are kept for a while: most owners get their next message soon.
    private var emptyMailboxes = 0
    /// Number of mailboxes, empty ones included.
    var count: Int { mailboxes.count }

    /// Number of empty mailboxes to keep.
    private let kept: Int

    /// Creates an empty collection that keeps up to `kept` empty mailboxes.
    public init(kept: Int = Limits.Journal.emptyMailboxes) { self.kept = kept }

    /// The element at a key. `nil` if there is none.
    public subscript(owner: UInt64, sequence: UInt64) -> Element? {
        guard let mailbox = mailboxes[owner] else { return nil }
        let at = mailbox.place(of: sequence)
        guard at < mailbox.slots.count, mailbox.slots[at].sequence == sequence else { return nil }
        return mailbox.slots[at].element
    }

    /// Puts an element. Returns `false` and changes nothing if the key is taken.
    @discardableResult public mutating func put(_ element: Element, _ owner: UInt64, _ sequence: UInt64)
        -> Bool
    {
        let before = count
        let (isPut, wasEmpty) = mailboxes[owner, default: Mailbox()].put(element, sequence)
        if wasEmpty, count == before { emptyMailboxes -= 1 }
        return isPut
    }

    /// Removes an element and returns it. Returns `nil` if there is none.
    @discardableResult public mutating func remove(_ owner: UInt64, _ sequence: UInt64) -> Element? {
        guard let index = mailboxes.index(forKey: owner) else { return nil }
        let element = mailboxes.values[index].remove(sequence)
        if element != nil, mailboxes.values[index].slots.isEmpty { countEmptyMailbox() }
        return element
    }

    /// Counts one more empty mailbox, and removes all of them once they are many and more than half.
    private mutating func countEmptyMailbox() {
        emptyMailboxes += 1
        guard emptyMailboxes >= kept, emptyMailboxes * 2 > count else { return }
        mailboxes = mailboxes.filter { !$0.value.slots.isEmpty }
        emptyMailboxes = 0
    }

    /// Returns the elements of an owner, oldest first.
    public func all(_ owner: UInt64) -> [(sequence: UInt64, element: Element)] {
        (mailboxes[owner]?.slots ?? []).compactMap { slot in slot.element.map { (slot.sequence, $0) } }
    }

    /// Returns up to `limit` elements of an owner after a sequence, oldest first, and whether no others follow.
    public func page(_ owner: UInt64, after: UInt64, limit: Int) -> (
        [(sequence: UInt64, element: Element)], isLast: Bool
    ) {
        guard let mailbox = mailboxes[owner], after < .max else { return ([], true) }
        var page: [(sequence: UInt64, element: Element)] = []
        for slot in mailbox.slots[mailbox.place(of: after + 1)...] {
            guard let element = slot.element else { continue }
            guard page.count < limit else { return (page, false) }
            page.append((slot.sequence, element))
        }
        return (page, true)
    }

    /// Visits all elements, in no particular order.
    public func forEach(_ body: (_ owner: UInt64, _ sequence: UInt64, Element) -> Void) {
        for (owner, mailbox) in mailboxes {
            for slot in mailbox.slots {
                if let element = slot.element { body(owner, slot.sequence, element) }
            }
        }
    }
}
