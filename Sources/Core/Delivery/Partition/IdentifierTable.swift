public import Basics

/// A hash table of objects by 64-bit number: open addressing with linear probing, keyed so that peers cannot provoke collisions.
///
/// Unlike a `Dictionary` its order depends on the key and the history alone, so that a run can be repeated exactly.
public struct IdentifierTable<Value: AnyObject> {
    private var values: [Value?]
    private var numbers: [UInt64]
    private let hash: SipHash
    /// Number of objects.
    public private(set) var count = 0

    /// Creates an empty table, keyed by a secret of the process.
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

    /// The object of a number; `nil` if there is none.
    public subscript(_ number: UInt64) -> Value? { values[place(number)] }

    /// Inserts an object. Returns `false` and changes nothing if the number has an object.
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
            // An entry can move into the hole only if the hole lies between its home slot and its position.
            if (at &- wanted) & mask >= (at &- hole) & mask {
                values[hole] = value
                numbers[hole] = numbers[at]
                hole = at
            }
            at = (at &+ 1) & mask
        }
        values[hole] = nil
    }

    /// All objects, in the order of the table.
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
