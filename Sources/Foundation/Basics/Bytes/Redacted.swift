/// A secret that never appears in logs, descriptions, dumps or crash texts: keys, passwords, security tokens.
public struct Redacted<Value: Sendable>: Sendable {
    private let value: Value

    /// Wraps a secret.
    public init(_ value: Value) { self.value = value }

    /// The secret; the distinct name makes each place that reads it easy to find.
    public var revealed: Value { value }
}

extension Redacted: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Always `<redacted>`.
    public var description: String { "<redacted>" }
    /// Always `<redacted>`.
    public var debugDescription: String { "<redacted>" }
    /// A mirror without children, so that `dump` shows nothing either.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
