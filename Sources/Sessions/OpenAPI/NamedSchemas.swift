import Wire

/// Moves the objects that have a title to the components, and leaves references in their places.
///
/// Generators of clients make a type of each component. Of an object within `anyOf` that has no name some make none.
struct NamedSchemas {
    /// What was moved, in the order in which it was found.
    private(set) var schemas: [JSONValue.Member] = []

    /// The value with references in place of the objects that have a title.
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
