/// Rules about `Limits`: each constant has a reason and a use.
enum LimitRules {
    /// Returns the constants of a file, each with its domain (`Store.waitingWrites`) and its comment.
    static func constants(_ file: SourceFile) -> [(name: String, reason: String)] {
        var domain = ""
        return file.lines.enumerated().compactMap { index, line in
            if let name = word(after: "enum", in: line) { domain = name }
            guard line.contains("static let "), let name = word(after: "let", in: line) else { return nil }
            var reason = ""
            var above = index - 1
            while above >= 0, case let text = file.lines[above].drop(while: { $0 == " " }),
                text.hasPrefix("///")
            {
                reason = text.dropFirst(3) + reason
                above -= 1
            }
            return (domain + "." + name, reason)
        }
    }

    /// Returns the constants whose comment has fewer than three words.
    static func withoutReason(_ file: SourceFile) -> [String] {
        constants(file).filter { $0.reason.split(separator: " ").count < 3 }.map {
            "\(file.path): \($0.name) has no reason"
        }
    }

    /// Returns the constants that files use, each with its domain.
    static func used(in files: [SourceFile]) -> Set<String> {
        var used: Set<String> = []
        for file in files where file.mentions("Limits.") {
            for line in file.code where line.contains("Limits.") {
                for part in line.split(separator: "Limits.", omittingEmptySubsequences: false).dropFirst() {
                    used.insert(
                        part.split(separator: ".", maxSplits: 2).prefix(2)
                            .map { $0.prefix { $0.isLetter || $0.isNumber } }.joined(separator: "."))
                }
            }
        }
        return used
    }

    /// Returns the constants of a file that are not used.
    static func unused(_ file: SourceFile, used: Set<String>) -> [String] {
        constants(file).filter { !used.contains($0.name) }.map { "\(file.path): \($0.name) is not used" }
    }

    private static func word(after keyword: String, in line: Substring) -> String? {
        let words = line.split { $0 == " " || $0 == ":" || $0 == "=" }
        guard let index = words.firstIndex(of: keyword[...]), index + 1 < words.count else { return nil }
        return String(words[index + 1])
    }
}
