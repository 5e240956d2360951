public import Wire

/// The JSON Schema (draft 2020-12) of what `ccsctl --json` prints, made from the fields that also encode it.
public enum OutputSchema {
    /// The version of the schemas: raised when a field is renamed, removed or changes its meaning. New fields do not raise it.
    public static let version = 1

    private static let dialect: JSONValue = "https://json-schema.org/draft/2020-12/schema"

    /// An output of a command.
    public struct Output: Sendable {
        /// The name among the definitions: the command's, or that of a line: `devices trace: trace`.
        public let name: String
        let text: String
        let fields: [FieldDescription]
    }

    /// Returns the document with the schemas of all outputs; `offline` are those of commands that need no daemon.
    public static func document(_ offline: [Output]) -> JSONValue {
        [
            "$schema": dialect, "$id": .string("urn:ccsd:ccsctl-output:\(version)"),
            "title": "Output of ccsctl --json",
            "description":
                "Each command prints one object as described by the definition with its name, or by error if it fails. Some print lines before, each described by a definition such as 'devices trace: trace'. Further fields may appear in any release.",
            "version": .integer(version),
            "$defs": .object(all(offline).map { .init($0.name, schema(of: $0)) }),
        ]
    }

    /// Returns the document with the schemas of all outputs as text, indented.
    public static func text(_ offline: [Output]) -> String { document(offline).pretty + "\n" }

    /// Returns the schema of one output as a document. Returns `nil` if none has the name.
    public static func document(of name: String, _ offline: [Output]) -> JSONValue? {
        all(offline).first { $0.name == name }.map { output in
            let head: [JSONValue.Member] = [
                .init("$schema", dialect),
                .init(
                    "$id",
                    .string(
                        "urn:ccsd:ccsctl-output:\(version):\(name.split(separator: " ").joined(separator: "-"))"
                    )),
                .init("version", .integer(version)),
            ]
            return .object(head + (schema(of: output).members ?? []))
        }
    }

    /// Returns all outputs: of errors, of operations, and of commands that have one of their own.
    public static func all(_ offline: [Output]) -> [Output] {
        // A command that makes several requests prints an output of its own.
        let own = Set(offline.map(\.name))
        return [output("error", "A command that failed or was refused.", ErrorOutput.self)]
            + Operations.all.flatMap { outputs(of: $0.definition) }.filter { !own.contains($0.name) }
            + offline
    }

    /// Describes the output of a command by the fields of its type, and those that the tool adds.
    public static func output<Content: Record>(
        _ name: String, _ text: String, _ content: Content.Type
    ) -> Output {
        Output(name: name, text: text, fields: content.fields.descriptions)
    }

    private static func outputs(of operation: OperationDefinition) -> [Output] {
        let name = operation.summary.name
        let lines = operation.lines.map { line in
            Output(name: "\(name): \(line.name)", text: "A line before the answer.", fields: line.fields)
        }
        return [
            Output(
                name: name, text: operation.summary.text,
                fields: operation.answer + operation.writtenFile)
        ] + lines
    }

    private static func schema(of output: Output) -> JSONValue {
        let inner = object(output.fields)
        let parts = output.name.split(separator: ": ")
        guard parts.count == 2 else {
            return .object([.init("description", .string(output.text))] + (inner.members ?? []))
        }
        let key = String(parts[1])
        return [
            "description": .string(output.text), "type": "object",
            "properties": .object([.init(key, inner)]), "required": [.string(key)],
        ]
    }

    /// Returns the schema of an object with these fields.
    static func object(_ fields: [FieldDescription]) -> JSONValue {
        let required = fields.filter { $0.presence == .required || $0.presence == .nullable }
        return [
            "type": "object",
            "properties": .object(
                fields.map { field in
                    let members: [JSONValue.Member] =
                        [.init("description", .string(field.documentation))]
                        + form(field.form, isNullable: field.presence == .nullable)
                    return .init(field.name, .object(members))
                }),
            "required": .array(required.map { .string($0.name) }),
        ]
    }

    /// Returns the members of the schema of a value.
    static func form(_ form: ValueForm, isNullable: Bool = false) -> [JSONValue.Member] {
        func type(_ name: String) -> JSONValue.Member {
            .init("type", isNullable ? [.string(name), "null"] : .string(name))
        }
        switch form {
        case .boolean: return [type("boolean")]
        case .integer(let range):
            return [type("integer")]
                + (range.lowerBound == .min ? [] : [.init("minimum", .integer(range.lowerBound))])
                + (range.upperBound == .max ? [] : [.init("maximum", .integer(range.upperBound))])
        case .text, .named: return [type("string")]
        case .word(let words):
            return [
                type("string"),
                .init("enum", .array(words.map { .string($0) } + (isNullable ? [.null] : []))),
            ]
        case .number: return [type("string"), .init("pattern", "^[0-9]+$")]
        case .time: return [type("string"), .init("format", "date-time")]
        case .object: return [type("object")]
        case .record(let fields):
            guard isNullable else { return object(fields).members ?? [] }
            return [type("object")] + (object(fields).members ?? []).filter { $0.key != "type" }
        case .list(let element): return [type("array"), .init("items", .object(self.form(element)))]
        }
    }
}

extension OperationDefinition {
    /// The field with which `ccsctl` reports the file that it wrote for the operation; empty if it writes none.
    fileprivate var writtenFile: [FieldDescription] {
        switch command {
        case is AddAccount.Type: [WrittenFile.field(.required)]
        case is ShowAuthority.Type: [WrittenFile.field(.optional)]
        default: []
        }
    }
}

/// What `ccsctl schema --json` prints; the members of the document itself are those of JSON Schema.
public struct SchemaOutput: Record {
    public var dialect: String
    public var version: Int

    public static let fields = Fields(
        SchemaOutput.init(dialect:version:),
        .required("$schema", .text, \.dialect, "The dialect of JSON Schema."),
        .required("version", .count, \.version, "The version of the schemas."))
}

/// The file that `ccsctl` wrote.
enum WrittenFile {
    static func field(_ presence: FieldDescription.Presence) -> FieldDescription {
        FieldDescription(
            name: "file", form: .text(0...(.max)), placeholder: "", isSecret: false, presence: presence,
            audit: nil, documentation: "The file that was written.")
    }
}
