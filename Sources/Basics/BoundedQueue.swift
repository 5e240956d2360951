/// A first-in first-out queue that refuses what does not fit.
///
/// It is a ring whose storage grows by doubling up to its limit, so an idle one costs little; it is never
/// larger than the limit, and never drops what it took.
public struct BoundedQueue<Element> {
    /// Elements that it holds at most.
    public let limit: Int
    /// Elements held.
    public private(set) var count = 0
    private var ring: ContiguousArray<Element?> = []
    private var head = 0

    /// An empty queue; `limit` comes from `Limits` or the configuration.
    public init(limit: Int) {
        precondition(limit > 0, "a queue holds at least one element")
        self.limit = limit
    }

    /// Whether nothing is held.
    public var isEmpty: Bool { count == 0 }
    /// Whether the next element would be refused.
    public var isFull: Bool { count == limit }
    /// The element that `popFirst` would return.
    public var first: Element? { count == 0 ? nil : ring[head] }

    /// Takes an element; false if the queue is full and the element was refused.
    @discardableResult
    public mutating func append(_ element: Element) -> Bool {
        guard count < limit else { return false }
        if count == ring.count { grow() }
        var at = head &+ count
        if at >= ring.count { at &-= ring.count }
        ring[at] = element
        count &+= 1
        return true
    }

    /// Removes and returns the oldest element; nil when empty.
    public mutating func popFirst() -> Element? {
        guard count > 0 else { return nil }
        let element = ring[head].take()
        head &+= 1
        if head == ring.count { head = 0 }
        count &-= 1
        return element
    }

    /// Drops all elements and gives the storage back.
    public mutating func removeAll() {
        ring = []
        head = 0
        count = 0
    }

    private mutating func grow() {
        let size = min(limit, max(8, ring.count * 2))
        var grown = ContiguousArray<Element?>()
        grown.reserveCapacity(size)
        for offset in 0..<count { grown.append(ring[(head + offset) % ring.count]) }
        for _ in count..<size { grown.append(nil) }
        ring = grown
        head = 0
    }
}
