/// A sorted list of expiry keys.
struct SortedKeys: Sendable {
    /// Ascending.
    private(set) var keys: [ExpiryKey] = []

    /// Inserts a key that is not in the list.
    mutating func insert(_ key: ExpiryKey) { keys.insert(key, at: place(of: key)) }

    /// Removes a key if it is in the list.
    mutating func remove(_ key: ExpiryKey) {
        let at = place(of: key)
        if at < keys.count, keys[at] == key { keys.remove(at: at) }
    }

    private func place(of key: ExpiryKey) -> Int {
        if let last = keys.last, last < key { return keys.count }
        var (low, high) = (0, keys.count)
        while low < high {
            let middle = (low + high) / 2
            if keys[middle] < key { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
