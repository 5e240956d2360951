import Catalogue
import Client
import Wire

/// The commands that need no daemon.
enum Offline {
    /// Does one of them; nil where a command is none of them.
    static func run(_ invocation: Invocation) -> ExitCode? {
        switch invocation.command.name {
        case "config sample": Output.write(ConfigPrinter.sample())
        case "config docs": Output.write(ConfigPrinter.reference())
        case "completion": Output.write(Completion.bash())
        case "man":
            guard let program = Program.all.first(where: { $0.name == invocation.arguments[0] }) else {
                return .software
            }
            Output.write(ManPage.text(program))
        case "explain": return explain(invocation.arguments.first)
        case "version": version(invocation)
        default: return nil
        }
        return .success
    }

    private static func explain(_ word: String?) -> ExitCode {
        let entries = word.map { Glossary.meanings(of: $0) } ?? Glossary.entries
        if entries.isEmpty, let word {
            Output.complain("ccsctl: \"\(Report.safe(word))\" is not a word of ccsd")
            Output.complain(
                Glossary.nearest(word).map { "did you mean \($0)?" } ?? "ccsctl explain lists all of them")
            return .failure
        }
        let columns = ["WORD", "KIND", "MEANING"]
        Output.write(TextTable.text(columns, entries.map { [$0.word, $0.kind, $0.meaning] }))
        return .success
    }

    private static func version(_ invocation: Invocation) {
        Output.write("ccsctl \(Program.version)\n")
        guard let path = try? SocketPath.find(invocation.text("--socket")),
            var client = try? ControlClient(path: path),
            case .done(let status) = try? client.run("status")
        else { return }
        Output.write("ccsd   \(Report.safe(status["version"]?.text ?? "unknown"))\n")
    }
}
