/// What the completion scripts of all shells have in common.
enum CompletionTable {
    /// A word that can come next, with its description.
    typealias Next = (word: String, meaning: String)

    /// Returns the name of a program as a part of a function's name.
    static func identifier(_ program: Program) -> String {
        program.name.map { $0 == "-" ? "_" : "\($0)" }.joined()
    }

    /// Returns the options that take the next word as their value.
    static func optionsWithValues(_ program: Program) -> [String] {
        let options = program.options + program.commands.flatMap(\.options)
        return Set(options.filter { $0.value != nil && $0.value != .boolean }.map(\.name)).sorted()
    }

    /// Returns all options, each name once.
    static func distinctOptions(_ program: Program) -> [Option] {
        var seen: Set<String> = []
        return (program.options + program.commands.flatMap(\.options)).filter {
            seen.insert($0.name).inserted
        }
    }

    /// Returns what can follow each beginning of a command: its next words, or the choices of its first argument.
    static func nextWords(_ program: Program) -> [(begun: String, next: [Next])] {
        var next: [String: [Next]] = [:]
        for command in program.commands {
            for (count, word) in command.words.enumerated() {
                let begun = command.words.prefix(count).joined(separator: " ")
                guard next[begun]?.contains(where: { $0.word == word }) != true else { continue }
                next[begun, default: []].append(
                    (word, meaning(program, Array(command.words.prefix(count + 1)))))
            }
            if let first = command.arguments.first {
                next[command.name, default: []] += first.choices.map { ($0, first.help) }
            }
        }
        return next.filter { !$0.value.isEmpty }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// Returns the summary of a command, or the next words of a group of commands.
    private static func meaning(_ program: Program, _ words: [String]) -> String {
        if let command = program.commands.first(where: { $0.words == words }) { return command.summary }
        let group = program.commands.filter { $0.words.starts(with: words) }
        return group.map { $0.words.dropFirst(words.count).joined(separator: " ") }.joined(separator: ", ")
    }
}
