import Operator

/// The reference of the operations.
public enum OperationPrinter {
    /// The reference in Markdown.
    public static func reference() -> String {
        var text = """
            # Operations

            What an operator can ask a running ccsd for, by `ccsctl` or with a line of JSON on the control socket:
            `{"command":"\(OperationName.listDevices.rawValue)","arguments":{"limit":10}}`. The answer is `{"ok":true,"result":{…}}`, or
            `{"ok":false,"error":"…","hint":"…"}`; before it, long commands report how far they are (`{"progress":{…}}`), and some send
            lines. Arguments that a command does not have are refused. A **viewer** may look; an **operator** may also change things, and
            see what allows its holder to do something. Every command leaves a line `operator_command` in the log: user, process, command,
            names and IDs among its arguments, result. Printed by `ccsctl operations`.

            | operation | role | changes | what it does |
            |---|---|---|---|

            """
        let operations = OperationName.allCases.map(\.definition)
        for operation in operations {
            let summary = operation.summary
            text += "| `\(summary.name.rawValue)` | \(summary.role.rawValue) | "
            text += "\(summary.isChanging ? "yes" : "no") | \(cell(summary.text)) |\n"
        }
        return text + operations.map(section).joined()
    }

    private static func section(_ operation: OperationDefinition) -> String {
        var text = "\n## `\(operation.summary.name.rawValue)`\n\n\(operation.summary.text)\n"
        for paragraph in operation.summary.details { text += "\n\(paragraph)\n" }
        if !operation.arguments.isEmpty {
            text += "\n| argument | takes | without it | meaning |\n|---|---|---|---|\n"
            for field in operation.arguments {
                text += "| `\(field.name)` | \(cell(field.form.expected)) | \(absence(field)) | "
                text += "\(cell(field.documentation)) |\n"
            }
        }
        for line in operation.lines {
            text += "\n| of each line `\(line.name)` | is | meaning |\n|---|---|---|\n"
            text += rows(line.fields, in: "")
        }
        text += "\n| of the answer | is | meaning |\n|---|---|---|\n" + rows(operation.answer, in: "")
        return text
    }

    /// Fields, each followed by those inside of it.
    private static func rows(_ fields: [FieldDescription], in prefix: String) -> String {
        fields.map { field in
            let row =
                "| `\(prefix)\(field.name)` | \(cell(field.form.expected))\(note(field)) | \(cell(field.documentation)) |\n"
            switch field.form {
            case .record(let inner): return row + rows(inner, in: "\(prefix)\(field.name).")
            case .list(.record(let inner)): return row + rows(inner, in: "\(prefix)\(field.name)[].")
            default: return row
            }
        }.joined()
    }

    private static func note(_ field: FieldDescription) -> String {
        switch field.presence {
        case .required, .preset: ""
        case .optional: ", or left out"
        case .nullable: ", or null"
        }
    }

    private static func absence(_ field: FieldDescription) -> String {
        switch field.presence {
        case .required: "refused"
        case .optional, .nullable: "-"
        case .preset(let value): value.isEmpty ? "empty" : cell(value)
        }
    }

    private static func cell(_ text: String) -> String {
        text.split(separator: "|", omittingEmptySubsequences: false).joined(separator: "\\|")
    }
}
