/// The mailboxes of many owners in memory, each in order of sequence.
struct Mailboxes<Element: Sendable>: Sendable {
    private struct Slot: Sendable {
        var sequence: UInt64
        var element: Element
    }
    private var slots: [UInt64: [Slot]] = [:]

    /// Puts an element at a free place; false, and no change, if the place is taken.
    mutating func put(_ element: Element, _ owner: UInt64, _ sequence: UInt64) -> Bool {
        let at = place(of: sequence, slots[owner, default: []])
        if at < slots[owner, default: []].count, slots[owner]?[at].sequence == sequence { return false }
        slots[owner, default: []].insert(Slot(sequence: sequence, element: element), at: at)
        return true
    }

    /// Removes what stands at a place and returns it; nil if nothing does.
    mutating func remove(_ owner: UInt64, _ sequence: UInt64) -> Element? {
        let at = place(of: sequence, slots[owner] ?? [])
        guard let count = slots[owner]?.count, at < count, let slot = slots[owner]?[at],
            slot.sequence == sequence
        else { return nil }
        if count == 1 { slots[owner] = nil } else { slots[owner]?.remove(at: at) }
        return slot.element
    }

    /// What one owner has, oldest first.
    func all(_ owner: UInt64) -> [Element] { (slots[owner] ?? []).map(\.element) }

    /// What one owner has after a place, oldest first, and whether nothing follows it.
    func page(_ owner: UInt64, after: UInt64, limit: Int) -> ([Element], Bool) {
        guard let mailbox = slots[owner] else { return ([], true) }
        var at = place(of: after, mailbox)
        if at < mailbox.count, mailbox[at].sequence == after { at += 1 }
        let page = mailbox[at...].prefix(limit)
        return (page.map(\.element), page.endIndex == mailbox.count)
    }

    /// Visits everything, in no order.
    func forEach(_ body: (Element) -> Void) {
        for mailbox in slots.values { for slot in mailbox { body(slot.element) } }
    }

    private func place(of sequence: UInt64, _ mailbox: [Slot]) -> Int {
        if let last = mailbox.last, last.sequence < sequence { return mailbox.count }
        var (low, high) = (0, mailbox.count)
        while low < high {
            let middle = (low + high) / 2
            if mailbox[middle].sequence < sequence { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
