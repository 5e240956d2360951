/// A value that never shows in logs, descriptions, dumps or crash texts: keys, passwords, security tokens.
package struct Redacted<Value: Sendable>: Sendable {
    private let value: Value

    /// Hides a value.
    package init(_ value: Value) { self.value = value }

    /// The value itself; the name makes each place that reads it easy to find.
    package var revealed: Value { value }
}

extension Redacted: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Always `<redacted>`.
    package var description: String { "<redacted>" }
    /// Always `<redacted>`.
    package var debugDescription: String { "<redacted>" }
    /// A mirror without children, so that `dump` shows nothing either.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
