import Glibc

/// Separates Swift text into code and prose, so that a rule sees only the part that it is about.
///
/// Functions of the C library skip the bytes that the scanner does not act on, since a debug build is slow at that.
struct SwiftCode {
    /// Stands in the prose for the code between two comments or literals, so that no phrase spans it.
    static let separator: UInt8 = 0x01

    private let text: UnsafePointer<CChar>
    private let count: Int
    private var at = 0
    private var code: [UInt8] = []
    private var prose: [UInt8] = []

    /// Returns the code, with empty string literals and without comments, and the content of comments and literals.
    ///
    /// Both have as many lines as the text.
    static func parts(of text: String) -> (code: [UInt8], prose: [UInt8]) {
        text.withCString { text in
            var scanner = SwiftCode(text)
            scanner.scanCode(untilParenthesis: false)
            return (scanner.code, scanner.prose)
        }
    }

    /// Returns the lines of code of a text, one for each of its lines.
    static func stripped(_ text: String) -> [String] { lines(of: parts(of: text).code) }

    /// Returns the lines of a text without their ends.
    static func lines(of bytes: [UInt8]) -> [String] {
        bytes.withUnsafeBytes { bytes in
            var lines: [String] = []
            var start = 0
            while let base = bytes.baseAddress,
                let found = memchr(base + start, 0x0A, bytes.count - start)
            {
                let end = base.distance(to: UnsafeRawPointer(found))
                lines.append(String(decoding: bytes[start..<end], as: UTF8.self))
                start = end + 1
            }
            lines.append(String(decoding: bytes[start...], as: UTF8.self))
            return lines
        }
    }

    private init(_ text: UnsafePointer<CChar>) {
        self.text = text
        count = strlen(text)
    }

    private func starts(_ literal: String, at offset: Int = 0) -> Bool {
        at + offset < count && strncmp(text + at + offset, literal, literal.utf8.count) == 0
    }

    private func bytes(_ length: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: text + at, count: length)
    }

    private mutating func copyNewline() {
        code.append(0x0A)
        prose.append(0x0A)
        at += 1
    }

    /// Appends text up to the next of some bytes to the prose.
    private mutating func copyProse(upTo stops: String) {
        let length = strcspn(text + at, stops)
        prose.append(contentsOf: bytes(length))
        at += length
    }

    /// Copies code; within an interpolation until its parenthesis closes.
    private mutating func scanCode(untilParenthesis: Bool) {
        var depth = 0
        while at < count {
            let length = strcspn(text + at, "\n/\"#()")
            code.append(contentsOf: bytes(length))
            if strspn(text + at, " ") < length { prose.append(Self.separator) }
            at += length
            if starts("\n") {
                copyNewline()
            } else if starts("//") {
                at += strspn(text + at, "/")
                copyProse(upTo: "\n")
            } else if starts("/*") {
                scanBlockComment()
            } else if starts("\"") {
                scanString(hashes: 0)
            } else if starts("#"), case let hashes = strspn(text + at, "#"), starts("\"", at: hashes) {
                at += hashes
                scanString(hashes: hashes)
            } else if at < count {
                if starts("(") { depth += 1 }
                if starts(")") {
                    if untilParenthesis, depth == 0 { return }
                    depth -= 1
                }
                code.append(contentsOf: bytes(1))
                at += 1
            }
        }
    }

    private mutating func scanBlockComment() {
        at += 2
        while at < count, !starts("*/") {
            if starts("\n") { copyNewline() } else { copyProse(upTo: starts("*") ? "\n" : "*\n") }
        }
        at += 2
    }

    /// Copies the content of a literal to the prose and its quotes to the code; an interpolation is code.
    private mutating func scanString(hashes: Int) {
        let fence = String(repeating: "#", count: hashes)
        let quote = starts("\"\"\"") ? "\"\"\"" : "\""
        code.append(0x22)
        prose.append(Self.separator)
        at += quote.utf8.count
        while at < count, !starts(quote + fence) {
            if starts("\\" + fence + "(") {
                at += 2 + hashes
                scanCode(untilParenthesis: true)
                at += 1
            } else if starts("\\" + fence) {
                at += 1 + hashes
                if starts("\n") { copyNewline() } else { at += 1 }
            } else if starts("\n") {
                // A quote in a regular expression: no literal spans lines.
                if quote == "\"" { return code.append(0x22) }
                copyNewline()
            } else {
                prose.append(contentsOf: bytes(1))
                at += 1
                copyProse(upTo: "\\\"\n")
            }
        }
        at += quote.utf8.count + hashes
        code.append(0x22)
        prose.append(Self.separator)
    }
}
