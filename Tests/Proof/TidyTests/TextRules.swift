/// Rules about the text of any file: words, white space, lengths.
enum TextRules {
    /// The largest number of lines of a file.
    static let fileLines = 400

    /// Marks of unfinished work, in two parts so that this file does not contain them.
    private static let words = ["TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK"]
    private static let phrases = [
        "for " + "now", "in " + "production we", "/wo" + "rk/", "/ho" + "me/", "/Us" + "ers/", "/ro" + "ot/",
    ]

    /// Returns a violation if the file is too long.
    static func length(_ file: SourceFile) -> [String] {
        let count = file.lines.last == "" ? file.lines.count - 1 : file.lines.count
        return count > fileLines ? ["\(file.path): \(count) lines, at most \(fileLines) allowed"] : []
    }

    /// Returns the lines with marks of unfinished work or paths of a machine.
    static func bannedWords(_ file: SourceFile) -> [String] {
        let lowercased = file.text.lowercased()
        guard
            words.contains(where: file.mentions)
                || phrases.contains(where: { lowercased.mentions($0.lowercased()) })
        else { return [] }
        return found(file) { line in
            for word in words where hasWord(word, in: line) { return "contains \(word)" }
            let lower = line.lowercased().split(separator: "now or never").joined()
            for phrase in phrases where lower.contains(phrase.lowercased()) {
                return "contains \"\(phrase)\""
            }
            return nil
        }
    }

    /// Returns the lines with tabs, trailing blanks or control characters, and a wrong end of the file.
    static func blanks(_ file: SourceFile) -> [String] {
        var violations = found(file) { line in
            if line.hasSuffix(" ") { return "ends with a blank" }
            for scalar in line.unicodeScalars
            where scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) {
                return scalar.value == 9 ? "contains a tab" : "contains a control character"
            }
            return nil
        }
        if !file.text.isEmpty, file.text.utf8.last != 0x0A {
            violations.append("\(file.path): no newline at the end")
        }
        if file.text.hasSuffix("\n\n") { violations.append("\(file.path): blank lines at the end") }
        return violations
    }

    /// Returns a violation unless a Markdown file has exactly one top-level heading outside code.
    static func headings(_ file: SourceFile) -> [String] {
        var isCode = false
        var count = 0
        for line in file.lines {
            if line.hasPrefix("```") { isCode.toggle() }
            if !isCode, line.hasPrefix("# ") { count += 1 }
        }
        return count == 1 ? [] : ["\(file.path): \(count) top-level headings, expected 1"]
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
