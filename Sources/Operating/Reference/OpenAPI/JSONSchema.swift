import Wire

/// Builders of the JSON schemas in the OpenAPI description.
extension JSONValue {
    /// A string, optionally with a pattern or a limit on its characters.
    static func string(
        matching pattern: String?, longest: Int? = nil, meaning: String? = nil
    ) -> JSONValue {
        var members: [Member] = [Member("type", "string")]
        if let pattern { members.append(Member("pattern", .string(pattern))) }
        if let longest { members.append(Member("maxLength", .integer(longest))) }
        if let meaning { members.append(Member("description", .string(meaning))) }
        return .object(members)
    }

    /// Any string.
    static let anyString = string(matching: nil)

    /// A string that is not empty.
    static func name(_ meaning: String? = nil) -> JSONValue {
        var members: [Member] = [Member("type", "string"), Member("minLength", 1)]
        if let meaning { members.append(Member("description", .string(meaning))) }
        return .object(members)
    }

    /// One of several words.
    static func words(_ words: [String]) -> JSONValue {
        ["type": "string", "enum": .array(words.map { .string($0) })]
    }

    /// One word and no other.
    static func word(_ word: String) -> JSONValue { ["type": "string", "const": .string(word)] }

    /// An integer within optional bounds.
    static func whole(_ lowest: Int? = nil, _ highest: Int? = nil) -> JSONValue {
        var members: [Member] = [Member("type", "integer")]
        if let lowest { members.append(Member("minimum", .integer(lowest))) }
        if let highest { members.append(Member("maximum", .integer(highest))) }
        return .object(members)
    }

    /// Binary data; client generators make a file of it.
    static let binary: JSONValue = ["type": "string", "format": "binary"]

    static let booleanSchema: JSONValue = ["type": "boolean"]

    /// An array of `fewest` to `most` items.
    static func list(_ item: JSONValue, _ fewest: Int = 0, _ most: Int? = nil) -> JSONValue {
        var members: [Member] = [Member("type", "array"), Member("items", item)]
        if fewest > 0 { members.append(Member("minItems", .integer(fewest))) }
        if let most { members.append(Member("maxItems", .integer(most))) }
        return .object(members)
    }

    /// An object with these members, some of them required.
    ///
    /// `others` is the schema of any further members: true if they are ignored, false if there are none.
    static func object(
        _ members: [(String, JSONValue)], required: [String], others: JSONValue
    ) -> JSONValue {
        var schema: [Member] = [
            Member("type", "object"), Member("properties", .object(members.map { Member($0.0, $0.1) })),
        ]
        if !required.isEmpty {
            schema.append(Member("required", .array(required.map { .string($0) })))
        }
        if others != true { schema.append(Member("additionalProperties", others)) }
        return .object(schema)
    }

    /// An object in an answer: it has all these members, except that those in `rare` are optional, and no others.
    static func answer(_ members: [(String, JSONValue)], rare: [String] = []) -> JSONValue {
        object(members, required: members.map(\.0).filter { !rare.contains($0) }, others: false)
    }

    /// An object in a request, in which unknown members are ignored.
    static func request(_ members: [(String, JSONValue)], required: [String] = []) -> JSONValue {
        object(members, required: required, others: true)
    }

    /// One of several alternatives.
    static func either(_ schemas: JSONValue...) -> JSONValue { ["anyOf": .array(schemas)] }

    /// A reference to a schema in `components`.
    static func ref(_ name: HTTPSchema) -> JSONValue {
        ["$ref": .string("#/components/schemas/\(name.rawValue)")]
    }

    /// Returns this object with a title, under which it is moved to `components`.
    func named(_ name: String) -> JSONValue {
        guard case .object(let members) = self else { return self }
        return .object([Member("title", .string(name))] + members)
    }

    /// Returns this schema with a description.
    func meaning(_ text: String) -> JSONValue {
        guard case .object(let members) = self else { return self }
        return .object(members + [Member("description", .string(text))])
    }
}
