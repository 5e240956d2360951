extension Completion {
    /// The script for zsh: a file of a folder in fpath, or to be sourced after compinit.
    static func zsh() -> String {
        let names = Program.all.map(\.name).joined(separator: " ")
        var script = "#compdef \(names)\n"
        script += "# Completion of ccsd's programs for zsh; printed by: ccsctl completion zsh\n"
        for program in Program.all { script += zshFunction(program) }
        script +=
            "\n# compinit runs the file as the function _ccsd; a shell that sources it registers the functions.\n"
        script += "if [[ $funcstack[1] == _ccsd ]]; then\n    _complete_${service//-/_}\nelse\n"
        for program in Program.all {
            script += "    compdef _complete_\(CompletionTable.identifier(program)) \(program.name)\n"
        }
        return script + "fi\n"
    }

    private static func zshFunction(_ program: Program) -> String {
        var text = "\n_complete_\(CompletionTable.identifier(program))() {\n"
        text += "    local begun='' skip='' word\n    local -a offered\n"
        text += "    for word in \"${(@)words[2,CURRENT-1]}\"; do\n"
        text += "        if [[ -n $skip ]]; then skip=''; continue; fi\n        case $word in\n"
        text += "        \(CompletionTable.optionsWithValues(program).joined(separator: "|"))) skip=1 ;;\n"
        text += "        -*) ;;\n        *) begun=\"${begun:+$begun }$word\" ;;\n        esac\n    done\n"
        text += "    case ${words[CURRENT-1]} in\n\(zshValues(program))    esac\n"
        text += "    if [[ ${words[CURRENT]} == -* ]]; then\n        case $begun in\n\(zshOptions(program))"
        text += "        esac\n        _describe -o option offered\n    else\n"
        text += "        case $begun in\n\(zshWords(program))        *) _files; return ;;\n        esac\n"
        return text + "        _describe word offered\n    fi\n}\n"
    }

    /// The cases that complete the value of an option: its choices, files, or nothing but its placeholder.
    private static func zshValues(_ program: Program) -> String {
        CompletionTable.distinctOptions(program).compactMap { option in
            switch option.value {
            case .path: "    \(option.name)) _files; return ;;\n"
            case .choice(let words):
                "    \(option.name)) offered=(\(words.map(quoted).joined(separator: " "))); _describe value offered; return ;;\n"
            case .text, .integer: "    \(option.name)) _message \(quoted(option.placeholder)); return ;;\n"
            case .boolean, nil: nil
            }
        }.joined()
    }

    /// The cases that offer the options of a command and of the program.
    private static func zshOptions(_ program: Program) -> String {
        let shared = program.options + Program.common
        var text = ""
        for command in program.commands where !command.words.isEmpty {
            let items = (command.options + shared).map { zshItem($0.name, $0.help) }.joined(separator: " ")
            text += "        '\(command.name)' | '\(command.name) '*) offered=(\(items)) ;;\n"
        }
        let rest = program.mainOptions.map { zshItem($0.name, $0.help) }
        return text + "        *) offered=(\(rest.joined(separator: " "))) ;;\n"
    }

    /// The cases that offer the next word.
    private static func zshWords(_ program: Program) -> String {
        CompletionTable.nextWords(program).map { row in
            let items = row.next.map { zshItem($0.word, $0.meaning) }.joined(separator: " ")
            return "        '\(row.begun)') offered=(\(items)) ;;\n"
        }.joined()
    }

    /// An item of _describe: the word and its description, separated by a colon.
    private static func zshItem(_ word: String, _ meaning: String) -> String { quoted("\(word):\(meaning)") }

    /// Returns a text as one word of zsh.
    private static func quoted(_ text: String) -> String { "'\(text.replacing("'", with: "'\\''"))'" }
}
