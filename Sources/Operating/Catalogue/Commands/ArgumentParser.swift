/// Reads command lines by the table of a program.
///
/// Options begin with two dashes and may be anywhere before `--`; a value follows as the next word or after `=`.
/// Of the other words, the first ones name the command and the rest are its arguments.
public struct ArgumentParser {
    private let program: Program
    private var words: [String] = []
    private var rest: [String] = []
    private var given: [(option: Option, value: String)] = []
    private var wantsHelp = false
    private var wantsVersion = false

    private init(_ program: Program) { self.program = program }

    /// Parses the words after the program's name.
    public static func parse(_ arguments: [String], for program: Program) throws(UsageError) -> Request {
        var parser = ArgumentParser(program)
        return try parser.parse(arguments)
    }

    private mutating func parse(_ arguments: [String]) throws(UsageError) -> Request {
        var at = 0
        var optionsEnded = false
        while at < arguments.count {
            let word = arguments[at]
            at += 1
            if optionsEnded || word == "-" || !word.hasPrefix("-") {
                addWord(word)
            } else if word == "--" {
                optionsEnded = true
            } else if word == "-h" || word == "--help" {
                wantsHelp = true
            } else if word == "--version" {
                wantsVersion = true
            } else {
                try parseOption(word, arguments, &at)
            }
        }
        if wantsVersion { return .print("\(program.name) \(Program.versionAndCommit)\n") }
        if wantsHelp { return .print(try help()) }
        return .run(try invocation())
    }

    // MARK: Words

    /// Adds a word to the command's name while a command with that longer name exists, else to the arguments.
    private mutating func addWord(_ word: String) {
        let longer = words + [word]
        if rest.isEmpty, program.commands.contains(where: { $0.words.starts(with: longer) }) {
            words = longer
        } else {
            rest.append(word)
        }
    }

    private func help() throws(UsageError) -> String {
        if let command, !command.words.isEmpty { return Help.text(program, command) }
        guard words.isEmpty, rest.isEmpty else { throw unknownCommand() }
        return Help.text(program)
    }

    private var command: Command? { program.commands.first { $0.words == words } }

    private func unknownCommand() -> UsageError {
        let shape = "\(program.name) --help lists the commands"
        let begun = program.commands.filter { !$0.words.isEmpty && $0.words.starts(with: words) }
        if rest.isEmpty {
            let names = begun.map(\.name).joined(separator: ", ")
            let problem =
                words.isEmpty
                ? "a command is missing" : "incomplete command \"\(words.joined(separator: " "))\""
            return error(problem, words.isEmpty ? shape : "expected one of: \(names)")
        }
        let written = (words + rest.prefix(1)).joined(separator: " ")
        let both = (words + rest.prefix(2)).joined(separator: " ")
        let names = begun.map(\.name)
        let near = NearestName.of(both, among: names) ?? NearestName.of(written, among: names)
        let firsts = program.commands.compactMap(\.words.first)
        let guess = near ?? (words.isEmpty ? rest.first.flatMap { NearestName.of($0, among: firsts) } : nil)
        return error("unknown command \"\(written)\"", guess.map { "did you mean \"\($0)\"?" } ?? shape)
    }

    // MARK: Options

