import Basics
import Wire

/// The key path of a field's value.
public typealias FieldPath<Root, Value> = any KeyPath<Root, Value> & Sendable

/// A field of a command or of an answer: its name, kind, key path and documentation.
///
/// Decoding, encoding, documentation and audit of the field all derive from this one definition.
public struct Field<Root: Sendable, Value: Sendable>: Sendable {
    let description: FieldDescription
    let path: FieldPath<Root, Value>
    /// Decodes a value; gets `nil` if the field is absent.
    private let read: @Sendable (JSONValue?) throws(FieldProblem) -> Value
    /// Encodes a value. Returns `nil` to omit the field.
    private let write: @Sendable (Value) -> JSONValue?

    private init<Kind>(
        _ name: String, _ kind: FieldKind<Kind>, _ path: FieldPath<Root, Value>,
        _ presence: FieldDescription.Presence, audit: AuditKey?, _ documentation: String,
        read: @escaping @Sendable (JSONValue?) throws(FieldProblem) -> Value,
        write: @escaping @Sendable (Value) -> JSONValue?
    ) {
        description = FieldDescription(
            name: name, form: kind.form, placeholder: kind.placeholder, isSecret: kind.isSecret,
            presence: presence, audit: audit, documentation: documentation)
        self.path = path
        self.read = read
        self.write = write
    }

    /// A field that must be present.
    public static func required(
        _ name: String, _ kind: FieldKind<Value>, _ path: FieldPath<Root, Value>,
        audit: AuditKey? = nil, _ documentation: String
    ) -> Field {
        Field(
            name, kind, path, .required, audit: audit, documentation,
            read: { (value) throws(FieldProblem) -> Value in
                guard let value else { throw FieldProblem(.missing, expected: kind.form.expected) }
                return try kind.decode(value)
            }, write: { kind.encode($0) })
    }

    /// A field that is omitted if there is no value.
    public static func optional<Wrapped>(
        _ name: String, _ kind: FieldKind<Wrapped>, _ path: FieldPath<Root, Value>,
        audit: AuditKey? = nil, _ documentation: String
    ) -> Field where Value == Wrapped? {
        Field(
            name, kind, path, .optional, audit: audit, documentation,
            read: { (value) throws(FieldProblem) -> Wrapped? in
                guard let value else { return nil }
                return try kind.decode(value)
            }, write: { $0.map(kind.encode) })
    }

    /// A field that is `null` if there is no value.
    static func nullable<Wrapped>(
        _ name: String, _ kind: FieldKind<Wrapped>, _ path: FieldPath<Root, Value>,
        _ documentation: String
    ) -> Field where Value == Wrapped? {
        Field(
            name, kind, path, .nullable, audit: nil, documentation,
            read: { (value) throws(FieldProblem) -> Wrapped? in
                guard let value else { return nil }
                return try kind.decode(value)
            }, write: { $0.map(kind.encode) ?? .null })
    }

    /// A field that has a default when it is omitted.
    public static func preset(
        _ name: String, _ kind: FieldKind<Value>, _ path: FieldPath<Root, Value>, _ preset: Value,
        audit: AuditKey? = nil, _ documentation: String
    ) -> Field where Value: Equatable {
        let words = kind.encode(preset)
        return Field(
            name, kind, path, .preset(words.text ?? words.compact), audit: audit, documentation,
            read: { (value) throws(FieldProblem) -> Value in
                guard let value else { return preset }
                return try kind.decode(value)
            }, write: { $0 == preset ? JSONValue?.none : kind.encode($0) })
    }

    /// Decodes this field of an object.
    func value(in object: JSONValue) throws(FieldProblem) -> Value {
        let value = object[description.name]
        do throws(FieldProblem) { return try read(value == .null ? nil : value) } catch {
            throw error.inside(description.name, hint: description.hint)
        }
    }

    /// Appends this field of `root` to the members of an object, unless it is omitted.
    func append(_ root: Root, to members: inout [JSONValue.Member]) {
        guard let value = write(root[keyPath: path]) else { return }
        members.append(JSONValue.Member(description.name, value))
    }

    /// Returns the entry of this field in the audit line. Returns `nil` if it is not recorded.
    func auditEntry(_ root: Root) -> AuditEntry? {
        guard let word = description.audit, let value = write(root[keyPath: path]),
            let text = value.text ?? value.integer.map({ String($0) })
        else { return nil }
        return AuditEntry(key: word, value: description.isSecret ? .recipient(Redacted(text)) : .text(text))
    }
}
