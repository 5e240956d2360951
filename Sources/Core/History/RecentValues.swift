/// The values that a block had last, by a hash of theirs, so that one that comes again takes one byte. The writer and the reader of a block
/// change it in the same way.
struct RecentValues {
    private var values: [UInt64]
    /// A number that came with each value.
    private var companions: [UInt64]

    init() {
        values = Array(repeating: 0, count: 256)
        companions = values
    }

    /// Forgets all, for the next block.
    mutating func removeAll() {
        for at in 0..<256 {
            values[at] = 0
            companions[at] = 0
        }
    }

    /// The place of a value.
    @inline(__always)
    static func place(of value: UInt64) -> Int { Int(truncatingIfNeeded: HistoryHash.mix(value) >> 56) }

    /// Puts a value into its place. Returns whether it was there; if not, `companion` now comes with it.
    @inline(__always)
    mutating func use(_ value: UInt64, at place: Int, companion: UInt64 = 0) -> Bool {
        if values[place] == value { return true }
        values[place] = value
        companions[place] = companion
        return false
    }

    /// The value of a place; 0 if there is none.
    subscript(place: Int) -> UInt64 { values[place] }

    /// Puts the number that comes with the value of a place. Returns whether it was there.
    @inline(__always)
    mutating func useCompanion(_ value: UInt64, at place: Int) -> Bool {
        if companions[place] == value { return true }
        companions[place] = value
        return false
    }

    /// The number that came with the value of a place last.
    func companion(at place: Int) -> UInt64 { companions[place] }
}

/// How a number of a record is written; the raw value is part of the format.
enum NumberForm: UInt8 {
    /// It is 0.
    case none = 0
    /// By its place among the recent ones.
    case recent = 1
    /// In full.
    case full = 2
    /// Not at all: it is the one that was expected.
    case expected = 3
}
