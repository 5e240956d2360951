/// Words that plain technical English does without, in comments, strings, names of tests, scripts and documents.
enum WordRules {
    /// Words and phrases, in lower case, and what to write instead.
    ///
    /// The bars are not part of the words: they keep this rule, and scripts that rename words, from finding them here.
    static let banned: [(words: [String], advice: String)] = [
        (["o|ctet", "o|ctets"], "byte"),
        (["t|ell", "t|ells", "t|old", "t|elling"], "report, notify, log, print or return"),
        (["h|ear", "h|ears", "h|eard", "h|earing"], "receive, get, or be notified"),
        (
            ["n|obody", "s|omebody", "w|hoever"],
            "the agent: the device, the app server, the operator, the caller"
        ),
        (
            [
                "it", "they", "is", "are", "was", "were", "has", "have", "had", "can", "may", "comes", "came",
                "happens",
            ]
            .map { "w|hatever \($0)" }, "any, regardless of, or the thing itself"
        ),
        (["the b|egin"], "the start or the beginning"),
        (["so m|any"], "N, up to N, or the number of"),
        (["as m|any as"], "up to N, or the number of"),
        (["k|nows"], "has, stores, supports or recognizes"),
        (["s|ays"], "reports, logs, returns or contains; specifies (a document)"),
        (["of w|hom"], "a sentence that names the agent"),
        (["what c|ame of"], "the result of"),
        (["l|acks"], "has no, or does not have"),
    ]

    /// Terms that contain a banned word and stay, each with its reason.
    static let terms: [(text: String, reason: String)] = [
        ("o|ctet-stream", "a media type of RFC 2046")
    ]

    static let advice = Dictionary(
        uniqueKeysWithValues: banned.flatMap { entry in entry.words.map { (plain($0), entry.advice) } })

    /// Returns a text without bars.
    static func plain(_ text: String) -> String { text.replacing("|", with: "") }

    /// Returns the uses of banned words, each with its place and what to write instead.
    static func violations(_ files: [SourceFile]) -> [String] {
        // In a phrase, a line break and the mark of a comment are white space.
        let words = advice.keys.sorted().map { $0.replacing(" ", with: "[[:space:]#*]+") }
        let pattern = "\\b(\(words.joined(separator: "|")))\\b"
        guard let search = TextSearch(pattern, ignoringCase: true) else {
            return ["Tests/Proof/TidyTests/WordRules.swift: \(pattern) does not compile"]
        }
        return files.flatMap { file in
            let prose = file.isSwift ? SwiftCode.parts(of: file.text).prose : Array(file.text.utf8)
            return matches(search, prose).map {
                "\(file.path):\($0.line): \"\($0.word)\" -> \(advice[$0.word] ?? "")"
            }
        }
    }

    /// Returns the banned words of a text with their lines, except those in terms that stay and in code between backticks.
    private static func matches(_ search: TextSearch, _ text: [UInt8]) -> [(word: String, line: Int)] {
        var found: [(word: String, line: Int)] = []
        search.forEach(in: text) { match, bytes in
            let range = match.range
            let rest = bytes[range.lowerBound...]
            let backticks = bytes[match.lineStart..<range.lowerBound].count { $0 == 0x60 }
            let isCode = backticks % 2 == 1 && rest.prefix { $0 != 0x0A }.contains(0x60)
            guard !isCode, !terms.contains(where: { rest.starts(with: plain($0.text).utf8) }) else { return }
            let words = String(decoding: bytes[range], as: UTF8.self).lowercased()
            found.append(
                (words.split { $0.isWhitespace || "#*".contains($0) }.joined(separator: " "), match.line))
        }
        return found
    }
}
