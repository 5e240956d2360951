/// Manual pages in roff with the macros of man(7).
public enum ManPage {
    /// The page of a program.
    public static func text(_ program: Program) -> String {
        var page =
            ".TH \"\(program.name.uppercased())\" \"\(program.section)\" \"\" \"ccsd \(Program.version)\" \"ccsd\"\n"
        page += ".SH NAME\n\(escaped(program.name)) \\- \(escaped(program.summary))\n"
        page += ".SH SYNOPSIS\n" + synopsis(program)
        page += ".SH DESCRIPTION\n" + paragraphs(program.details)
        let named = program.commands.filter { !$0.words.isEmpty }
        if !named.isEmpty { page += ".SH COMMANDS\n" + named.map { command($0) }.joined() }
        page += ".SH OPTIONS\n"
        page += program.mainOptions.map(option).joined()
        page += section("ENVIRONMENT", program.variables.map { ($0.name, $0.meaning) })
        page += section("FILES", program.files.map { ($0.path, $0.meaning) })
        page += section("EXIT STATUS", program.exitCodes.map { ("\($0.rawValue)", $0.meaning) })
        page += examples(program.examples + named.flatMap(\.examples))
        let others = Program.packaged.filter { $0.name != program.name }
        let also = others.map { ".BR \(escaped($0.name)) (\($0.section))" }
        page += ".SH SEE ALSO\n" + also.joined(separator: ",\n") + "\n"
        return page
    }

    private static func synopsis(_ program: Program) -> String {
        ".nf\n" + bold(program.name) + escaped(String(Help.usage(program).dropFirst(program.name.count)))
            + "\n.fi\n"
    }

    private static func command(_ command: Command) -> String {
        var text = ".SS \"\(escaped(Help.shape(command)))\"\n\(line(command.summary))\n"
        for paragraph in command.details { text += ".PP\n\(line(paragraph))\n" }
        for argument in command.arguments { text += item(argument.name, Help.meaning(of: argument)) }
        let isMain = command.options.count > 20
        return text + (isMain ? ".PP\nIt has the options below.\n" : command.options.map(option).joined())
    }

    private static func option(_ option: Option) -> String { item(option.usage, Help.meaning(of: option)) }

    private static func section(_ title: String, _ rows: [(String, String)]) -> String {
        rows.isEmpty ? "" : ".SH \(title)\n" + rows.map { item($0.0, $0.1) }.joined()
    }

    private static func examples(_ examples: [Example]) -> String {
        guard !examples.isEmpty else { return "" }
        return ".SH EXAMPLES\n"
            + examples.map { ".PP\n\(line($0.meaning)):\n.PP\n.RS 4\n.nf\n\(line($0.line))\n.fi\n.RE\n" }
            .joined()
    }

    private static func item(_ term: String, _ meaning: String) -> String {
        ".TP\n\(bold(term))\n\(line(meaning))\n"
    }

    private static func paragraphs(_ paragraphs: [String]) -> String {
        paragraphs.map { line($0) + "\n" }.joined(separator: ".PP\n")
    }

    private static func bold(_ text: String) -> String { "\\fB\(escaped(text))\\fR" }

    /// Text for the start of a line, where roff would take a dot or quote for a request.
    private static func line(_ text: String) -> String {
        let safe = escaped(text)
        return safe.hasPrefix(".") || safe.hasPrefix("'") ? "\\&" + safe : safe
    }

    private static func escaped(_ text: String) -> String {
        var result = ""
        for character in text {
            switch character {
            case "\\": result += "\\e"
            case "-": result += "\\-"
            case "\"": result += "\\(dq"
            case "…": result += "..."
            default: result.append(character)
            }
        }
        return result
    }
}
