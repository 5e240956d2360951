import Catalogue
import Client
import Operator
import Wire

/// The commands that need no daemon.
enum Offline {
    /// Runs a command that needs no daemon. Returns `nil` for any other command.
    static func run(_ invocation: Invocation) -> ExitCode? {
        let isJSON = invocation.has("--json")
        switch invocation.command.name {
        case "config sample": write(ConfigPrinter.sample(), isJSON)
        case "config docs":
            if isJSON {
                Output.write(["keys": .array(keys)])
            } else {
                Output.write(ConfigPrinter.reference())
            }
        case "operations":
            if isJSON {
                Output.write(["operations": .array(OperationName.allCases.map { operation($0.definition) })])
            } else {
                Output.write(OperationPrinter.reference())
            }
        case "metrics docs": write(MetricsPrinter.reference(), isJSON)
        case "metrics alerts": write(AlertPrinter.rules(), isJSON)
        case "metrics dashboard": write(DashboardPrinter.dashboard(), isJSON)
        case "completion": write(Completion.bash(), isJSON)
        case "man":
            guard let program = Program.all.first(where: { $0.name == invocation.arguments[0] }) else {
                return .software
            }
            write(ManPage.text(program), isJSON)
        case "explain": return explain(invocation.arguments.first, isJSON)
        case "version": version(invocation)
        default: return nil
        }
        return .success
    }

    private static func write(_ text: String, _ isJSON: Bool) {
        if isJSON { Output.write(["text": .string(text)]) } else { Output.write(text) }
    }

    private static var keys: [JSONValue] {
        ConfigKey.allCases.map { key in
            let entry = key.entry
            return [
                "key": .string(key.rawValue), "flag": .string(key.flag), "variable": .string(key.variable),
                "takes": .string(entry.type.allowed), "unit": .string(entry.unit),
                "default": .string(entry.preset.plain), "reloadable": .boolean(entry.isReloadable),
                "since": .string(entry.since), "help": .string(entry.help), "reason": .string(entry.reason),
            ]
        }
    }

    private static func operation(_ operation: OperationDefinition) -> JSONValue {
        [
            "name": .string(operation.summary.name.rawValue),
            "role": .string(operation.summary.role.rawValue),
            "changes": .boolean(operation.summary.isChanging), "text": .string(operation.summary.text),
            "arguments": .array(operation.arguments.map(field)),
            "answer": .array(operation.answer.map(field)),
            "lines": .array(
                operation.lines.map { line in
                    ["name": .string(line.name), "fields": .array(line.fields.map(field))]
                }),
        ]
    }

    private static func field(_ field: FieldDescription) -> JSONValue {
        var members: [JSONValue.Member] = [
            .init("name", .string(field.name)), .init("takes", .string(field.form.expected)),
            .init("required", .boolean(field.presence == .required)),
            .init("help", .string(field.documentation)),
        ]
        if case .preset(let value) = field.presence { members.append(.init("default", .string(value))) }
        return .object(members)
    }

    private static func explain(_ word: String?, _ isJSON: Bool) -> ExitCode {
        let entries = word.map { Glossary.meanings(of: $0) } ?? Glossary.entries
        if entries.isEmpty, let word {
            return Output.fail(
                .failure, "unknown word \"\(Report.safe(word))\"",
                hint: Glossary.nearest(word).map { "did you mean \($0)?" }
                    ?? "ccsctl explain lists all words", isJSON: isJSON)
        }
        if isJSON {
            let rows = entries.map { entry -> JSONValue in
                [
                    "word": .string(entry.word), "kind": .string(entry.kind),
                    "meaning": .string(entry.meaning),
                ]
            }
            Output.write(["words": .array(rows)])
            return .success
        }
        let columns = ["WORD", "KIND", "MEANING"]
        Output.write(TextTable.text(columns, entries.map { [$0.word, $0.kind, $0.meaning] }))
        return .success
    }

    private static func version(_ invocation: Invocation) {
        let daemon = daemonVersion(invocation)
        guard !invocation.has("--json") else {
            return Output.write([
                "ccsctl": .string(Program.version), "ccsd": daemon.map { .string($0) } ?? .null,
            ])
        }
        Output.write("ccsctl \(Program.version)\n")
        if let daemon { Output.write("ccsd   \(Report.safe(daemon))\n") }
    }

    /// Returns the version of the daemon. Returns `nil` if no daemon answers.
    private static func daemonVersion(_ invocation: Invocation) -> String? {
        guard let path = try? SocketPath.find(invocation.text("--socket")),
            var client = try? ControlClient(path: path),
            case .done(let status) = try? client.result(of: ShowStatus())
        else { return nil }
        return (try? ShowStatus.Answer.fields.value(\.version, in: status)) ?? "unknown"
    }
}
