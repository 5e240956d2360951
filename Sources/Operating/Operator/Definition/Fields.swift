public import Wire

/// The fields of a command or of an answer, in the order in which they are encoded.
public struct Fields<Root: Sendable>: Sendable {
    private let coding: any FieldCoding<Root>

    /// Creates the fields of a type, in the order of the parameters of its initializer `make`.
    public init<each Value: Sendable>(
        _ make: @escaping @Sendable (repeat each Value) throws(FieldProblem) -> Root,
        _ fields: repeat Field<Root, each Value>
    ) {
        coding = PackedFields(make: make, fields: (repeat each fields))
    }

    /// The descriptions of the fields, for documentation and front ends.
    public var descriptions: [FieldDescription] { coding.descriptions }

    /// Returns the name of the field at a path. Returns `nil` if no field is there.
    public func name(of path: PartialKeyPath<Root>) -> String? { coding.name(of: path) }

    /// Decodes one field, even if other fields are missing. Throws `FieldProblem` if this one is missing or invalid.
    public func value<Value>(
        _ path: KeyPath<Root, Value>, in object: JSONValue
    ) throws(FieldProblem) -> Value {
        guard let value = try coding.value(path, in: object) else { preconditionFailure("no field: \(path)") }
        return value
    }

    func decode(_ object: JSONValue) throws(FieldProblem) -> Root { try coding.decode(object) }

    func members(of root: Root) -> [JSONValue.Member] { coding.members(of: root) }

    func auditEntries(of root: Root) -> [AuditEntry] { coding.auditEntries(of: root) }
}

/// Fields of any types, with the types erased.
protocol FieldCoding<Root>: Sendable {
    associatedtype Root: Sendable
    var descriptions: [FieldDescription] { get }
    func name(of path: PartialKeyPath<Root>) -> String?
    func value<Value>(_ path: KeyPath<Root, Value>, in object: JSONValue) throws(FieldProblem) -> Value?
    func decode(_ object: JSONValue) throws(FieldProblem) -> Root
    func members(of root: Root) -> [JSONValue.Member]
    func auditEntries(of root: Root) -> [AuditEntry]
}

/// Fields of known types, one for each parameter of an initializer.
private struct PackedFields<Root: Sendable, each Value: Sendable>: FieldCoding {
    let make: @Sendable (repeat each Value) throws(FieldProblem) -> Root
    let fields: (repeat Field<Root, each Value>)

    var descriptions: [FieldDescription] {
        var descriptions: [FieldDescription] = []
        for field in repeat each fields { descriptions.append(field.description) }
        return descriptions
    }

    func name(of path: PartialKeyPath<Root>) -> String? {
        for field in repeat each fields {
            if field.path == path { return field.description.name }
        }
        return nil
    }

    func value<Wanted>(_ path: KeyPath<Root, Wanted>, in object: JSONValue) throws(FieldProblem) -> Wanted? {
        for field in repeat each fields {
            if field.path == path { return try field.value(in: object) as? Wanted }
        }
        return nil
    }

    func decode(_ object: JSONValue) throws(FieldProblem) -> Root {
        try make(repeat (each fields).value(in: object))
    }

    func members(of root: Root) -> [JSONValue.Member] {
        var members: [JSONValue.Member] = []
        for field in repeat each fields { field.append(root, to: &members) }
        return members
    }

    func auditEntries(of root: Root) -> [AuditEntry] {
        var entries: [AuditEntry] = []
        for field in repeat each fields { if let entry = field.auditEntry(root) { entries.append(entry) } }
        return entries.sorted { $0.key < $1.key }
    }
}
