import Operator

/// Prints the reference of the operations.
public enum OperationPrinter {
    /// The reference in Markdown.
    public static func reference() -> String {
        var text = """
            # Commands of a running ccsd

            The operations of a running ccsd, for `ccsctl` or as a line of JSON on the control socket:
            `{"command":"\(ListDevices.summary.name)","arguments":{"limit":10}}`. The answer is `{"ok":true,"result":{…}}` or
            `{"ok":false,"error":"…","hint":"…"}`. Before it, long operations report their progress (`{"progress":{…}}`), and some send
            further lines. Unknown arguments are refused. The role **viewer** allows reading, with registration tokens cut in every
            text; the role **operator** also allows changes, and access to tokens and keys. Every operation is logged as
            `operator_command` with the user, process, command, names and IDs among the arguments, and result; `audit-log` lists
            those that change or export data, done or refused, and those that the role of the caller does not permit. The answers of `ccsctl --json` have a JSON Schema, which `ccsctl schema` prints. Printed by `ccsctl operations`.

            | operation | role | changes data | description |
            |---|---|---|---|

            """
        let operations = Operations.all.map { $0.definition }
        for operation in operations {
            let summary = operation.summary
            text += "| `\(summary.name)` | \(summary.role.rawValue) | "
            text += "\(Self.change(summary)) | \(cell(summary.text)) |\n"
        }
        return text + operations.map(section).joined()
    }

    private static func change(_ summary: OperationSummary) -> String {
        if summary.isDestroying { return "yes; ccsctl asks first" }
        return summary.isChanging ? "yes" : "no"
    }

    private static func section(_ operation: OperationDefinition) -> String {
        var text = "\n## `\(operation.summary.name)`\n\n\(operation.summary.text)\n"
        for paragraph in operation.summary.details { text += "\n\(paragraph)\n" }
        if !operation.arguments.isEmpty {
            text += "\n| argument | type | default | description |\n|---|---|---|---|\n"
            for field in operation.arguments {
                text += "| `\(field.name)` | \(cell(field.form.expected)) | \(absence(field)) | "
                text += "\(cell(field.documentation)) |\n"
            }
        }
        for line in operation.lines {
            text += "\n| field of each line `\(line.name)` | type | description |\n|---|---|---|\n"
            text += rows(line.fields, in: "")
        }
        text +=
            "\n| field of the answer | type | description |\n|---|---|---|\n" + rows(operation.answer, in: "")
        return text
    }

    /// The rows of fields, each followed by the fields nested in it.
    private static func rows(_ fields: [FieldDescription], in prefix: String) -> String {
        fields.map { field in
            let row =
                "| `\(prefix)\(field.name)` | \(cell(field.form.expected))\(presenceText(field)) | \(cell(field.documentation)) |\n"
            switch field.form {
            case .record(let inner): return row + rows(inner, in: "\(prefix)\(field.name).")
            case .list(.record(let inner)): return row + rows(inner, in: "\(prefix)\(field.name)[].")
            default: return row
            }
        }.joined()
    }

    private static func presenceText(_ field: FieldDescription) -> String {
        switch field.presence {
        case .required, .preset: ""
        case .optional: ", or left out"
        case .nullable: ", or null"
        }
    }

    private static func absence(_ field: FieldDescription) -> String {
        switch field.presence {
        case .required: "required"
        case .optional, .nullable: "-"
        case .preset(let value): value.isEmpty ? "empty" : cell(value)
        }
    }

    private static func cell(_ text: String) -> String {
        text.split(separator: "|", omittingEmptySubsequences: false).joined(separator: "\\|")
    }
}
