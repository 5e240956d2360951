/// The schedule of future work, by time; work for the same time runs in the order in which it was added.
///
/// Work in the far future waits in a list per eighth of a second, so that the heap stays small.
struct Agenda {
    private struct Item {
        var at: Int64
        var order: UInt64
        var place: Int

        func isBefore(_ other: Item) -> Bool { at != other.at ? at < other.at : order < other.order }
    }

    /// A type of its own, since closures that are elements of an array are wrapped twice.
    private struct Work {
        var item: Item
        var body: (() -> Void)?
        /// Index of the next item in the same list; -1 for none.
        var next: Int
    }

    /// Binary logarithm of the nanoseconds per list: about an eighth of a second.
    private static let listBits: Int64 = 27
    /// Enough for the longest world; anything later is in the last list.
    private static let listCount = 2_048

    private var heap: [Item] = []
    private var work: [Work] = []
    private var free: [Int] = []
    private var orders: UInt64 = 0
    /// Index of the first item of each list; -1 for none.
    private var lists = [Int](repeating: -1, count: Self.listCount)
    /// The list that was moved to the heap last.
    private var current = -1
    private var count = 0

    /// Returns the time of the next item in nanoseconds, or `nil` if there is none.
    mutating func next() -> Int64? {
        guard count > 0 else { return nil }
        while heap.isEmpty {
            current += 1
            var place = lists[current]
            lists[current] = -1
            while place >= 0 {
                push(work[place].item)
                place = work[place].next
            }
        }
        return heap[0].at
    }

    /// Adds work at a time.
    mutating func add(at time: Int64, _ body: consuming @escaping () -> Void) {
        orders += 1
        count += 1
        let place = free.popLast() ?? work.count
        let item = Item(at: time, order: orders, place: place)
        var entry = Work(item: item, body: body, next: -1)
        let list = Int(min(time >> Self.listBits, Int64(Self.listCount - 1)))
        if list > current {
            entry.next = lists[list]
            lists[list] = place
        } else {
            push(item)
        }
        if place == work.count { work.append(entry) } else { work[place] = entry }
    }

    /// Removes and returns the next item.
    mutating func removeNext() -> (() -> Void)? {
        guard next() != nil, let last = heap.popLast() else { return nil }
        let place = heap.first?.place ?? last.place
        count -= 1
        free.append(place)
        // Swapped out to avoid a retain.
        var body: (() -> Void)?
        swap(&body, &work[place].body)
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

    private mutating func push(_ item: Item) {
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
}
