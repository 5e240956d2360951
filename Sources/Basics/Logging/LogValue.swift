/// What a log field holds.
public enum LogValue: Sendable, Equatable {
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
    public init(stringLiteral value: String) { self = .text(value) }
    /// A number.
    public init(integerLiteral value: Int64) { self = .number(value) }
    /// Yes or no.
    public init(booleanLiteral value: Bool) { self = .truth(value) }
    /// A number of any integer type; what does not fit is clamped.
    public init(_ value: some BinaryInteger) { self = .number(Int64(clamping: value)) }
    /// The word of an enum of ours: a close reason, a milestone, a level.
    public init(_ value: some RawRepresentable<String>) { self = .text(value.rawValue) }
}

/// The fields of a log line, in the order in which they are written.
public typealias LogFields = KeyValuePairs<StaticString, LogValue>
