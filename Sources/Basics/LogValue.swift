/// What a log field holds.
package enum LogValue: Sendable, Equatable {
    /// Text; whatever a stranger put in it is escaped and cut when written.
    case text(String)
    /// A whole number.
    case number(Int64)
    /// Yes or no.
    case truth(Bool)
}

extension LogValue: ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral
{
    /// Text.
    package init(stringLiteral value: String) { self = .text(value) }
    /// A number.
    package init(integerLiteral value: Int64) { self = .number(value) }
    /// Yes or no.
    package init(booleanLiteral value: Bool) { self = .truth(value) }
    /// A number of any integer type; what does not fit is clamped.
    package init(_ value: some BinaryInteger) { self = .number(Int64(clamping: value)) }
    /// Text.
    package init(_ value: String) { self = .text(value) }
    /// Yes or no.
    package init(_ value: Bool) { self = .truth(value) }
    /// The word of an enum of ours: a close reason, a milestone, a level.
    package init(_ value: some RawRepresentable<String>) { self = .text(value.rawValue) }
}

/// The fields of a log line, in the order in which they are written.
package typealias LogFields = KeyValuePairs<StaticString, LogValue>
