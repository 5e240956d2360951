/// The output of `--help`.
public enum Help {
    /// The help of a whole program.
    public static func text(_ program: Program) -> String {
        var text = "\(program.name): \(program.summary)\n\nUsage: \(usage(program))\n"
        for paragraph in program.details { text += "\n" + joined(paragraph) }
        let named = program.commands.filter { !$0.words.isEmpty }
        if !named.isEmpty {
            text += "\nCommands:\n" + Wrap.table(named.map { (shape($0), $0.summary) })
        }
        text += "\nOptions:\n" + options(program.mainOptions)
        if !program.variables.isEmpty {
            text += "\nEnvironment:\n" + Wrap.table(program.variables.map { ($0.name, $0.meaning) })
        }
        text += examples(program.examples)
        text +=
            "\nExit codes:\n" + Wrap.table(program.exitCodes.map { ("\($0.rawValue)", $0.meaning) }, left: 8)
        if named.count > 1 { text += "\n\(program.name) COMMAND --help explains one command.\n" }
        return text
    }

    /// The help of one command.
    public static func text(_ program: Program, _ command: Command) -> String {
        var text = "\(program.name) \(command.name): \(command.summary)\n\n"
        text += "Usage: \(usage(program, command))\n"
        for paragraph in command.details { text += "\n" + joined(paragraph) }
        if !command.arguments.isEmpty {
            text += "\nArguments:\n" + Wrap.table(command.arguments.map { ($0.name, meaning(of: $0)) })
        }
        text += "\nOptions:\n" + options(command.options + program.options + Program.common)
        return text + examples(command.examples)
    }

    /// The usage line of a program.
    static func usage(_ program: Program) -> String {
        let hasWords = program.commands.contains { !$0.words.isEmpty }
        guard hasWords else { return "\(program.name) [OPTION]..." }
        return program.mainCommand == nil
            ? "\(program.name) [OPTION]... COMMAND [ARGUMENT]..." : "\(program.name) [COMMAND] [OPTION]..."
    }

    /// The usage line of a command.
    static func usage(_ program: Program, _ command: Command) -> String {
        let required = command.options.filter(\.isRequired).map(\.usage)
        let hasOthers = command.options.count > required.count || !program.options.isEmpty
        return
            ([program.name] + command.words + required + (hasOthers ? ["[OPTION]..."] : [])
            + command.arguments.map(\.usage)).joined(separator: " ")
    }

    /// A command with its arguments, as lists show it.
    static func shape(_ command: Command) -> String {
        ([command.name] + command.arguments.map(\.usage)).joined(separator: " ")
    }

    /// The description of an option, with its default and how often it is allowed.
    static func meaning(of option: Option) -> String {
        var meaning = option.help
        if let preset = option.preset { meaning += " Default: \(preset)." }
        if option.isRequired { meaning += " Required." }
        if option.isRepeatable { meaning += " May be repeated." }
        return meaning
    }

    /// The description of an argument, with its choices.
    static func meaning(of argument: Argument) -> String {
        argument.choices.isEmpty
            ? argument.help : "\(argument.help) One of \(argument.choices.joined(separator: ", "))."
    }

    private static func options(_ options: [Option]) -> String {
        Wrap.table(options.map { ($0.usage, meaning(of: $0)) })
    }

    private static func examples(_ examples: [Example]) -> String {
        guard !examples.isEmpty else { return "" }
        return "\nExamples:\n" + examples.map { "  # \($0.meaning)\n  \($0.line)\n" }.joined()
    }

    private static func joined(_ paragraph: String) -> String {
        Wrap.lines(paragraph).map { $0 + "\n" }.joined()
    }
}
