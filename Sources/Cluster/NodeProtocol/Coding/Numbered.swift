import Basics
import Delivery

/// A type whose cases have numbers that are part of the format: a case that is added gets a new number, and none is used again.
protocol Numbered: NodeValue, CaseIterable, Sendable, Equatable {
    /// What the cases are called in an error.
    static var kind: StaticString { get }
    /// Returns the case with a number, or `nil` if there is none.
    static func numbered(_ number: UInt8) -> Self?
    /// The number of the case.
    var number: UInt8 { get }
}

extension Numbered {
    @inline(__always)
    static func code(
        _ value: Self?, _ field: StaticString, _ coder: inout some Coder
    ) throws(Fault) -> Self {
        let number = try coder.byte(value?.number)
        guard let known = value ?? numbered(number) else {
            throw .unknownCase(of: "\(kind)", number: UInt64(number))
        }
        return known
    }

    @inline(__always)
    func write(to w: inout NodeWriter) throws(Fault) { w.buffer.append(byte: number) }
}

/// The numbers of the cases of an enum with values, as raw values.
protocol CaseNumber: Numbered, RawRepresentable<UInt8> {}

extension CaseNumber {
    @inline(__always)
    static func numbered(_ number: UInt8) -> Self? { Self(rawValue: number) }
    @inline(__always)
    var number: UInt8 { rawValue }
}

/// An enum with values.
protocol NodeCases: NodeValue {
    associatedtype Case: CaseNumber
    /// Writes the number of the case and its values.
    func write(to w: inout NodeWriter) throws(Fault)
    /// Reads the values of a case.
    static func read(_ number: Case, from r: inout NodeReader) throws(Fault) -> Self
}

extension NodeCases {
    @inline(__always)
    static func code(
        _ value: Self?, _ field: StaticString, _ coder: inout some Coder
    ) throws(Fault) -> Self {
        try coder.cases(value)
    }
}

/// An enum of another module without values: its numbers are in `NumberedCases`.
protocol Listed: Numbered {
    static var numbers: NumberTable<Self> { get }
}

extension Listed {
    static var kind: StaticString { numbers.kind }
    @inline(__always)
    static func numbered(_ number: UInt8) -> Self? { numbers[number] }
    @inline(__always)
    var number: UInt8 { Self.numbers[self] }
}

/// The cases of an enum in the order of their numbers, which begin with 1. A case that is added goes to the end.
struct NumberTable<Case: CaseIterable & Equatable & Sendable>: Sendable {
    let kind: StaticString
    private let cases: [Case]

    init(_ kind: StaticString, _ cases: [Case]) {
        precondition(
            Case.allCases.allSatisfy { known in cases.count { $0 == known } == 1 }, "a number is not one case"
        )
        self.kind = kind
        self.cases = cases
    }

    subscript(number: UInt8) -> Case? {
        (1...cases.count).contains(Int(number)) ? cases[Int(number) - 1] : nil
    }

    subscript(known: Case) -> UInt8 {
        for index in cases.indices where cases[index] == known { return UInt8(index + 1) }
        preconditionFailure("a case has no number")
    }
}
