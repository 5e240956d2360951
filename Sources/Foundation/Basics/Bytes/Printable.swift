/// Escapes untrusted text for a terminal and for a single line.
public enum Printable {
    /// Whether a character moves the cursor, ends the line, or changes the writing direction.
    public static func isHarmful(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x00...0x1F, 0x7F...0x9F, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF: true
        default: false
        }
    }

    /// Returns lines with each harmful character but line ends and tabs replaced by a question mark.
    public static func lines(_ text: String) -> String {
        let isClean = text.unicodeScalars.allSatisfy { !isHarmful($0) || $0 == "\n" || $0 == "\t" }
        guard !isClean else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            let stays = scalar == "\n" || scalar == "\t" || !isHarmful(scalar)
            result.unicodeScalars.append(stays ? scalar : "?")
        }
        return result
    }

    /// Returns JSON with each harmful character, which only texts can have, as its escape: the value stays the same.
    public static func json(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isHarmful) else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            guard isHarmful(scalar) else {
                result.unicodeScalars.append(scalar)
                continue
            }
            let digits = String(scalar.value, radix: 16)
            result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }
        return result
    }

    /// Returns the text with each harmful character replaced by a question mark, cut after `limit` characters.
    public static func text(_ text: String, limit: Int = .max) -> String {
        var result = ""
        var room = limit
        for scalar in text.unicodeScalars {
            guard room > 0 else { return result + "..." }
            room -= 1
            result.unicodeScalars.append(isHarmful(scalar) ? "?" : scalar)
        }
        return result
    }
}
