/// Lays text out in lines.
enum Wrap {
    /// Breaks text at spaces into lines of at most `width` characters, each indented by `indent` spaces.
    static func lines(_ text: String, width: Int = 80, indent: Int = 0) -> [String] {
        let margin = String(repeating: " ", count: indent)
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ") {
            if !line.isEmpty, indent + line.count + 1 + word.count > width {
                lines.append(margin + line)
                line = ""
            }
            line += line.isEmpty ? String(word) : " " + word
        }
        if !line.isEmpty { lines.append(margin + line) }
        return lines
    }

    /// Lays out terms on the left and their meanings on the right; a long term gets a line of its own.
    static func table(_ rows: [(term: String, meaning: String)], left: Int = 26) -> String {
        var text = ""
        for row in rows {
            let meaning = lines(row.meaning, indent: left)
            if row.term.count + 4 > left {
                text += "  \(row.term)\n" + meaning.map { $0 + "\n" }.joined()
            } else {
                let padded = "  " + row.term + String(repeating: " ", count: left - 2 - row.term.count)
                let first = meaning.first.map { String($0.dropFirst(left)) } ?? ""
                text += padded + first + "\n" + meaning.dropFirst().map { $0 + "\n" }.joined()
            }
        }
        return text
    }
}
