import Wire

/// Moves objects with a title to the components, and replaces them by references.
///
/// Client generators create a type for each component. Some create none for an unnamed object within `anyOf`.
struct NamedSchemas {
    /// The moved schemas, in the order in which they were found.
    private(set) var schemas: [JSONValue.Member] = []

    /// Returns the value with references in place of the objects with a title.
    mutating func moved(outOf value: JSONValue) -> JSONValue {
        switch value {
        case .array(let elements): return .array(elements.map { moved(outOf: $0) })
        case .object(let members):
            let inner = members.map { JSONValue.Member($0.key, moved(outOf: $0.value)) }
            guard value["type"]?.text == "object", let name = value["title"]?.text else {
                return .object(inner)
            }
            let schema = JSONValue.object(inner.filter { $0.key != "title" })
            if let known = schemas.first(where: { $0.key == name }) {
                precondition(known.value == schema, "two schemas are named \(name)")
            } else {
                schemas.append(.init(name, schema))
            }
            return ["$ref": .string("#/components/schemas/\(name)")]
        default: return value
        }
    }
}