    private mutating func parseOption(_ word: String, _ arguments: [String], _ at: inout Int)
        throws(UsageError)
    {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(parts[0])
        let possible = optionsNow
        guard let option = possible.first(where: { $0.name == name }) else {
            let near = NearestName.of(name, among: possible.map(\.name) + ["--help", "--version"])
            let hint = near.map { "did you mean \($0)?" } ?? helpLine
            throw error(
                "\(name) is not an option\(words.isEmpty ? "" : " of \"\(words.joined(separator: " "))\"")",
                hint)
        }
        guard let kind = option.value else {
            guard parts.count == 1 else { throw error("\(name) takes no value", "write \(name) alone") }
            return given.append((option, "true"))
        }
        var value = "true"
        if parts.count == 2 {
            value = String(parts[1])
        } else if kind != .boolean {
            guard at < arguments.count, arguments[at] != "--" else {
                throw error("\(name) needs a value", "write \(option.usage)")
            }
            value = arguments[at]
            at += 1
        }
        try check(value, kind, option)
        given.append((option, value))
    }

    /// The options allowed at this point: those of the commands that the words so far may become, and the program's.
    private var optionsNow: [Option] {
        let begun = program.commands.filter { $0.words.starts(with: words) }
        let own = command.map { $0.options } ?? []
        return own + program.options + (words.isEmpty ? begun.flatMap(\.options) : [])
    }

    private func check(_ value: String, _ kind: OptionValue, _ option: Option) throws(UsageError) {
        switch kind {
        case .text: break
        case .path:
            if value.isEmpty { throw error("\(option.name) is empty", "write \(option.usage)") }
        case .boolean:
            if value != "true", value != "false" {
                throw error("invalid \(option.name) \"\(value)\"", "expected true or false")
            }
        case .choice(let words):
            guard !words.contains(value) else { break }
            let near = NearestName.of(value, among: words).map { "did you mean \($0)? " } ?? ""
            throw error(
                "invalid \(option.name) \"\(value)\"",
                "\(near)expected one of \(words.joined(separator: ", "))")
        case .integer(let range):
            let digits = value.hasPrefix("-") ? value.dropFirst() : value[...]
            let isNumber = !digits.isEmpty && digits.utf8.allSatisfy { (0x30...0x39).contains($0) }
            guard isNumber, let number = Int(value), range.contains(number) else {
                throw error(
                    "invalid \(option.name) \"\(value)\": \(isNumber ? "out of range" : "not a whole number")",
                    "expected a whole number from \(range.lowerBound) to \(range.upperBound)")
            }
        }
    }

    // MARK: Result

    private func invocation() throws(UsageError) -> Invocation {
        guard let command else { throw unknownCommand() }
        var invocation = Invocation(command: command)
        let allowed = Set((command.options + program.options).map(\.name))
        for (option, value) in given {
            guard allowed.contains(option.name) else {
                throw error("\(option.name) is not an option of \"\(command.name)\"", helpLine)
            }
            guard invocation.add(option, value) else {
                throw error("\(option.name) is given twice", "give it once")
            }
        }
        for option in command.options where option.isRequired && invocation.text(option.name) == nil {
            throw error("\(option.name) is missing", "write \(option.usage): \(option.help)")
        }
        invocation.arguments = try arguments(of: command)
        return invocation
    }

    private func arguments(of command: Command) throws(UsageError) -> [String] {
        let takesMany = command.arguments.last?.isRepeatable ?? false
        if rest.count > command.arguments.count, !takesMany {
            if command.arguments.isEmpty, program.commands.count > 1 { throw unknownCommandOrWord(command) }
            throw error("unexpected argument \"\(rest[command.arguments.count])\"", helpLine)
        }
        for (position, argument) in command.arguments.enumerated() {
            guard position < rest.count else {
                if argument.isOptional { break }
                throw error("\(argument.name) is missing", "\(argument.name): \(argument.help)")
            }
            guard argument.choices.isEmpty || argument.choices.contains(rest[position]) else {
                let near =
                    NearestName.of(rest[position], among: argument.choices).map { "did you mean \($0)? " }
                    ?? ""
                throw error(
                    "invalid \(argument.name) \"\(rest[position])\"",
                    "\(near)expected one of \(argument.choices.joined(separator: ", "))")
            }
        }
        return rest
    }

    private func unknownCommandOrWord(_ command: Command) -> UsageError {
        if command.words.isEmpty { return unknownCommand() }
        return error("unexpected argument \"\(rest[0])\": \"\(command.name)\" takes none", helpLine)
    }

    private var helpLine: String {
        "\(([program.name] + (command?.words ?? [])).joined(separator: " ")) --help lists the options"
    }

    private func error(_ problem: String, _ hint: String) -> UsageError {
        UsageError(program: program.name, problem: problem, hint: hint)
    }
}
