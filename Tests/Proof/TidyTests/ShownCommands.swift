import Catalogue

/// Command lines in scripts, units, documents and the daemon's greeting.
enum ShownCommands {
    /// Returns the command lines that their program would reject.
    static func violations(_ file: SourceFile) -> [String] {
        var isCode = false
        return file.lines.enumerated().flatMap { index, line -> [String] in
            if line.hasPrefix("```") { isCode.toggle() }
            let place = "\(file.path):\(index + 1)"
            guard isCode || !file.path.hasSuffix(".md") else {
                // The changelog also names commands of earlier builds.
                guard file.path != "CHANGELOG.md" else { return [] }
                return spans(in: line).compactMap(unknown).map { "\(place): \($0)" }
            }
            guard let (program, words) = command(in: String(line), of: file, isCode: isCode) else {
                return []
            }
            do throws(UsageError) {
                _ = try ArgumentParser.parse(words, for: program)
                return []
            } catch {
                return ["\(place): \(error.problem) (\(error.hint))"]
            }
        }
    }

    /// Returns the code spans of a line of Markdown that are commands of our programs, with one for each alternative: `senders
    /// add|list` is two.
    private static func spans(in line: Substring) -> [[String]] {
        let parts = line.split(separator: "`", omittingEmptySubsequences: false).enumerated()
        return parts.filter { $0.offset % 2 == 1 && !$0.element.contains("…") }.flatMap { _, span in
            let words = span.replacing("\\|", with: "|").split(separator: " ").map(String.init)
            let choices = words.first { $0.contains("|") }?.split(separator: "|").map(String.init) ?? [""]
            return choices.map { choice in words.map { $0.contains("|") ? choice : $0 } }
        }
    }

    /// Returns the problem of a command in running text, whose arguments may be left out: an unknown command or option.
    private static func unknown(_ words: [String]) -> String? {
        guard words.count > 1, let program = Program.all.first(where: { $0.name == words[0] }) else {
            return nil
        }
        let rest = Array(words[1...])
        let named = program.commands.filter { command in
            let name = command.name.split(separator: " ").map(String.init)
            return !name.isEmpty && rest.starts(with: name)
        }
        guard
            let command = named.max(by: { $0.name.utf8.count < $1.name.utf8.count })
                ?? program.commands.first(where: { $0.name.isEmpty && rest[0].hasPrefix("-") })
        else {
            // A group of commands, or options before the command.
            let isGroup = program.commands.contains { $0.name.hasPrefix(rest[0] + " ") } && rest.count == 1
            return isGroup || rest[0].hasPrefix("-") ? nil : "unknown command \(words.joined(separator: " "))"
        }
        let known = (command.options + program.options).map(\.name) + ["--help", "--version"]
        return rest.first { $0.hasPrefix("--") && !known.contains(String($0.prefix { $0 != "=" })) }
            .map { "\(program.name) \(command.name) has no option \($0)" }
    }

    /// Returns the program and arguments of a line with a command, or `nil` for any other line.
    static func command(in line: String, of file: SourceFile, isCode: Bool) -> (Program, [String])? {
        let isShown: (String) -> Bool
        switch file.path {
        case let path where path.hasSuffix(".md"):
            guard isCode else { return nil }
            // A line that starts with the daemon's name is output.
            isShown = { $0 != "ccsd" }
        case let path where path.hasPrefix("Scripts/"): isShown = { $0.hasPrefix("1/") }
        case let path where path.hasPrefix("systemd/"): isShown = { $0.hasPrefix("/usr/bin/") }
        case "Sources/Daemon/Server/StartupGreeting.swift":
            guard line.drop(while: { $0 == " " }).hasPrefix("\"  ccs") else { return nil }
            isShown = { _ in true }
        default: return nil
        }
        var words = substituted(line).split { " \"'".contains($0) }.map(String.init)
        if words.first == "$" { words.removeFirst() }
        if words.first == "sudo" { words.removeFirst() }
        guard var first = words.first else { return nil }
        if file.path.hasPrefix("systemd/"), let equals = first.firstIndex(of: "=") {
            first = String(first[first.index(after: equals)...])
        }
        let name = first.split(separator: "/").last.map(String.init) ?? ""
        guard isShown(first), let program = Program.all.first(where: { $0.name == name }) else { return nil }
        // A diagram, not a command.
        if words.count > 1, words[1].first?.isASCII == false { return nil }
        let end = words.firstIndex {
            ["|", ">", ">>", "&", "&&", "||", "#", "\\", ";", "<", "2>&1"].contains($0) || $0.hasPrefix(">")
                || $0.hasPrefix("\\")
        }
        return words.last == "\\"
            ? nil : (program, Array(words[1..<(end ?? words.count)]).filter { $0 != "," })
    }

    /// Returns the line with a 1 in place of each substitution of a shell or of Swift.
    private static func substituted(_ line: String) -> String {
        var result = ""
        var rest = Substring(line)
        while let character = rest.first {
            if rest.hasPrefix("$(") || rest.hasPrefix("\\(") {
                rest = afterParenthesis(rest.dropFirst(2))
                result += "1"
            } else if rest.hasPrefix("$"),
                rest.dropFirst().first.map({ $0.isLetter || $0 == "{" || $0 == "_" }) == true
            {
                rest = rest.dropFirst().drop {
                    $0.isLetter || $0.isNumber || $0 == "_" || $0 == "{" || $0 == "}"
                }
                result += "1"
            } else {
                result.append(character)
                rest = rest.dropFirst()
            }
        }
        return result
    }

    private static func afterParenthesis(_ text: Substring) -> Substring {
        var depth = 1
        var rest = text
        while depth > 0, let character = rest.first {
            if character == "(" { depth += 1 }
            if character == ")" { depth -= 1 }
            rest = rest.dropFirst()
        }
        return rest
    }
}
