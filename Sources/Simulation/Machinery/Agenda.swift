/// What is going to happen, in order of time; what was put in first comes first at the same time.
struct Agenda {
    private struct Item {
        var at: Int64
        var order: UInt64
        var work: () -> Void

        func isBefore(_ other: Item) -> Bool { (at, order) < (other.at, other.order) }
    }

    private var heap: [Item] = []
    private var orders: UInt64 = 0

    /// When the next thing happens, in nanoseconds; nil: nothing is planned.
    var next: Int64? { heap.first?.at }

    /// Plans something.
    mutating func add(at time: Int64, _ work: @escaping () -> Void) {
        orders += 1
        heap.append(Item(at: time, order: orders, work: work))
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard heap[child].isBefore(heap[parent]) else { break }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    /// Takes the next thing out.
    mutating func removeNext() -> (() -> Void)? {
        guard let first = heap.first else { return nil }
        let last = heap.removeLast()
        guard !heap.isEmpty else { return first.work }
        heap[0] = last
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count {
                if heap[child].isBefore(heap[least]) { least = child }
            }
            guard least != parent else { return first.work }
            heap.swapAt(parent, least)
            parent = least
        }
    }
}
