/// The value of a log field.
public enum LogValue: Sendable, Equatable {
    /// Text; untrusted content is escaped and cut when written.
    case text(String)
    case number(Int64)
    case boolean(Bool)
}

extension LogValue: ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral
{
    public init(stringLiteral value: String) { self = .text(value) }
    public init(integerLiteral value: Int64) { self = .number(value) }
    public init(booleanLiteral value: Bool) { self = .boolean(value) }
    /// A number of any integer type; values out of range are clamped.
    public init(_ value: some BinaryInteger) { self = .number(Int64(clamping: value)) }
    /// The raw value of an enum: a close reason, a milestone, a level.
    public init(_ value: some RawRepresentable<String>) { self = .text(value.rawValue) }
}

/// The fields of a log line, in the order in which they are written.
public typealias LogFields = KeyValuePairs<StaticString, LogValue>
