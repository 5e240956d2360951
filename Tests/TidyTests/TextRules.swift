/// Rules about text: words, blanks, lengths.
enum TextRules {
    /// Lines of one file, at most.
    static let fileLines = 400

    /// Words that promise to come back later, in two parts so that this file does not hold them.
    private static let words = ["TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK"]
    private static let phrases = [
        "for " + "now", "in " + "production we", "/wo" + "rk/", "/ho" + "me/", "/Us" + "ers/", "/ro" + "ot/",
    ]

    /// A file that is too long.
    static func length(_ file: SourceFile) -> [String] {
        let count = file.lines.last == "" ? file.lines.count - 1 : file.lines.count
        return count > fileLines ? ["\(file.path): \(count) lines, of \(fileLines) allowed"] : []
    }

    /// Words that have no place in what is finished.
    static func bannedWords(_ file: SourceFile) -> [String] {
        found(file) { line in
            for word in words where hasWord(word, in: line) { return "holds \(word)" }
            let lower = line.lowercased().split(separator: "now or never").joined()
            for phrase in phrases where lower.contains(phrase.lowercased()) { return "holds \"\(phrase)\"" }
            return nil
        }
    }

    /// Tabs, blanks at line ends, control characters, a missing newline at the end.
    static func blanks(_ file: SourceFile) -> [String] {
        var violations = found(file) { line in
            if line.hasSuffix(" ") { return "ends with a blank" }
            for scalar in line.unicodeScalars
            where scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) {
                return scalar.value == 9 ? "holds a tab" : "holds a control character"
            }
            return nil
        }
        if !file.text.isEmpty, file.text.utf8.last != 0x0A {
            violations.append("\(file.path): no newline at the end")
        }
        if file.text.hasSuffix("\n\n") { violations.append("\(file.path): blank lines at the end") }
        return violations
    }

    /// A Markdown file has one heading of the first level, outside code.
    static func headings(_ file: SourceFile) -> [String] {
        var isCode = false
        var count = 0
        for line in file.lines {
            if line.hasPrefix("```") { isCode.toggle() }
            if !isCode, line.hasPrefix("# ") { count += 1 }
        }
        return count == 1 ? [] : ["\(file.path): \(count) headings of the first level"]
    }

    static func hasWord(_ word: String, in line: Substring) -> Bool {
        line.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.contains { $0 == word }
    }

    private static func found(_ file: SourceFile, _ problem: (Substring) -> String?) -> [String] {
        file.lines.enumerated().compactMap { index, line in
            problem(line).map { "\(file.path):\(index + 1): \($0)" }
        }
    }
}
