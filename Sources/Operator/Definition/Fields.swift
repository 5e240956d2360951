public import Wire

/// The fields of a command or of an answer, in the order in which they are written.
public struct Fields<Root: Sendable>: Sendable {
    private let coding: any FieldCoding<Root>

    /// Fields whose values make a whole, in the order of its initializer.
    init<each Value: Sendable>(
        _ make: @escaping @Sendable (repeat each Value) -> Root, _ fields: repeat Field<Root, each Value>
    ) {
        coding = PackedFields(make: make, fields: (repeat each fields))
    }

    /// The fields as documentation reads them.
    public var descriptions: [FieldDescription] { coding.descriptions }

    /// The name of the field at a path; `nil` if that is none.
    public func name(of path: PartialKeyPath<Root>) -> String? { coding.name(of: path) }

    /// Reads one field alone, whatever else an object lacks; throws `FieldProblem` if it is missing or invalid.
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

/// Fields of whatever types.
protocol FieldCoding<Root>: Sendable {
    associatedtype Root: Sendable
    var descriptions: [FieldDescription] { get }
    func name(of path: PartialKeyPath<Root>) -> String?
    func value<Value>(_ path: KeyPath<Root, Value>, in object: JSONValue) throws(FieldProblem) -> Value?
    func decode(_ object: JSONValue) throws(FieldProblem) -> Root
    func members(of root: Root) -> [JSONValue.Member]
    func auditEntries(of root: Root) -> [AuditEntry]
}

/// Fields of certain types, one for each argument of an initializer.
private struct PackedFields<Root: Sendable, each Value: Sendable>: FieldCoding {
    let make: @Sendable (repeat each Value) -> Root
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
        return entries.sorted { $0.word < $1.word }
    }
}
