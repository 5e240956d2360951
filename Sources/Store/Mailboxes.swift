public import Basics

/// The mailboxes of many owners in memory, each in order of sequence.
public struct Mailboxes<Element: Sendable>: Sendable {
    private struct Slot: Sendable {
        var sequence: UInt64
        /// Nil where it was removed; the place goes with the next sweep.
        var element: Element?
    }

    /// The slots of one owner. Most messages come at the end and go at the begin: neither moves the others.
    private struct Mailbox: Sendable {
        var slots: [Slot] = []
        /// How many of them are empty.
        var empty = 0
        /// Those before are empty.
        var start = 0

        /// The first slot whose sequence is not less.
        @inline(__always) func place(of sequence: UInt64) -> Int {
            if let last = slots.last, last.sequence < sequence { return slots.count }
            var (low, high) = (start, slots.count)
            while low < high {
                let middle = (low + high) / 2
                if slots[middle].sequence < sequence { low = middle + 1 } else { high = middle }
            }
            return low
        }

        /// Whether it was put, and whether there was nothing before.
        mutating func put(_ element: Element, _ sequence: UInt64) -> (isPut: Bool, wasHollow: Bool) {
            let wasHollow = slots.isEmpty
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
            return (true, wasHollow)
        }

        mutating func remove(_ sequence: UInt64) -> Element? {
            let at = place(of: sequence)
            guard at < slots.count, slots[at].sequence == sequence, let element = slots[at].element else {
                return nil
            }
            slots[at].element = nil
            empty += 1
            while start < slots.count, slots[start].element == nil { start += 1 }
            // Each element is moved once at most for each one that went.
            if empty * 2 > slots.count, empty >= 32 || empty == slots.count {
                slots.removeAll { $0.element == nil }
                (empty, start) = (0, 0)
                if slots.isEmpty, slots.capacity > Limits.Journal.emptyMailboxSlots { slots = [] }
            }
            return element
        }
    }

    private var mailboxes: [UInt64: Mailbox] = [:]
    /// How many of them hold nothing. They stay for a while: most owners get their next message soon.
    private var hollow = 0
    /// How many there are, those that hold nothing among them.
    var count: Int { mailboxes.count }

    /// How many of those that hold nothing stay.
    private let kept: Int

    /// Holds nothing.
    public init(kept: Int = Limits.Journal.emptyMailboxes) { self.kept = kept }

    /// What stands at a place; nil: nothing.
    public subscript(owner: UInt64, sequence: UInt64) -> Element? {
        guard let mailbox = mailboxes[owner] else { return nil }
        let at = mailbox.place(of: sequence)
        guard at < mailbox.slots.count, mailbox.slots[at].sequence == sequence else { return nil }
        return mailbox.slots[at].element
    }

    /// Puts an element at a free place; false, and no change, if the place is taken.
    @discardableResult public mutating func put(_ element: Element, _ owner: UInt64, _ sequence: UInt64)
        -> Bool
    {
        let before = count
        let (isPut, wasHollow) = mailboxes[owner, default: Mailbox()].put(element, sequence)
        if wasHollow, count == before { hollow -= 1 }
        return isPut
    }

    /// Removes what stands at a place and returns it; nil if nothing does.
    @discardableResult public mutating func remove(_ owner: UInt64, _ sequence: UInt64) -> Element? {
        guard let index = mailboxes.index(forKey: owner) else { return nil }
        let element = mailboxes.values[index].remove(sequence)
        if element != nil, mailboxes.values[index].slots.isEmpty { hollowed() }
        return element
    }

    /// One more holds nothing: they go where there are many, and most are so.
    private mutating func hollowed() {
        hollow += 1
        guard hollow >= kept, hollow * 2 > count else { return }
        mailboxes = mailboxes.filter { !$0.value.slots.isEmpty }
        hollow = 0
    }

    /// What one owner has, oldest first, with its sequences.
    public func all(_ owner: UInt64) -> [(sequence: UInt64, element: Element)] {
        (mailboxes[owner]?.slots ?? []).compactMap { slot in slot.element.map { (slot.sequence, $0) } }
    }

    /// What one owner has after a place, oldest first, and whether nothing follows it.
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

    /// Visits everything, in no order.
    public func forEach(_ body: (_ owner: UInt64, _ sequence: UInt64, Element) -> Void) {
        for (owner, mailbox) in mailboxes {
            for slot in mailbox.slots {
                if let element = slot.element { body(owner, slot.sequence, element) }
            }
        }
    }
}
