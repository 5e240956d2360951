/// Counts how often a test generator has reached each kind of event that it is meant to produce.
///
/// A generator that never reaches a state does not test it: tests check `missing`.
public struct ReachTally<Kind: RawRepresentable & CaseIterable & Hashable & Sendable>: Sendable, Equatable,
    CustomStringConvertible
where Kind.RawValue == String {
    private var counts: [Kind: Int] = [:]

    public init() {}

    /// How often a kind was reached.
    public subscript(kind: Kind) -> Int { counts[kind] ?? 0 }

    /// Counts a kind as reached `count` times more.
    public mutating func record(_ kind: Kind, _ count: Int = 1) { counts[kind, default: 0] += count }

    /// Adds the counts of another tally.
    public mutating func add(_ other: ReachTally) { counts.merge(other.counts) { $0 + $1 } }

    /// Returns the kinds that were reached less than `floor` times, or less than their own minimum in `floors`.
    public func missing(below floor: Int = 1, _ floors: [Kind: Int] = [:]) -> [Kind] {
        Kind.allCases.filter { self[$0] < floors[$0] ?? floor }
    }

    /// All kinds with their counts, one per line.
    public var description: String {
        Kind.allCases.map { "\($0.rawValue) \(self[$0])" }.joined(separator: "\n")
    }
}
