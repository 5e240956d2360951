/// The form of a value, for documentation, for front ends that parse text, and for error messages.
public indirect enum ValueForm: Sendable, Equatable {
    case boolean
    case integer(ClosedRange<Int>)
    /// Text with a length in UTF-8 bytes.
    case text(ClosedRange<Int>)
    /// One of several words.
    case word([String])
    /// A whole number that is encoded as text, since many JSON parsers round long ones: a phrase for it, and its range.
    case number(String, ClosedRange<Int>)
    /// Text in a special format, which the phrase describes.
    case named(String)
    /// A time in UTC (RFC 3339).
    case time
    /// An object whose keys are not fixed, which the phrase describes.
    case object(String)
    /// An object with these members.
    case record([FieldDescription])
    /// An array of values of one form.
    case list(ValueForm)

    /// The phrase that follows "expected".
    public var expected: String {
        switch self {
        case .boolean: "true or false"
        case .integer(let range): Self.numbers(range)
        case .text(let range): Self.text(range)
        case .word(let words): "one of \(words.joined(separator: ", "))"
        case .number(let what, let range): "\(what), \(Self.numbers(range))"
        case .named(let phrase): phrase
        case .time: "a time such as 2026-11-20T06:45:12.345Z"
        case .object(let phrase): phrase
        case .record: "an object"
        case .list: "an array"
        }
    }

    private static func numbers(_ range: ClosedRange<Int>) -> String {
        if range == .min ... .max { return "a whole number" }
        return range.upperBound == .max
            ? "a whole number from \(range.lowerBound)"
            : "a whole number from \(range.lowerBound) to \(range.upperBound)"
    }

    private static func text(_ range: ClosedRange<Int>) -> String {
        if range.upperBound == .max { return "text" }
        return range.lowerBound == 0
            ? "text of up to \(range.upperBound) bytes"
            : "text of \(range.lowerBound) to \(range.upperBound) bytes"
    }
}
