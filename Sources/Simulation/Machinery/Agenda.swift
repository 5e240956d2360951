/// What is going to happen, in order of time; what was put in first comes first at the same time.
struct Agenda {
    /// The work stands apart, so that moving items about counts no references.
    private struct Item {
        var at: Int64
        var order: UInt64
        var place: Int

        func isBefore(_ other: Item) -> Bool { at != other.at ? at < other.at : order < other.order }
    }

    private var heap: [Item] = []
    private var work: [(() -> Void)?] = []
    private var free: [Int] = []
    private var orders: UInt64 = 0

    /// When the next thing happens, in nanoseconds; nil: nothing is planned.
    var next: Int64? { heap.first?.at }

    /// Plans something.
    mutating func add(at time: Int64, _ body: @escaping () -> Void) {
        orders += 1
        var place = work.count
        if let last = free.popLast() {
            place = last
            work[place] = body
        } else {
            work.append(body)
        }
        let item = Item(at: time, order: orders, place: place)
        heap.append(item)
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard item.isBefore(heap[parent]) else { break }
            heap[child] = heap[parent]
            child = parent
        }
        heap[child] = item
    }

    /// Takes the next thing out.
    mutating func removeNext() -> (() -> Void)? {
        guard let first = heap.first, let last = heap.popLast() else { return nil }
        defer { free.append(first.place) }
        let body = work[first.place]
        work[first.place] = nil
        guard !heap.isEmpty else { return body }
        var parent = 0
        while true {
            var child = 2 * parent + 1
            guard child < heap.count else { break }
            if child + 1 < heap.count, heap[child + 1].isBefore(heap[child]) { child += 1 }
            guard heap[child].isBefore(last) else { break }
            heap[parent] = heap[child]
            parent = child
        }
        heap[parent] = last
        return body
    }
}
