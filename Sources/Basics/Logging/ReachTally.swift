/// How often a generator of tests has reached each of the kinds of events that it is there for.
///
/// A generator that never reaches a state does not test it, whatever it finds elsewhere: tests check `missing`.
public struct ReachTally<Kind: RawRepresentable & CaseIterable & Hashable & Sendable>: Sendable, Equatable,
    CustomStringConvertible
where Kind.RawValue == String {
    private var counts: [Kind: Int] = [:]

    /// Nothing was reached.
    public init() {}

    /// How often a kind was reached.
    public subscript(kind: Kind) -> Int { counts[kind] ?? 0 }

    /// Notes that a kind was reached `count` times more.
    public mutating func note(_ kind: Kind, _ count: Int = 1) { counts[kind, default: 0] += count }

    /// Adds what was reached elsewhere.
    public mutating func add(_ other: ReachTally) { counts.merge(other.counts) { $0 + $1 } }

    /// Kinds that were reached less than `floor` times, or than their own floor.
    public func missing(below floor: Int = 1, _ floors: [Kind: Int] = [:]) -> [Kind] {
        Kind.allCases.filter { self[$0] < floors[$0] ?? floor }
    }

    /// All kinds with their counts, one a line.
    public var description: String {
        Kind.allCases.map { "\($0.rawValue) \(self[$0])" }.joined(separator: "\n")
    }
}
