import Basics
import Delivery

/// A type whose cases have numbers that are part of the format: a case that is added gets a new number, and none is used again.
protocol Numbered: CaseIterable, Sendable, Equatable {
    /// What the cases are called in an error.
    static var kind: StaticString { get }
    /// The cases by their numbers; a constant, so that reading does not allocate.
    static var table: NumberTable<Self> { get }
    /// The number of the case.
    var number: UInt8 { get }
}

/// The cases of a type by their numbers.
struct NumberTable<Case: Numbered>: Sendable {
    private let cases: [Case?]

    init() {
        var cases = [Case?](repeating: nil, count: 256)
        for known in Case.allCases {
            precondition(cases[Int(known.number)] == nil, "two cases have one number")
            cases[Int(known.number)] = known
        }
        self.cases = cases
    }

    /// The case with a number. `nil` if there is none.
    subscript(number: UInt8) -> Case? { cases[Int(number)] }
}

extension NodeWriter {
    mutating func write(_ value: some Numbered) { byte(value.number) }
}

extension NodeReader {
    @_lifetime(self: copy self)
    mutating func numbered<Case: Numbered>() throws(NodeProtocolFault) -> Case {
        let number = try byte()
        guard let known = Case.table[number] else {
            throw .unknownCase(of: "\(Case.kind)", number: UInt64(number))
        }
        return known
    }
}
