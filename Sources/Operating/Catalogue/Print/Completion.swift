/// Completion scripts for all programs.
public enum Completion {
    /// The shells that have a script.
    public static let shells = ["bash", "zsh", "fish"]

    /// Returns the script for a shell, or `nil` for an unknown one.
    public static func script(shell: String) -> String? {
        switch shell {
        case "bash": bash()
        case "zsh": zsh()
        case "fish": fish()
        default: nil
        }
    }

    /// The script for bash, to be sourced by the shell.
    public static func bash() -> String {
        var script = "# Completion of ccsd's programs for bash; printed by: ccsctl completion bash\n"
        for program in Program.all { script += function(program) }
        return script
    }

    private static func function(_ program: Program) -> String {
        let name = "_" + CompletionTable.identifier(program)
        var text = "\n\(name)() {\n"
        text +=
            "    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} words='' word skip=''\n"
        text += "    for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
        text += "        if [[ $skip ]]; then skip=''; continue; fi\n        case $word in\n"
        text +=
            "        \(CompletionTable.optionsWithValues(program).joined(separator: "|"))) skip=1 ;;\n        -*) ;;\n"
        text += "        *) words=\"${words:+$words }$word\" ;;\n        esac\n    done\n"
        text += "    case $previous in\n\(values(program))    esac\n"
        text +=
            "    case $current in\n    -*)\n        case $words in\n\(options(program))        esac\n        ;;\n"
        text += "    *)\n        case $words in\n\(words(program))        esac\n        ;;\n    esac\n}\n"
        return text + "complete -F \(name) \(program.name)\n"
    }

    /// The cases that complete the value of an option: its choices, or files.
    private static func values(_ program: Program) -> String {
        var text = ""
        for option in CompletionTable.distinctOptions(program) {
            switch option.value {
            case .path: text += reply("    \(option.name)", "-f", returns: true)
            case .choice(let words):
                text += reply("    \(option.name)", "-W '\(words.joined(separator: " "))'", returns: true)
            case .text, .integer: text += "    \(option.name)) COMPREPLY=(); return ;;\n"
            case .boolean, nil: break
            }
        }
        return text
    }

    /// The cases that complete an option: those of the command, and those of the program.
    private static func options(_ program: Program) -> String {
        let shared = program.options.map(\.name) + Program.common.map(\.name)
        var text = ""
        for command in program.commands where !command.words.isEmpty {
            let names = command.options.map(\.name) + shared
            let pattern = "'\(command.name)' | '\(command.name) '*"
            text += reply("        \(pattern)", "-W '\(names.joined(separator: " "))'")
        }
        let rest = program.mainOptions.map(\.name)
        return text + reply("        *", "-W '\(rest.joined(separator: " "))'")
    }

    /// The cases that complete the next word of a command, or an argument with choices.
    private static func words(_ program: Program) -> String {
        let cases = CompletionTable.nextWords(program).map { row in
            reply("        '\(row.begun)'", "-W '\(row.next.map(\.word).joined(separator: " "))'")
        }
        return cases.joined() + reply("        *", "-f")
    }

    private static func reply(_ pattern: String, _ source: String, returns: Bool = false) -> String {
        "\(pattern)) mapfile -t COMPREPLY < <(compgen \(source) -- \"$current\")\(returns ? "; return" : "") ;;\n"
    }
}
