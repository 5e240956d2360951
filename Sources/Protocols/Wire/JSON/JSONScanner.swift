import Basics

/// Validates JSON text in place (strict RFC 8259): no comments, no trailing commas, no lone surrogates.
///
/// Each function takes the offset at which an item starts and returns the offset after it.
struct JSONScanner: ~Escapable {
    let text: RawSpan
    /// Whether a string that was validated contains a backslash.
    var holdsEscapes = false

    @_lifetime(copy text)
    init(_ text: RawSpan) { self.text = text }

    /// Skips whitespace.
    @inline(__always)
    func afterBlanks(_ offset: Int) -> Int {
        var at = offset
        while at < text.byteCount {
            switch text.byte(at: at) {
            case 0x20, 0x09, 0x0A, 0x0D: at &+= 1
            default: return at
            }
        }
        return at
    }

    /// Validates the value that starts at `offset`.
    @_lifetime(self: copy self)
    mutating func value(_ offset: Int, depth: Int) throws(JSONError) -> Int {
        switch try byte(offset) {
        case UInt8(ascii: "\""): return try string(offset)
        case UInt8(ascii: "{"): return try object(offset, depth: depth)
        case UInt8(ascii: "["): return try array(offset, depth: depth)
        case UInt8(ascii: "t"): return try literal("true", offset)
        case UInt8(ascii: "f"): return try literal("false", offset)
        case UInt8(ascii: "n"): return try literal("null", offset)
        case UInt8(ascii: "-"), 0x30...0x39: return try number(offset)
        default: throw JSONError(.unexpectedByte, at: offset)
        }
    }

    private func byte(_ offset: Int) throws(JSONError) -> UInt8 {
        guard offset < text.byteCount else { throw JSONError(.unexpectedEnd, at: offset) }
        return text.byte(at: offset)
    }

    @_lifetime(self: copy self)
    private mutating func object(_ offset: Int, depth: Int) throws(JSONError) -> Int {
        guard depth < Limits.Stanza.jsonDepth else { throw JSONError(.tooDeep, at: offset) }
        var at = afterBlanks(offset &+ 1)
        if try byte(at) == UInt8(ascii: "}") { return at &+ 1 }
        while true {
            guard try byte(at) == UInt8(ascii: "\"") else { throw JSONError(.unexpectedByte, at: at) }
            at = afterBlanks(try string(at))
            guard try byte(at) == UInt8(ascii: ":") else { throw JSONError(.unexpectedByte, at: at) }
            at = afterBlanks(try value(afterBlanks(at &+ 1), depth: depth &+ 1))
            switch try byte(at) {
            case UInt8(ascii: ","): at = afterBlanks(at &+ 1)
            case UInt8(ascii: "}"): return at &+ 1
            default: throw JSONError(.unexpectedByte, at: at)
            }
        }
    }

    @_lifetime(self: copy self)
    private mutating func array(_ offset: Int, depth: Int) throws(JSONError) -> Int {
        guard depth < Limits.Stanza.jsonDepth else { throw JSONError(.tooDeep, at: offset) }
        var at = afterBlanks(offset &+ 1)
        if try byte(at) == UInt8(ascii: "]") { return at &+ 1 }
        while true {
            at = afterBlanks(try value(at, depth: depth &+ 1))
            switch try byte(at) {
            case UInt8(ascii: ","): at = afterBlanks(at &+ 1)
            case UInt8(ascii: "]"): return at &+ 1
            default: throw JSONError(.unexpectedByte, at: at)
            }
        }
    }

    private func literal(_ word: StaticString, _ offset: Int) throws(JSONError) -> Int {
        let end = offset &+ word.utf8CodeUnitCount
        guard end <= text.byteCount else { throw JSONError(.unexpectedEnd, at: text.byteCount) }
        guard text.extracting(offset..<end).equals(word) else {
            throw JSONError(.unexpectedByte, at: offset)
        }
        return end
    }

    private func number(_ offset: Int) throws(JSONError) -> Int {
        var at = offset
        if text.byte(at: at) == UInt8(ascii: "-") { at &+= 1 }
        let first = try digit(at)
        at = first == UInt8(ascii: "0") ? at &+ 1 : afterDigits(at)
        if at < text.byteCount, text.byte(at: at) == UInt8(ascii: ".") {
            _ = try digit(at &+ 1)
            at = afterDigits(at &+ 1)
        }
        if at < text.byteCount, text.byte(at: at) | 32 == UInt8(ascii: "e") {
            at &+= 1
            let sign = try byte(at)
            if sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { at &+= 1 }
            _ = try digit(at)
            at = afterDigits(at)
        }
        guard at == text.byteCount || text.byte(at: at) &- 0x30 > 9 else {
            throw JSONError(.badNumber, at: at)
        }
        return at
    }

    private func digit(_ offset: Int) throws(JSONError) -> UInt8 {
        let digit = try byte(offset)
        guard digit &- 0x30 < 10 else { throw JSONError(.badNumber, at: offset) }
        return digit
    }

    private func afterDigits(_ offset: Int) -> Int {
        var at = offset
        while at < text.byteCount, text.byte(at: at) &- 0x30 < 10 { at &+= 1 }
        return at
    }
}
