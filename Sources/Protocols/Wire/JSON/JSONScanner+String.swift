import Basics

extension JSONScanner {
    /// Validates the string whose opening quote is at `offset`. Returns the offset after the closing one.
    @_lifetime(self: copy self)
    mutating func string(_ offset: Int) throws(JSONError) -> Int {
        var at = offset &+ 1
        while true {
            at = afterPlain(at)
            guard at < text.byteCount else { throw JSONError(.unexpectedEnd, at: at) }
            let byte = text.byte(at: at)
            switch byte {
            case UInt8(ascii: "\""): return at &+ 1
            case UInt8(ascii: "\\"):
                holdsEscapes = true
                at = try escape(at)
            case ..<0x20: throw JSONError(.controlCharacter, at: at)
            default:
                let length = UTF8Sequence.length(in: text, at: at)
                guard length > 0 else { throw JSONError(.badUTF8, at: at) }
                at &+= length
            }
        }
    }

    /// Skips plain ASCII, eight bytes at a time, up to a quote, backslash, control or non-ASCII byte.
    @inline(__always)
    private func afterPlain(_ offset: Int) -> Int {
        var at = offset
        while text.byteCount &- at >= 8 {
            let special = JSONBytes.special(text.word(at: at))
            if special != 0 { return at &+ special.trailingZeroBitCount >> 3 }
            at &+= 8
        }
        while at < text.byteCount, !JSONBytes.isSpecial(text.byte(at: at)) { at &+= 1 }
        return at
    }

    /// Whether there is a backslash between two offsets.
    func holdsBackslash(_ start: Int, _ end: Int) -> Bool {
        var at = start
        while end &- at >= 8 {
            if JSONBytes.equal(text.word(at: at), 0x5C) != 0 { return true }
            at &+= 8
        }
        while at < end {
            if text.byte(at: at) == UInt8(ascii: "\\") { return true }
            at &+= 1
        }
        return false
    }

    private func escape(_ offset: Int) throws(JSONError) -> Int {
        guard offset &+ 1 < text.byteCount else { throw JSONError(.unexpectedEnd, at: text.byteCount) }
        switch text.byte(at: offset &+ 1) {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            return offset &+ 2
        case UInt8(ascii: "u"): break
        default: throw JSONError(.badEscape, at: offset)
        }
        let unit = try codeUnit(offset)
        switch unit {
        case 0xDC00...0xDFFF: throw JSONError(.loneSurrogate, at: offset)
        case 0xD800...0xDBFF:
            let next = offset &+ 6
            guard next &+ 1 < text.byteCount, text.byte(at: next) == UInt8(ascii: "\\"),
                text.byte(at: next &+ 1) == UInt8(ascii: "u"), try codeUnit(next) & 0xFC00 == 0xDC00
            else { throw JSONError(.loneSurrogate, at: offset) }
            return next &+ 6
        default: return offset &+ 6
        }
    }

    /// Parses the four digits of the `\uXXXX` at `offset`.
    func codeUnit(_ offset: Int) throws(JSONError) -> UInt32 {
        guard offset &+ 6 <= text.byteCount else { throw JSONError(.unexpectedEnd, at: text.byteCount) }
        var unit: UInt32 = 0
        for at in offset &+ 2..<offset &+ 6 {
            guard let digit = Hex.value(of: text.byte(at: at)) else {
                throw JSONError(.badEscape, at: offset)
            }
            unit = unit << 4 | UInt32(digit)
        }
        return unit
    }

    /// Returns the end of a validated value that starts at `offset`.
    func endOfChecked(_ offset: Int) -> Int {
        var at = offset
        var depth = 0
        while at < text.byteCount {
            switch text.byte(at: at) {
            case UInt8(ascii: "\""):
                at = endOfCheckedString(at)
                if depth == 0 { return at }
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth &+= 1
                at &+= 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if depth == 0 { return at }
                depth &-= 1
                at &+= 1
                if depth == 0 { return at }
            case UInt8(ascii: ","), 0x20, 0x09, 0x0A, 0x0D:
                if depth == 0 { return at }
                at &+= 1
            default: at &+= 1
            }
        }
        return at
    }

    /// Returns the end of a validated string whose opening quote is at `offset`.
    func endOfCheckedString(_ offset: Int) -> Int {
        var at = offset &+ 1
        while true {
            at = afterPlain(at)
            guard at < text.byteCount else { return at }
            switch text.byte(at: at) {
            case UInt8(ascii: "\""): return at &+ 1
            case UInt8(ascii: "\\"): at &+= 2
            default: at &+= 1
            }
        }
    }
}

/// Tests on eight bytes of a string at once.
enum JSONBytes {
    /// Sets the high bit of the lowest byte of `word` that is a quote, backslash, control or non-ASCII byte, and perhaps of
    /// bytes above it. Returns 0 if there is no such byte.
    @inline(__always)
    static func special(_ word: UInt64) -> UInt64 {
        let control = (word &- 0x2020_2020_2020_2020) & ~word
        return equal(word, 0x22) | equal(word, 0x5C) | ((control | word) & 0x8080_8080_8080_8080)
    }

    /// Sets the high bit of the lowest byte of `word` equal to `byte`, and perhaps of bytes above it. Returns 0 if there is none.
    @inline(__always)
    static func equal(_ word: UInt64, _ byte: UInt64) -> UInt64 {
        let difference = word ^ (byte &* 0x0101_0101_0101_0101)
        return (difference &- 0x0101_0101_0101_0101) & ~difference & 0x8080_8080_8080_8080
    }

    /// Whether a byte ends the plain part of a string.
    @inline(__always)
    static func isSpecial(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte >= 0x80 || byte == 0x22 || byte == 0x5C
    }
}
