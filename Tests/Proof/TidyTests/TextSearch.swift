import Glibc

/// A POSIX regular expression. The C library searches, since it is fast in a debug build as well.
struct TextSearch {
    /// A place that matches.
    struct Match {
        /// The bytes of the whole match, then those of each group; `nil` for a group without a match.
        var groups: [Range<Int>?]
        /// The number of the line, from 1, and the position of its first byte.
        var line: Int
        var lineStart: Int

        /// The bytes of the whole match.
        var range: Range<Int> { groups[0] ?? 0..<0 }
    }

    private final class Expression {
        var compiled = regex_t()
        deinit { regfree(&compiled) }
    }

    private let expression: Expression
    private let places: Int

    /// Compiles an extended expression with a number of groups. Returns `nil` if it is not valid.
    init?(_ pattern: String, groups: Int = 0, ignoringCase: Bool = false) {
        let expression = Expression()
        let flags = REG_EXTENDED | (ignoringCase ? REG_ICASE : 0)
        guard regcomp(&expression.compiled, pattern, flags) == 0 else { return nil }
        self.expression = expression
        places = groups + 1
    }

    /// Calls `visit` with each match in a text, from the first to the last, and with the bytes of the text.
    func forEach(in text: [UInt8], _ visit: (Match, UnsafeRawBufferPointer) -> Void) {
        (text + [0]).withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self) else { return }
            var (at, line, lineStart) = (0, 1, 0)
            var found = [regmatch_t](repeating: regmatch_t(), count: places)
            while regexec(&expression.compiled, start + at, places, &found, at == 0 ? 0 : REG_NOTBOL) == 0 {
                let groups = found.map { group in
                    group.rm_so < 0 ? nil : at + Int(group.rm_so)..<at + Int(group.rm_eo)
                }
                guard let range = groups[0], !range.isEmpty else { return }
                while let newline = memchr(start + lineStart, 0x0A, range.lowerBound - lineStart) {
                    lineStart = UnsafeRawPointer(start).distance(to: newline) + 1
                    line += 1
                }
                visit(Match(groups: groups, line: line, lineStart: lineStart), bytes)
                at = range.upperBound
            }
        }
    }
}
