/// Rules about comments: a public declaration has a comment.
enum CommentRules {
    private static let kinds: Set<Substring> = [
        "func", "var", "let", "struct", "class", "enum", "protocol", "typealias", "actor", "init",
        "subscript",
    ]

    /// Returns the public declarations without a comment.
    ///
    /// Requirements of a protocol are documented there, and one comment covers a run of stored properties.
    static func violations(_ file: SourceFile, witnesses: Set<String>) -> [String] {
        file.code.indices.compactMap { index in
            guard let name = declared(in: file.code[index]), !witnesses.contains(name),
                !isExplained(file, index)
            else {
                return nil
            }
            return "\(file.path):\(index + 1): \(name) has no comment"
        }
    }

    /// Returns the names that protocols of the package and of the standard library require.
    static func witnesses(_ files: [SourceFile]) -> Set<String> {
        var names: Set<String> = [
            "==", "<", "hash", "next", "description", "debugDescription", "customMirror",
        ]
        for file in files {
            var isInside = false
            for line in file.code {
                let words = line.split(separator: " ")
                if words.contains("protocol"), line.hasSuffix("{") { isInside = true }
                if line == "}" { isInside = false }
                if isInside, let name = name(words), !words.contains("protocol") { names.insert(name) }
            }
        }
        return names
    }

    /// Returns the name of the public declaration of a line, or `nil` if it has none.
    private static func declared(in line: String) -> String? {
        let words = line.split(separator: " ")
        guard words.first == "public", !words.contains("override"), !words.contains("=="),
            !line.contains("Literal value:"), !line.contains("Literal elements:"),
            !line.contains("nilLiteral:")
        else { return nil }
        return name(words)
    }

    private static func name(_ words: [Substring]) -> String? {
        for (index, word) in words.enumerated() {
            if word.hasPrefix("init(") || word.hasPrefix("init?(") || word.hasPrefix("init<") {
                return "init"
            }
            if word.hasPrefix("subscript(") { return "subscript" }
            guard kinds.contains(word), index + 1 < words.count else { continue }
            return String(
                words[index + 1].prefix {
                    $0 != "(" && $0 != ":" && $0 != "<" || $0 == "<" && words[index + 1] == "<"
                })
        }
        return nil
    }

    /// Whether a comment is above the declaration and its attributes, or above its run of stored properties.
    private static func isExplained(_ file: SourceFile, _ index: Int) -> Bool {
        var above = index - 1
        while above >= 0, file.lines[above].drop(while: { $0 == " " }).hasPrefix("@") { above -= 1 }
        guard above >= 0 else { return false }
        if file.lines[above].drop(while: { $0 == " " }).hasPrefix("///") { return true }
        guard isPlain(file.code[index]) else { return false }
        return isPlain(file.code[above]) || file.code[above].hasSuffix("{")
    }

    /// Whether a line declares a stored property.
    private static func isPlain(_ line: String) -> Bool {
        let words = line.split(separator: " ")
        return words.first == "public" && (words.contains("var") || words.contains("let"))
            && !line.contains("{")
    }
}
