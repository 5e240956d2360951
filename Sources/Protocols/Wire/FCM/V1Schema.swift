import Basics

/// The messages of HTTP v1 as JSON schemas, generated from the same table that validates them (http 8.1).
public enum V1Schema {
    /// The name of the schema of the request body.
    public static let request = name(ProtoMessage.sendRequest.name)

    /// All schemas, each name once, the request first.
    public static let all: [JSONValue.Member] = {
        var schemas: [JSONValue.Member] = []
        add(.sendRequest, to: &schemas)
        return schemas
    }()

    private static func add(_ message: ProtoMessage, to schemas: inout [JSONValue.Member]) {
        let name = name(message.name)
        guard !schemas.contains(where: { $0.key == name }) else { return }
        var members: [JSONValue.Member] = []
        for field in message.fields {
            let value = schema(of: field.form)
            members.append(.init("\(field.name)", value))
            let camel = camelCase(field.name)
            if camel != "\(field.name)" { members.append(.init(camel, value)) }
        }
        var schema: [JSONValue.Member] = [
            .init("type", "object"), .init("properties", .object(members)),
            .init("additionalProperties", false),
        ]
        if message.name.description == ProtoMessage.sendRequest.name.description {
            schema.append(.init("required", ["message"]))
        }
        // Only the target is required; all fields of another group may be absent.
        let targets = message.fields.filter { "\($0.group ?? "")" == "target" }
        if !targets.isEmpty {
            schema.append(
                .init("oneOf", .array(targets.map { ["required": [.string("\($0.name)")]] })))
        }
        schemas.append(.init(name, .object(schema)))
        for field in message.fields { addInner(field.form, to: &schemas) }
    }

    private static func addInner(_ form: ProtoFieldType, to schemas: inout [JSONValue.Member]) {
        switch form {
        case .message(let inner): add(inner, to: &schemas)
        case .repeated(let element): addInner(element, to: &schemas)
        case .enumeration(let words):
            let name = name(words.name)
            guard !schemas.contains(where: { $0.key == name }) else { return }
            schemas.append(.init(name, schema(of: words)))
        case .string, .boolean, .int32, .float, .duration, .timestamp, .map, .free: break
        }
    }

    private static func schema(of form: ProtoFieldType) -> JSONValue {
        switch form {
        case .string: text
        case .boolean: ["type": "boolean"]
        case .int32:
            ["type": "integer", "format": "int32", "minimum": -2_147_483_648, "maximum": 2_147_483_647]
        case .float: ["type": "number"]
        case .duration: ["type": "string", "pattern": #"^-?[0-9]{1,12}(\.[0-9]{1,9})?s$"#]
        case .timestamp: ["type": "string", "format": "date-time"]
        case .enumeration(let words): reference(words.name)
        case .message(let message): reference(message.name)
        case .repeated(let element): ["type": "array", "items": schema(of: element)]
        case .map: ["type": "object", "additionalProperties": text]
        case .free: ["type": "object"]
        }
    }

    private static let text: JSONValue = ["type": "string"]

    private static func schema(of enumeration: ProtoEnumeration) -> JSONValue {
        [
            "anyOf": [
                ["type": "string", "enum": .array(enumeration.words.map { .string("\($0)") })],
                ["type": "integer", "minimum": 0, "maximum": .integer(enumeration.words.count - 1)],
            ]
        ]
    }

    private static func reference(_ name: StaticString) -> JSONValue {
        ["$ref": .string("#/components/schemas/\(self.name(name))")]
    }

    /// Returns the last component of a full name.
    private static func name(_ full: StaticString) -> String {
        "\(full)".split(separator: ".").last.map(String.init) ?? ""
    }

    private static func camelCase(_ name: StaticString) -> String {
        let words = "\(name)".split(separator: "_")
        return words.enumerated().map { $0 == 0 ? String($1) : $1.prefix(1).uppercased() + $1.dropFirst() }
            .joined()
    }
}
