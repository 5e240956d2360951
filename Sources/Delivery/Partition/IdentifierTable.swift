public import Basics

/// Objects by 64-bit number: open addressing with linear probing, keyed so that strangers cannot make it slow.
///
/// Unlike a Dictionary its order depends on the key and the history alone, so that a run can be repeated exactly.
public struct IdentifierTable<Value: AnyObject> {
    private var values: [Value?]
    private var numbers: [UInt64]
    private let hash: SipHash
    /// Objects in the table.
    public private(set) var count = 0

    /// An empty table, keyed by a secret of the process.
    public init(hash: SipHash) {
        self.hash = hash
        values = [Value?](repeating: nil, count: 16)
        numbers = [UInt64](repeating: 0, count: 16)
    }

    private var mask: Int { values.count &- 1 }

    private func home(_ number: UInt64) -> Int { Int(truncatingIfNeeded: hash.hash(number)) & mask }

    private func place(_ number: UInt64) -> Int {
        var at = home(number)
        while values[at] != nil, numbers[at] != number { at = (at &+ 1) & mask }
        return at
    }

    /// The object of a number.
    public subscript(_ number: UInt64) -> Value? { values[place(number)] }

    /// Puts an object under a number that has none. Returns whether it has; otherwise nothing changes.
    @discardableResult public mutating func insert(_ value: Value, for number: UInt64) -> Bool {
        if (count &+ 1) &* 4 > values.count &* 3 { grow() }
        let at = place(number)
        guard values[at] == nil else { return false }
        values[at] = value
        numbers[at] = number
        count += 1
        return true
    }

    /// Removes the object of a number, if there is one.
    public mutating func remove(_ number: UInt64) {
        var hole = place(number)
        guard values[hole] != nil else { return }
        count -= 1
        var at = (hole &+ 1) & mask
        while let value = values[at] {
            let wanted = home(numbers[at])
            // It may move into the hole only if that lies on its way from home.
            if (at &- wanted) & mask >= (at &- hole) & mask {
                values[hole] = value
                numbers[hole] = numbers[at]
                hole = at
            }
            at = (at &+ 1) & mask
        }
        values[hole] = nil
    }

    /// All objects, in the table's order.
    public var all: [Value] { values.compactMap { $0 } }

    private mutating func grow() {
        let oldValues = values
        let oldNumbers = numbers
        values = [Value?](repeating: nil, count: oldValues.count &* 2)
        numbers = [UInt64](repeating: 0, count: values.count)
        for (value, number) in zip(oldValues, oldNumbers) where value != nil {
            let at = place(number)
            values[at] = value
            numbers[at] = number
        }
    }
}
