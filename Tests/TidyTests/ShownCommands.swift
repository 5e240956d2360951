import Catalogue

/// Command lines in scripts, units, the README and the daemon's greeting.
enum ShownCommands {
    /// Returns the command lines that their program would reject.
    static func violations(_ file: SourceFile) -> [String] {
        var isCode = false
        return file.lines.enumerated().compactMap { index, line in
            if line.hasPrefix("```") { isCode.toggle() }
            guard let (program, words) = command(in: String(line), of: file, isCode: isCode) else {
                return nil
            }
            do throws(UsageError) {
                _ = try ArgumentParser.parse(words, for: program)
                return nil
            } catch {
                return "\(file.path):\(index + 1): \(error.problem) (\(error.hint))"
            }
        }
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
        case "Sources/Server/StartupGreeting.swift":
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
