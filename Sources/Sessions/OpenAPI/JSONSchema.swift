import Wire

/// The JSON schemas that the description of the interface is made of.
extension JSONValue {
    /// A text; with a pattern, or with a bound on its characters.
    static func string(
        matching pattern: String?, longest: Int? = nil, meaning: String? = nil
    ) -> JSONValue {
        var members: [Member] = [Member("type", "string")]
        if let pattern { members.append(Member("pattern", .string(pattern))) }
        if let longest { members.append(Member("maxLength", .integer(longest))) }
        if let meaning { members.append(Member("description", .string(meaning))) }
        return .object(members)
    }

    /// A text without more to say.
    static let anyString = string(matching: nil)

    /// A text that is not empty.
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

    /// A whole number within bounds.
    static func whole(_ lowest: Int? = nil, _ highest: Int? = nil) -> JSONValue {
        var members: [Member] = [Member("type", "integer")]
        if let lowest { members.append(Member("minimum", .integer(lowest))) }
        if let highest { members.append(Member("maximum", .integer(highest))) }
        return .object(members)
    }

    /// Bytes that are no text: generators of clients make a file of it.
    static let binary: JSONValue = ["type": "string", "format": "binary"]

    static let truth: JSONValue = ["type": "boolean"]

    /// A list, of so many at least and at most.
    static func list(_ item: JSONValue, _ fewest: Int = 0, _ most: Int? = nil) -> JSONValue {
        var members: [Member] = [Member("type", "array"), Member("items", item)]
        if fewest > 0 { members.append(Member("minItems", .integer(fewest))) }
        if let most { members.append(Member("maxItems", .integer(most))) }
        return .object(members)
    }

    /// An object with these members, of which some must be there.
    ///
    /// `others`: a schema for any further ones, true where they are passed over, false where there are none.
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

    /// An object of an answer: it has these members, all of them unless named as `rare`, and no others.
    static func answer(_ members: [(String, JSONValue)], rare: [String] = []) -> JSONValue {
        object(members, required: members.map(\.0).filter { !rare.contains($0) }, others: false)
    }

    /// An object of a request, in which what is unknown is passed over.
    static func request(_ members: [(String, JSONValue)], required: [String] = []) -> JSONValue {
        object(members, required: required, others: true)
    }

    /// Any of several forms.
    static func either(_ schemas: JSONValue...) -> JSONValue { ["anyOf": .array(schemas)] }

    /// One of the schemas in `components`.
    static func ref(_ name: HTTPSchema) -> JSONValue {
        ["$ref": .string("#/components/schemas/\(name.rawValue)")]
    }

    /// The same object under a name of its own in `components`.
    func named(_ name: String) -> JSONValue {
        guard case .object(let members) = self else { return self }
        return .object([Member("title", .string(name))] + members)
    }

    /// The same with a sentence about what it means.
    func meaning(_ text: String) -> JSONValue {
        guard case .object(let members) = self else { return self }
        return .object(members + [Member("description", .string(text))])
    }
}
