extension Completion {
    /// The script for fish, to be sourced by the shell.
    static func fish() -> String {
        var script = "# Completion of ccsd's programs for fish; printed by: ccsctl completion fish\n"
        for program in Program.all {
            script += fishFunctions(program) + fishWords(program) + fishOptions(program)
        }
        return script
    }

    /// The functions that compare the words before the current one, without options and their values, with a command.
    private static func fishFunctions(_ program: Program) -> String {
        let name = CompletionTable.identifier(program)
        return """

            function __\(name)_begun
                set -l skip ''
                set -l words
                for word in (commandline -opc)[2..-1]
                    if test -n "$skip"
                        set skip ''
                        continue
                    end
                    switch $word
                        case \(CompletionTable.optionsWithValues(program).joined(separator: " "))
                            set skip 1
                        case '-*'
                        case '*'
                            set -a words $word
                    end
                end
                string join ' ' -- $words
            end
            function __\(name)_at
                test "$(__\(name)_begun)" = "$argv[1]"
            end
            function __\(name)_in
                string match -q -- "$argv[1] *" "$(__\(name)_begun) "
            end

            """
    }

    /// The next word of each beginning of a command.
    private static func fishWords(_ program: Program) -> String {
        let name = CompletionTable.identifier(program)
        return CompletionTable.nextWords(program).flatMap { row in
            row.next.map { next in
                "complete -c \(program.name) -n \(fishQuoted("__\(name)_at '\(row.begun)'")) -f -a \(next.word) -d \(fishQuoted(next.meaning))\n"
            }
        }.joined()
    }

    /// The options of each command, and those of the program.
    private static func fishOptions(_ program: Program) -> String {
        let name = CompletionTable.identifier(program)
        var text = ""
        for option in program.options + Program.common { text += fishOption(program, option, when: nil) }
        for option in program.mainCommand?.options ?? [] {
            text += fishOption(program, option, when: "__\(name)_at ''")
        }
        for command in program.commands where !command.words.isEmpty {
            for option in command.options {
                text += fishOption(program, option, when: "__\(name)_in '\(command.name)'")
            }
        }
        return text
    }

    /// An option with what it takes: its choices, a file, or any word.
    private static func fishOption(_ program: Program, _ option: Option, when condition: String?) -> String {
        var text = "complete -c \(program.name)"
        if let condition { text += " -n \(fishQuoted(condition))" }
        text += " -l \(option.name.dropFirst(2))"
        switch option.value {
        case .path: text += " -r -F"
        case .choice(let words): text += " -x -a \(fishQuoted(words.joined(separator: " ")))"
        case .text, .integer: text += " -x"
        case .boolean, nil: break
        }
        return text + " -d \(fishQuoted(option.help))\n"
    }

    /// Returns a text as one word of fish.
    private static func fishQuoted(_ text: String) -> String {
        "'\(text.replacing("\\", with: "\\\\").replacing("'", with: "\\'"))'"
    }
}
