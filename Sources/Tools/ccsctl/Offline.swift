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
        case "cluster found": return FoundCluster.run(invocation)
        case "cluster add": return AddNode.run(invocation)
        case "config sample": write(ConfigPrinter.sample(), isJSON)
        case "config docs":
            write(ConfigPrinter.reference(), KeysOutput(keys: keys).json, isJSON)
        case "operations":
            let rows = Operations.all.map { OperationsOutput.Row($0.definition) }
            write(OperationPrinter.reference(), OperationsOutput(operations: rows).json, isJSON)
        case "schema": return schema(invocation.arguments, isJSON)
        case "completion":
            guard let script = Completion.script(shell: invocation.arguments[0]) else { return .software }
            write(script, isJSON)
        case "metrics docs": write(MetricsPrinter.reference(), isJSON)
        case "metrics alerts": write(AlertPrinter.rules(), isJSON)
        case "metrics dashboard": write(DashboardPrinter.dashboard(), isJSON)
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
        write(text, TextOutput(text: text).json, isJSON)
    }

    private static func write(_ text: String, _ json: JSONValue, _ isJSON: Bool) {
        if isJSON { Output.write(json) } else { Output.write(text) }
    }

    private static func schema(_ words: [String], _ isJSON: Bool) -> ExitCode {
        let name = words.joined(separator: " ")
        guard !words.isEmpty else {
            write(SchemaPrinter.document(), OutputSchema.document(SchemaPrinter.offline), isJSON)
            return .success
        }
        guard let schema = OutputSchema.document(of: name, SchemaPrinter.offline) else {
            let names = OutputSchema.all(SchemaPrinter.offline).map(\.name)
            return Output.fail(
                .failure, "no output is named \"\(Report.safe(name))\"",
                hint: NearestName.of(name, among: names).map { "did you mean \"\($0)\"?" }
                    ?? "ccsctl schema prints all schemas", isJSON: isJSON)
        }
        write(schema.pretty + "\n", schema, isJSON)
        return .success
    }

    private static var keys: [KeysOutput.Row] {
        ConfigKey.allCases.map { key in
            let entry = key.entry
            return KeysOutput.Row(
                key: key.rawValue, flag: key.flag, variable: key.variable, takes: entry.type.allowed,
                unit: entry.unit, preset: entry.preset.plain, isReloadable: entry.isReloadable,
                since: entry.since, help: entry.help, reason: entry.reason)
        }
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
            let rows = entries.map {
                WordsOutput.Row(word: $0.word, kind: $0.kind, meaning: $0.meaning)
            }
            Output.write(WordsOutput(words: rows).json)
            return .success
        }
        let columns = ["WORD", "KIND", "MEANING"]
        Output.write(TextTable.text(columns, entries.map { [$0.word, $0.kind, $0.meaning] }))
        return .success
    }

    private static func version(_ invocation: Invocation) {
        let daemon = daemonVersion(invocation)
        guard !invocation.has("--json") else {
            return Output.write(
                VersionOutput(tool: Program.version, commit: Program.commit, daemon: daemon).json)
        }
        Output.write("ccsctl \(Program.versionAndCommit)\n")
        if let daemon { Output.write("ccsd   \(Report.safe(daemon))\n") }
    }

    /// Returns the version of the daemon. Returns `nil` if no daemon answers.
    private static func daemonVersion(_ invocation: Invocation) -> String? {
        guard let address = try? DaemonAddress.find(invocation) else { return nil }
        if case .server = address {
            guard var daemon = try? DaemonConnection(address) else { return nil }
            return (try? daemon.answer(to: ShowStatus()))?.version
        }
        guard case .socket(let path) = address, var client = try? ControlClient(path: path),
            case .done(let status) = try? client.result(of: ShowStatus())
        else { return nil }
        return (try? ShowStatus.Answer.fields.value(\.version, in: status)) ?? "unknown"
    }
}
