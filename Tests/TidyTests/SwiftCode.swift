/// Takes comments and the content of string literals out of Swift text, so that rules see code only.
struct SwiftCode {
    private let text: [UInt8]
    private var at = 0
    private var output: [UInt8] = []

    /// The lines of code; as many as the text has.
    static func stripped(_ text: String) -> [String] {
        var scanner = SwiftCode(text: Array(text.utf8))
        scanner.scanCode(untilParenthesis: false)
        return String(decoding: scanner.output, as: UTF8.self)
            .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    private init(text: [UInt8]) { self.text = text }

    private func starts(_ literal: String, at offset: Int = 0) -> Bool {
        text[min(at + offset, text.count)...].starts(with: literal.utf8)
    }

    /// Copies code; within an interpolation until its parenthesis closes.
    private mutating func scanCode(untilParenthesis: Bool) {
        var depth = 0
        while at < text.count {
            if starts("//") {
                while at < text.count, text[at] != 0x0A { at += 1 }
            } else if starts("/*") {
                skipBlockComment()
            } else if text[at] == 0x22 {
                scanString(hashes: 0)
            } else if text[at] == 0x23, let hashes = hashesBeforeQuote() {
                at += hashes
                scanString(hashes: hashes)
            } else {
                if text[at] == 0x28 { depth += 1 }
                if text[at] == 0x29 {
                    if untilParenthesis, depth == 0 { return }
                    depth -= 1
                }
                output.append(text[at])
                at += 1
            }
        }
    }

    private func hashesBeforeQuote() -> Int? {
        var count = 0
        while at + count < text.count, text[at + count] == 0x23 { count += 1 }
        return at + count < text.count && text[at + count] == 0x22 ? count : nil
    }

    private mutating func skipBlockComment() {
        while at < text.count, !starts("*/") {
            if text[at] == 0x0A { output.append(0x0A) }
            at += 1
        }
        at += 2
    }

    /// Skips a literal, keeping its quotes and line ends; what is interpolated is code.
    private mutating func scanString(hashes: Int) {
        let fence = String(repeating: "#", count: hashes)
        let quote = starts("\"\"\"") ? "\"\"\"" : "\""
        output += Array("\"".utf8)
        at += quote.utf8.count
        while at < text.count, !starts(quote + fence) {
            if starts("\\" + fence + "(") {
                at += 2 + hashes
                scanCode(untilParenthesis: true)
                at += 1
            } else if starts("\\" + fence) {
                if starts("\n", at: 1 + hashes) { output.append(0x0A) }
                at += 2 + hashes
            } else {
                if text[at] == 0x0A {
                    output.append(0x0A)
                    if quote.utf8.count == 1 { break }
                }
                at += 1
            }
        }
        at += quote.utf8.count + hashes
        output += Array("\"".utf8)
    }
}
